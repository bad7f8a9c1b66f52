/**
 * Codex from 0.124.0 on (developers.openai.com/codex/hooks). Its events have the form of Claude
 * Code's. It does not support `ask` in an answer of `PreToolUse`, and it allows calls without an
 * answer.
 */
import { join } from 'node:path';
import type { Agent } from '../agent.ts';
import { mcpNames } from '../agent-tools.ts';
import { claudeHooks, readClaudeEvent, writeClaudeAnswer } from '../claude-code/claude-code.ts';
import { codexTools } from './tools.ts';

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  projectVariable: undefined,
  canAsk: false,
  read: readClaudeEvent,
  write: (answer) => (answer.effect === 'deny' ? writeClaudeAnswer(answer) : {}),
  tools: codexTools,
  // A longer name is cut at 64 or 128 characters, and ends with a digest of it.
  mcpNames: new RegExp(`${mcpNames.source}|^mcp__(?:[\\w-]{19}|[\\w-]{83})[0-9a-f]{40}$`),
  setup: {
    program: 'codex',
    shell: 'Bash',
    file: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'hooks.json'),
    hooks(command) {
      const { PreToolUse, PostToolUse, UserPromptSubmit } = claudeHooks(command);
      return { PreToolUse, PostToolUse, UserPromptSubmit };
    },
    state: ({ env, home }) => ({
      folder: env.CODEX_HOME || join(home, '.codex'),
      files: [],
      // Not `skills`, where each version puts its own.
      guarded: [
        'config.toml',
        'hooks.json',
        'hooks',
        'rules',
        'prompts',
        'plugins',
        'AGENTS.md',
        '.env',
      ],
    }),
    trust:
      'Codex runs a hook only after you have reviewed it: start `codex`, type ' +
      '`/hooks`, and trust the hooks of this file. Until then it runs every call ' +
      'without the hook and without a word. A change of the rules needs no new review.',
    probe: { kind: 'app-server', args: ['app-server'] },
  },
};
