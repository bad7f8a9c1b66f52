/**
 * GitHub Copilot CLI, as `@github/copilot` 1.0.102 runs its hooks. Events that are configured with
 * capital letters (`PreToolUse`) have the form of Claude Code's, and its names for some tools. A
 * call is blocked by any exit code but 0.
 */
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../values/json/index.ts';
import type { Agent, AgentEvent, UserHome } from '../agent.ts';
import type { ToolRow } from '../agent-tools.ts';
import { hookSeconds, readClaudeEvent, writeClaudeAnswer } from '../claude-code/claude-code.ts';
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

/** Left out are `sql` and `session_store_sql`, and what writes to a program that is running. */
const copilotTools: readonly ToolRow[] = [
  shellTool('Bash', { feeds: true }),
  ...readerOf('path', 'Read'),
  writer('Write', 'path', ['file_text']),
  writer('Edit', 'path', ['old_str', 'new_str']),
  searcher('Grep', 'path', 'glob'),
  searcher('Glob', 'path'),
  webTool('WebFetch', 'url'),
  webTool('WebSearch', 'query'),
  ...otherAgent('Task', 'task', 'Agent', 'read_agent', 'list_agents', 'write_agent'),
  ...readers({
    read_bash: 'Reads from a command.',
    list_bash: 'Lists commands.',
    skill: 'Reads a skill.',
    fetch_copilot_cli_documentation: "Reads the CLI's own pages.",
  }),
  ...plainTools({
    stop_bash: 'Ends a command.',
    ask_user: 'Asks the user.',
    report_intent: 'Tells the user what it works on.',
    update_todo: 'Keeps a list of tasks.',
  }),
];

const folderOf = ({ env, home }: UserHome): string => env.COPILOT_HOME || join(home, '.copilot');

export const copilotCli: Agent = {
  name: 'copilot-cli',
  title: 'Copilot CLI',
  projectVariable: undefined,
  canAsk: true,
  read: readCopilotEvent,
  write: writeClaudeAnswer,
  tools: copilotTools,
  // `SERVER-TOOL`. None of its own tools has such a name.
  mcpNames: /^[\w.]+-[\w.-]*\w$/,
  setup: {
    program: 'copilot',
    shell: 'Bash',
    file: (user) => join(folderOf(user), 'hooks', 'host-tools.json'),
    beside: { version: 1 },
    hooks(command) {
      const each = [{ type: 'command', bash: command, timeoutSec: hookSeconds }];
      return { PreToolUse: each, PostToolUse: each, UserPromptSubmit: each };
    },
    state: (user) => ({
      folder: folderOf(user),
      files: [],
      guarded: [
        ...['hooks', 'config.json', 'settings.json', 'mcp-config.json', 'agents', 'skills'],
        ...['extensions', 'installed-plugins', 'copilot-instructions.md'],
      ],
      inProject: {
        '.github/hooks': 'folder',
        '.github/extensions': 'folder',
        '.github/copilot': 'folder',
        '.github/mcp.json': 'folder',
      },
    }),
    trust:
      'Copilot CLI runs the hook in every session that starts from now on, but not in a folder ' +
      'that you trust and whose own settings have `disableAllHooks`.',
    // As 1.0.102 reads them. The same in the user's settings turns off nothing.
    switches: ['.github/copilot', '.claude'].flatMap((folder) => [
      `${folder}/settings.json`,
      `${folder}/settings.local.json`,
    ]),
    probe: {
      kind: 'prompt',
      args: ['-p', 'host-tools hook check'],
      env: (url) => ({
        COPILOT_OFFLINE: 'true',
        COPILOT_PROVIDER_TYPE: 'openai',
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_PROVIDER_API_KEY: 'none',
        COPILOT_MODEL: 'none',
      }),
    },
  },
};

/** @throws HookFault */
function readCopilotEvent(name: string, event: JsonObject): AgentEvent {
  const read = readClaudeEvent(name, event);
  if (read.kind !== 'after' || read.error !== undefined) return read;
  const result = memberOf(event, 'tool_result') ?? null;
  const failed = isJsonObject(result) && memberOf(result, 'result_type') !== 'success';
  const text = isJsonObject(result) ? memberOf(result, 'text_result_for_llm') : undefined;
  const code = /completed with exit code (-?[1-9]\d*)/.exec(typeof text === 'string' ? text : '');
  const error = failed ? 'It failed.' : code && `It ended with the exit code ${code[1]}.`;
  return { ...read, output: result, error: error ?? undefined };
}
