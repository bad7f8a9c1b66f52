/**
 * Gemini CLI, by geminicli.com/docs/hooks/reference. A hook can deny, but it can neither ask nor
 * skip the CLI's own question.
 */
import type { JsonObject } from '../../../json/index.ts';
import type { Agent, AgentEvent } from '../agent.ts';
import { callOf, memberOf, textOf } from '../event.ts';
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
  settings: (command) => {
    const hooks = [{ type: 'command', command, timeout: 30_000 }];
    const each = [{ matcher: '.*', hooks }];
    const all = { BeforeTool: each, AfterTool: each, BeforeAgent: [{ hooks }] };
    return { file: '.gemini/settings.json', text: JSON.stringify({ hooks: all }, null, 2) };
  },
};

/** @throws HookFault */
function readGeminiEvent(name: string, event: JsonObject): AgentEvent {
  switch (name) {
    case 'BeforeTool':
      return { kind: 'before', about: callOf(event) };
    case 'AfterTool':
      return {
        kind: 'after',
        about: callOf(event),
        output: memberOf(event, 'tool_response') ?? null,
        error: undefined,
      };
    case 'BeforeAgent':
      return { kind: 'said', text: textOf(event, 'prompt') };
    default:
      return { kind: 'other' };
  }
}
