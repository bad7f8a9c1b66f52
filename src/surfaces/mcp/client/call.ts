/** One call to a server's tool: the executor behind an imported definition. */
import { type Executor, fail, type JsonObject, type ToolContext } from '../../../core.ts';
import { offerPlaces, runningCall } from '../../../extend.ts';
import { wellFormedJson } from '../../../values/json/index.ts';
import { longestTimerMs } from '../../../values/options/index.ts';
import { connectionFault, isFault, withdrawnFault } from '../../shared/executor-fault.ts';
import { authorizationOf } from '../../shared/import-options.ts';
import { cleanText } from '../../shared/outside-text.ts';
import { maxErrorBytes } from '../sent.ts';
import type { Connection } from './connection.ts';
import type { ServerTool } from './definition.ts';
import { answerLost, type Link } from './link.ts';
import { paramHeaders } from './param-headers.ts';
import type { People } from './people.ts';
import { faceOf, neverSent, sessionForgotten } from './request-errors.ts';
import { outcomeOf } from './result.ts';
import { anyResult, type McpProgress } from './sdk.ts';

/**
 * Makes the executor of one tool.
 * @param people connections for those whom calls act for; undefined for one connection for all
 * @param withdrawn why the definition may no longer be called; undefined while it may
 * @param onCall called when a call begins; what it returns, when the call ends
 */
export function executorOf(
  tool: ServerTool,
  connection: Connection,
  people: People | undefined,
  withdrawn: () => string | undefined,
  onCall?: (context: ToolContext) => () => void,
): Executor {
  const run = <T>(work: (link: Link) => Promise<T>, context: ToolContext): Promise<T> =>
    people === undefined
      ? connection.run(work, context.signal)
      : people.run(authorizationOf(context), work, context.signal);
  const call = (input: JsonObject, context: ToolContext): Promise<unknown> =>
    run(async (link) => {
      // Checked once the link is open, because opening it may have shown that the definition
      // changed.
      const reason = withdrawn();
      if (reason !== undefined) throw withdrawnFault(reason);
      try {
        return await callOnce(tool, link, input, context);
      } catch (error) {
        throw sessionForgotten(error, link) ? error : toFault(error, link);
      }
    }, context);
  const execute = async (input: JsonObject, context: ToolContext): Promise<unknown> => {
    const ended = onCall?.(context);
    try {
      return await call(input, context);
    } finally {
      ended?.();
    }
  };
  const executor: Executor = Object.freeze({ kind: 'remote', execute });
  // Whose connection it is, is known when the call has its credential.
  if (people !== undefined) return executor;
  const place = {
    get lost(): boolean {
      return !connection.isOpen;
    },
    run: execute,
    release: () => {},
  };
  offerPlaces(executor, ({ signal }) =>
    connection.isOpen ? place : connection.link(signal).then(() => place),
  );
  return executor;
}

async function callOnce(
  tool: ServerTool,
  link: Link,
  input: JsonObject,
  context: ToolContext,
): Promise<unknown> {
  let result: unknown;
  try {
    result = await ask(tool, link, input, context);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
  return outcomeOf(result, tool.structured, runningCall(context).remote?.maxOutputChars);
}

function ask(
  { name, inputSchema }: ServerTool,
  { client, direct }: Link,
  input: JsonObject,
  context: ToolContext,
): Promise<unknown> {
  const running = runningCall(context);
  const place = running.trace;
  // A strict server refuses a whole message because of half a character, or never answers it.
  const args = wellFormedJson(input);
  const params =
    place === undefined
      ? { name, arguments: args }
      : // The form follows SEP-414 and the conventions of OpenTelemetry for MCP.
        { name, arguments: args, _meta: { ...place } };
  const options = {
    signal: context.signal,
    onprogress: ({ progress, total, message }: McpProgress) =>
      running.within(() => context.progress(progress, total, message)),
  };
  if (direct !== undefined) return direct.call(params, options);
  // `callTool` of the SDK would check the result with its own schema and describe every part that
  // is wrong, at any length.
  return client.request({ method: 'tools/call', params }, anyResult, {
    ...options,
    // The call has its own deadline, so the SDK's must never come first.
    timeout: longestTimerMs,
    ...(client.getProtocolEra() === 'modern' ? { headers: paramHeaders(inputSchema, args) } : {}),
  });
}

/**
 * A JSON-RPC error from the server itself, as a failure of the tool; undefined for any other error.
 */
function refusalOf(error: unknown): unknown {
  const { code, message, data } = faceOf(error);
  if (typeof code !== 'number' || data === answerLost) return undefined;
  const text = cleanText(typeof message === 'string' ? message : '', maxErrorBytes);
  return fail({
    message:
      text === ''
        ? `The MCP server returned the error ${code}.`
        : `The MCP server refused the call: ${text}`,
    reason: 'mcp_error',
    details: { code },
  });
}

/** Codes of the SDK which mean that the server is not reachable. */
const gone = new Set<unknown>(['CONNECTION_CLOSED', 'SEND_FAILED', 'ERA_NEGOTIATION_FAILED']);

/** The error of a call that got no answer. */
function toFault(error: unknown, link: Link): unknown {
  if (isFault(error)) return error;
  if (neverSent(error))
    return connectionFault('The MCP server cannot be reached. The call did not run.', error);
  const { code, data, message, status } = faceOf(error);
  const away = status === 502 || status === 503 || status === 504;
  // `fetch` throws a TypeError if there was no response.
  if (link.lost || data === answerLost || gone.has(code) || away || error instanceof TypeError)
    return connectionFault(
      `${link.excess ?? 'The MCP server disconnected before it answered.'} The call may have run.`,
      error,
    );
  return new Error(
    cleanText(typeof message === 'string' ? message : 'The MCP call failed.', maxErrorBytes),
    { cause: error },
  );
}
