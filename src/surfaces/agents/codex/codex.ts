/**
 * Codex from 0.124.0 on (developers.openai.com/codex/hooks). Its events have the form of Claude
 * Code's. It does not support `ask` in an answer of `PreToolUse`, and it allows calls without an
 * answer.
 */
import { join } from 'node:path';
import type { JsonObject } from '../../../values/json/index.ts';
import type { Agent, AgentEvent } from '../agent.ts';
import { mcpNames, type ToolRow } from '../agent-tools.ts';
import { claudeHooks, readClaudeEvent, writeClaudeAnswer } from '../claude-code/claude-code.ts';

/**
 * The tools of Codex 0.171.0, by the names that its events give them: the model's `exec_command` is
 * `Bash` there. What the model writes to a running program (`write_stdin`) has no event.
 */
const readOnly = { readOnly: true } as const;

const codexTools: readonly ToolRow[] = [
  {
    name: 'Bash',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    feeds: true,
    content: ['command'],
  },
  {
    name: 'apply_patch',
    description: 'Changes files.',
    annotations: { destructive: true },
    required: ['command'],
    patch: 'command',
    content: ['command'],
  },
  {
    name: 'view_image',
    description: 'Reads a picture.',
    annotations: readOnly,
    origin: 'untrusted',
    paths: ['path'],
  },
  { name: 'get_goal', description: 'Reads its goal.', annotations: readOnly },
  { name: 'create_goal', description: 'Sets its goal.', content: ['objective'] },
  { name: 'update_goal', description: 'Says how far its goal is reached.' },
  { name: 'update_plan', description: 'Keeps a list of tasks.' },
  { name: 'request_user_input', description: 'Asks the user.' },
  // Other agents, whose own calls are judged as well. What they report may come from anywhere.
  {
    name: 'spawn_agent',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['message'],
  },
  {
    name: 'send_input',
    description: 'Gives another agent a task.',
    origin: 'untrusted',
    content: ['message'],
  },
  {
    name: 'wait_agent',
    description: 'Reads what other agents report.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'resume_agent', description: 'Lets another agent go on.', origin: 'untrusted' },
  { name: 'close_agent', description: 'Ends another agent.', origin: 'untrusted' },
];

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  projectVariable: undefined,
  canAsk: false,
  read: readCodexEvent,
  write: (answer) =>
    answer.effect === 'deny' || answer.toQuestion === true ? writeClaudeAnswer(answer) : {},
  tools: codexTools,
  // A longer name is cut at 64 or 128 characters, and ends with a digest of it.
  mcpNames: new RegExp(`${mcpNames.source}|^mcp__(?:[\\w-]{19}|[\\w-]{83})[0-9a-f]{40}$`),
  setup: {
    program: 'codex',
    shell: 'Bash',
    file: ({ env, home }) => join(env.CODEX_HOME || join(home, '.codex'), 'hooks.json'),
    hooks(command) {
      const { PreToolUse, PostToolUse, UserPromptSubmit } = claudeHooks(command);
      return { PreToolUse, PostToolUse, UserPromptSubmit, PermissionRequest: PostToolUse };
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
      'without the hook and without a word. A change of the rules needs no new review. ' +
      'With `hooks = false` in the settings of a trusted project it runs none.',
    probe: { kind: 'app-server', args: ['app-server'] },
  },
};

/** @throws HookFault */
function readCodexEvent(name: string, event: JsonObject): AgentEvent {
  const read = readClaudeEvent(name, event);
  if (read.kind !== 'asks') return read;
  // It names the host here that a command wants to reach, which no rule about the command knows.
  const { description } = read.about.input;
  const isWider = typeof description === 'string' && description.startsWith('network-access ');
  return { ...read, isWider };
}
