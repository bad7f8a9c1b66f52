/**
 * Gemini CLI, by geminicli.com/docs/hooks/reference. A hook can deny, but it can neither ask nor
 * skip the CLI's own question.
 */
import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../values/json/index.ts';
import type { Agent, AgentEvent } from '../agent.ts';
import { hookSeconds } from '../claude-code/claude-code.ts';
import { callOf, memberOf, otherEvent, textOf } from '../event.ts';
import { geminiCliTools } from './tools.ts';

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
      '`--skip-trust` it runs no hook.',
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
function failureOf(tool: string, response: JsonValue): string | undefined {
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
