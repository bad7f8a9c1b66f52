/**
 * Cursor, by its page on hooks (cursor.com/docs/hooks). It has not been run here. It runs a call
 * whose hook ends with another exit code than 0 and 2, unless the hook has `failClosed`.
 */
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../values/json/index.ts';
import type { Agent, AgentEvent, Answer } from '../agent.ts';
import type { ToolRow } from '../agent-tools.ts';
import { hookSeconds } from '../claude-code/claude-code.ts';
import { callOf, HookFault, memberOf, otherEvent, textOf } from '../event.ts';
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

const cursorTools: readonly ToolRow[] = [
  shellTool('Shell'),
  ...readerOf('file_path', 'Read'),
  ...['Write', 'Edit', 'StrReplace', 'Delete', 'EditNotebook'].map((name) =>
    writer(name, 'file_path', ['content', 'old_string', 'new_string']),
  ),
  searcher('Grep', 'path', 'glob'),
  searcher('Glob', 'path'),
  searcher('LS', 'path'),
  searcher('SemanticSearch'),
  webTool('WebFetch', 'url'),
  webTool('WebSearch', 'query'),
  ...otherAgent('Task'),
  ...readers({ FetchRules: 'Reads rules for agents.', ReadLints: 'Reads messages of linters.' }),
  ...plainTools({
    TodoWrite: 'Keeps a list of tasks.',
    AskQuestion: 'Asks the user.',
    SwitchMode: 'Asks the user for another mode.',
  }),
];

export const cursor: Agent = {
  name: 'cursor',
  title: 'Cursor',
  projectVariable: 'CURSOR_PROJECT_DIR',
  sessionMember: 'conversation_id',
  canAsk: true,
  read: readCursorEvent,
  write: writeCursorAnswer,
  tools: cursorTools,
  mcpNames: /^MCP:.+$/,
  setup: {
    program: 'cursor-agent',
    shell: 'Shell',
    file: ({ home }) => join(home, '.cursor', 'hooks.json'),
    beside: { version: 1 },
    hooks(command) {
      const after = [{ command, timeout: hookSeconds }];
      const before = [{ command, timeout: hookSeconds, failClosed: true }];
      return {
        preToolUse: before,
        postToolUse: after,
        postToolUseFailure: after,
        beforeShellExecution: before,
        beforeMCPExecution: before,
        beforeSubmitPrompt: after,
      };
    },
    state: ({ home }) => ({
      folder: join(home, '.cursor'),
      files: [],
      guarded: ['hooks.json', 'hooks', 'mcp.json', 'cli-config.json', 'permissions.json'].concat([
        'rules',
        'commands',
        'agents',
        'skills',
        'plugins',
        'extensions',
      ]),
    }),
    trust:
      'Cursor reads this file when it is saved, and lists its hooks in its settings, below ' +
      'Hooks. Ask it to run a command, and look there whether the hook ran.',
    probe: { kind: 'none' },
  },
};

/** @throws HookFault */
function readCursorEvent(name: string, event: JsonObject): AgentEvent {
  switch (name) {
    case 'preToolUse': {
      const about = withFilePath(callOf(event));
      // It cannot ask here. These two have events of their own, in which it can.
      if (about.tool === 'Shell' || about.tool.startsWith('MCP:')) return { kind: 'other' };
      return { kind: 'before', about, unasked: 'preToolUse' };
    }
    case 'beforeShellExecution': {
      const input = { command: textOf(event, 'command') };
      return { kind: 'before', about: { tool: 'Shell', input, id: undefined } };
    }
    case 'beforeMCPExecution': {
      const input = mcpInput(memberOf(event, 'tool_input') ?? {});
      const { tool, id } = callOf({ ...event, tool_input: input });
      return { kind: 'before', about: { tool: `MCP:${tool}`, input, id } };
    }
    case 'postToolUse':
    case 'postToolUseFailure': {
      const failed = name === 'postToolUseFailure';
      const said = memberOf(event, 'error_message');
      const why = typeof said === 'string' && said.trim() !== '' ? said : 'It failed.';
      const output = memberOf(event, 'tool_output') ?? null;
      const about = withFilePath(callOf(event));
      // The events before a command and a tool of a server have no id.
      const isApart = about.tool === 'Shell' || about.tool.startsWith('MCP:');
      const { command } = about.input;
      const input = about.tool === 'Shell' && command !== undefined ? { command } : about.input;
      return {
        ...{ kind: 'after', output, error: failed ? why : undefined },
        about: isApart ? { ...about, input, id: undefined } : about,
      };
    }
    case 'beforeSubmitPrompt':
      return { kind: 'said', text: textOf(event, 'prompt') };
    case 'beforeReadFile':
    case 'beforeTabFileRead': {
      const input = { file_path: textOf(event, 'file_path') };
      return {
        ...{ kind: 'before', unasked: name },
        about: { tool: 'Read', input, id: undefined },
      };
    }
    default:
      return otherEvent(name, event, 'Cursor');
  }
}

/** Versions differ in the name of this member. */
function withFilePath(about: ReturnType<typeof callOf>) {
  const { input } = about;
  const path = input.path ?? input.target_file ?? input.target_notebook;
  return input.file_path !== undefined || path === undefined
    ? about
    : { ...about, input: { ...input, file_path: path } };
}

/** A JSON text, or the object itself. @throws HookFault */
function mcpInput(given: JsonValue): JsonObject {
  try {
    const input: JsonValue = typeof given === 'string' ? JSON.parse(given || '{}') : given;
    if (isJsonObject(input)) return input;
  } catch {
    // Continues below.
  }
  throw new HookFault('Expected `tool_input` of the event to be an object.');
}

function writeCursorAnswer({ effect, reason }: Answer): JsonObject {
  return effect === 'none'
    ? {}
    : { permission: effect, user_message: reason, agent_message: reason };
}
