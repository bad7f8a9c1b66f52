/**
 * Gemini CLI, by geminicli.com/docs/hooks/reference. A hook can deny, but it can neither ask nor
 * skip the CLI's own question.
 */
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../values/json/index.ts';
import type { Agent, AgentEvent } from '../agent.ts';
import type { ToolRow } from '../agent-tools.ts';
import { hookSeconds } from '../claude-code/claude-code.ts';
import { callOf, memberOf, otherEvent, textOf } from '../event.ts';

/** The tools of Gemini CLI 0.61.0, as it offers them to its model, and some of earlier versions. */
const readOnly = { readOnly: true } as const;
const destructive = { destructive: true } as const;
const file = { required: ['file_path'], paths: ['file_path'] } as const;

const geminiCliTools: readonly ToolRow[] = [
  {
    name: 'run_shell_command',
    description: 'Runs a command line.',
    annotations: { destructive: true, openWorld: true },
    required: ['command'],
    shell: 'command',
    folder: 'dir_path',
    content: ['command', 'description'],
  },
  {
    name: 'list_background_processes',
    description: 'Lists commands that go on running.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  {
    name: 'read_background_output',
    description: 'Reads from a command that goes on running.',
    annotations: readOnly,
    origin: 'untrusted',
  },
  { name: 'read_file', description: 'Reads a file.', annotations: readOnly, ...file },
  { name: 'read_many_files', description: 'Reads files.', annotations: readOnly },
  {
    name: 'write_file',
    description: 'Writes a file.',
    annotations: destructive,
    ...file,
    content: ['content'],
  },
  {
    name: 'replace',
    description: 'Replaces text in a file.',
    annotations: destructive,
    ...file,
    content: ['instruction', 'old_string', 'new_string'],
  },
  {
    name: 'list_directory',
    description: 'Lists a folder.',
    annotations: readOnly,
    paths: ['dir_path'],
  },
  {
    name: 'glob',
    description: 'Lists files.',
    annotations: readOnly,
    paths: ['dir_path'],
    content: ['pattern'],
  },
  {
    name: 'grep_search',
    description: 'Searches in files.',
    annotations: readOnly,
    paths: ['dir_path', 'include_pattern'],
    content: ['pattern'],
  },
  {
    name: 'search_file_content',
    description: 'Searches in files.',
    annotations: readOnly,
    paths: ['dir_path', 'include'],
    content: ['pattern'],
  },
  {
    name: 'web_fetch',
    description: 'Reads web pages.',
    annotations: { readOnly: true, openWorld: true },
    required: ['prompt'],
    addresses: 'prompt',
    content: ['prompt'],
  },
  {
    name: 'google_web_search',
    description: 'Searches the web.',
    annotations: { readOnly: true, openWorld: true },
    content: ['query'],
  },
  { name: 'save_memory', description: 'Remembers a fact.', content: ['fact'] },
  { name: 'write_todos', description: 'Keeps a list of tasks.' },
  { name: 'ask_user', description: 'Asks the user.' },
  { name: 'update_topic', description: 'Tells the user what it works on.' },
  // What another agent reports may repeat what it has read.
  {
    name: 'invoke_agent',
    description: 'Starts another agent.',
    origin: 'untrusted',
    content: ['prompt'],
  },
  { name: 'complete_task', description: 'Ends the work of another agent.' },
  { name: 'activate_skill', description: 'Reads a skill.', origin: 'untrusted' },
  { name: 'enter_plan_mode', description: 'Begins to plan.' },
  { name: 'exit_plan_mode', description: 'Shows the plan to the user.' },
  {
    name: 'list_mcp_resources',
    description: 'Lists what MCP servers offer.',
    annotations: { readOnly: true, openWorld: true },
  },
  {
    name: 'read_mcp_resource',
    description: 'Reads a resource of an MCP server.',
    annotations: { readOnly: true, openWorld: true },
    required: ['uri'],
  },
  { name: 'get_internal_docs', description: "Reads the CLI's own pages.", annotations: readOnly },
];

export const geminiCli: Agent = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  projectVariable: 'GEMINI_PROJECT_DIR',
  canAsk: false,
  read: readGeminiEvent,
  write: ({ effect, reason }) => (effect === 'deny' ? { decision: 'deny', reason } : {}),
  tools: geminiCliTools,
  // `mcp_SERVER_TOOL`, or `mcp__SERVER__TOOL` in the reference of earlier versions. Three points
  // replace the middle of a name that is too long.
  mcpNames: /^mcp_[\w.:-]*[^_](?:_+|\.{3})[^_][\w.:-]*$/,
  setup: {
    program: 'gemini',
    shell: 'run_shell_command',
    file: ({ env, home }) => join(env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
    hooks(command) {
      const hooks = [{ type: 'command', command, timeout: hookSeconds * 1_000 }];
      const each = [{ matcher: '.*', hooks }];
      return { BeforeTool: each, AfterTool: each, BeforeAgent: [{ hooks }] };
    },
    state({ env, home }) {
      const guarded = ['settings.json', 'trustedFolders.json', 'hooks', 'extensions', 'commands'];
      guarded.push('agents', 'skills', 'policies', 'GEMINI.md', '.env');
      return { folder: join(env.GEMINI_CLI_HOME || home, '.gemini'), files: [], guarded };
    },
    trust:
      'Gemini CLI runs hooks only in folders that it trusts: start `gemini` in the ' +
      'folder and trust it when asked, or set `GEMINI_CLI_TRUST_WORKSPACE=true`. With ' +
      '`--skip-trust` it runs no hook, and neither does it if `hooksConfig` in the settings of ' +
      'the folder turns them off.',
    probe: {
      kind: 'prompt',
      args: ['-p', 'host-tools hook check'],
      env: (url) => ({
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: url,
        GOOGLE_VERTEX_BASE_URL: url,
        CODE_ASSIST_ENDPOINT: url,
      }),
    },
  },
};

/** @throws HookFault */
function readGeminiEvent(name: string, event: JsonObject): AgentEvent {
  switch (name) {
    case 'BeforeTool':
      return { kind: 'before', about: callOf(event) };
    case 'AfterTool': {
      const about = callOf(event);
      const output = memberOf(event, 'tool_response') ?? null;
      return { kind: 'after', about, output, error: failureOf(about.tool, output) };
    }
    case 'BeforeAgent':
      return { kind: 'said', text: textOf(event, 'prompt') };
    default:
      return otherEvent(name, event, 'Gemini CLI');
  }
}

/**
 * Why a tool failed: `error` of its response. A command that ended with another code than 0 says so
 * only in the text for the model.
 */
export function failureOf(tool: string, response: JsonValue): string | undefined {
  if (!isJsonObject(response)) return undefined;
  const error = memberOf(response, 'error');
  if (error !== undefined && error !== null && error !== false) {
    const message = isJsonObject(error) ? memberOf(error, 'message') : error;
    return typeof message === 'string' && message.trim() !== '' ? message : 'It failed.';
  }
  const text = memberOf(response, 'llmContent');
  if (tool !== 'run_shell_command' || typeof text !== 'string') return undefined;
  // What the command wrote comes before it.
  const [, code] = [...text.matchAll(/^Exit Code: (-?\d+)$/gm)].at(-1) ?? [];
  return code === undefined || code === '0' ? undefined : `It ended with the exit code ${code}.`;
}
