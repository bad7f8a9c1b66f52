/**
 * opencode, by `@opencode-ai/plugin` 1.18.33. It has no hooks that are commands, so `hook install`
 * writes a plugin that sends the hook events of its own form: those of Claude Code.
 */
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import type { Agent, AgentEvent, UserHome } from '../agent.ts';
import type { ToolRow } from '../agent-tools.ts';
import { readClaudeEvent } from '../claude-code/claude-code.ts';
import { memberOf } from '../event.ts';
import {
  otherAgent,
  plainTools,
  readerOf,
  readers,
  searcher,
  shellTool,
  webTool,
  writer,
} from '../tool-rows.ts';
import { opencodePlugin } from './plugin.ts';

/** Left out is `batch`, which runs other tools. */
const opencodeTools: readonly ToolRow[] = [
  shellTool('bash', { folder: 'workdir' }),
  ...readerOf('filePath', 'read'),
  writer('write', 'filePath', ['content']),
  writer('edit', 'filePath', ['oldString', 'newString']),
  {
    ...{ name: 'apply_patch', description: 'Changes files.', annotations: { destructive: true } },
    ...{ required: ['patchText'], patch: 'patchText', content: ['patchText'] },
  },
  searcher('glob', 'path'),
  searcher('grep', 'path', 'include'),
  searcher('list', 'path'),
  webTool('webfetch', 'url'),
  webTool('websearch', 'query'),
  webTool('codesearch', 'query'),
  ...otherAgent('task'),
  ...readers({ skill: 'Reads a skill.', lsp: 'Asks a language server.' }),
  ...plainTools({
    todowrite: 'Keeps a list of tasks.',
    todoread: 'Reads the list of tasks.',
    question: 'Asks the user.',
    plan_enter: 'Begins to plan.',
    plan_exit: 'Shows the plan to the user.',
    invalid: 'Tells the model that its call was wrong.',
  }),
];

/** What it obeys or runs in a folder of settings. */
const obeyed = [
  ...['opencode.json', 'opencode.jsonc', 'config.json', 'plugin', 'plugins', 'agent', 'agents'],
  ...['command', 'commands', 'skill', 'skills', 'tool', 'tools', 'AGENTS.md', 'node_modules'],
  'package.json',
];

/** It does not start with a folder in place of a file. */
const placeOf = (name: string): 'file' | 'folder' => (name.includes('.') ? 'file' : 'folder');

/** Its folder in one of the user's. @param rest That one below the home, unless it is set. */
function ownFolder({ env, home }: UserHome, variable: string, rest: string): string {
  return join(env[variable] || join(home, rest), 'opencode');
}

const folderOf = (user: UserHome): string => ownFolder(user, 'XDG_CONFIG_HOME', '.config');

export const opencode: Agent = {
  name: 'opencode',
  title: 'opencode',
  projectVariable: undefined,
  canAsk: false,
  read: readOpencodeEvent,
  write: ({ effect, reason }) => (effect === 'deny' ? { decision: 'deny', reason } : {}),
  tools: opencodeTools,
  // `SERVER_TOOL`: each name with an underscore that is none of its own.
  mcpNames: /^[\w-]*[^_]_+[^_][\w-]*$/,
  setup: {
    program: 'opencode',
    shell: 'bash',
    file: (user) => join(folderOf(user), 'plugin', 'host-tools.js'),
    hooks: () => ({ PreToolUse: [], PostToolUse: [], UserPromptSubmit: [] }),
    plugin: opencodePlugin,
    state: (user) => ({
      folder: folderOf(user),
      others: [
        { folder: ownFolder(user, 'XDG_DATA_HOME', '.local/share'), guarded: ['bin'] },
        { folder: ownFolder(user, 'XDG_STATE_HOME', '.local/state'), guarded: [] },
        // It installs packages there, which it loads.
        {
          folder: ownFolder(user, 'XDG_CACHE_HOME', '.cache'),
          guarded: ['bin', 'node_modules', 'packages', 'package.json'],
        },
      ],
      files: [],
      guarded: obeyed,
      inProject: {
        ...{ 'opencode.json': 'file', 'opencode.jsonc': 'file' },
        ...Object.fromEntries(obeyed.map((name) => [`.opencode/${name}`, placeOf(name)])),
      },
    }),
    trust:
      'opencode loads the plugin in every session that starts from now on. `opencode --pure` ' +
      'loads no plugin.',
    probe: {
      kind: 'prompt',
      args: ['run', 'host-tools hook check'],
      env: (url) => ({ OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeModel(`${url}/v1`)) }),
    },
  },
};

/** Settings with a model on loopback. */
function opencodeModel(baseURL: string): JsonObject {
  const options = { baseURL, apiKey: 'none' };
  const one = { npm: '@ai-sdk/openai-compatible', options, models: { none: { name: 'none' } } };
  return { provider: { check: one }, model: 'check/none' };
}

/** @throws HookFault */
function readOpencodeEvent(name: string, event: JsonObject): AgentEvent {
  const read = readClaudeEvent(name, event);
  if (read.kind !== 'after' || !isJsonObject(read.output)) return read;
  const metadata = memberOf(read.output, 'metadata');
  const exit = isJsonObject(metadata) ? memberOf(metadata, 'exit') : undefined;
  return typeof exit === 'number' && exit !== 0
    ? { ...read, error: `It ended with the exit code ${exit}.` }
    : read;
}
