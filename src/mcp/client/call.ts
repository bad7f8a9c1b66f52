/** One call of a server's tool: the executor behind an imported definition. */
import { type Executor, fail, type JsonObject, type ToolContext } from '../../index.ts';
import { longestTimerMs } from '../../options.ts';
import { connectionFault, isFault, withdrawnFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanText } from '../../surfaces/shared/outside-text.ts';
import type { Connection } from './connection.ts';
import type { ServerTool } from './definition.ts';
import { answerLost, type Link } from './open.ts';
import { paramHeaders } from './param-headers.ts';
import { maxErrorBytes, outcomeOf } from './result.ts';
import { anyResult } from './sdk.ts';

/**
 * Makes the executor of one tool. @param withdrawn why the definition stands no more; undefined
 * while it does
 */
export function executorOf(
  tool: ServerTool,
  connection: Connection,
  withdrawn: () => string | undefined,
): Executor {
  // A connection that was opened for this call has shown what its server offers now.
  const linked = async ({ signal }: ToolContext): Promise<Link> => {
    const link = await within(connection.link(), signal);
    const reason = withdrawn();
    if (reason !== undefined) throw withdrawnFault(reason);
    return link;
  };
  return Object.freeze({
    kind: 'remote' as const,
    execute: async (input: JsonObject, context: ToolContext) => {
      const first = await linked(context);
      try {
        return await callOnce(tool, first, input, context);
      } catch (error) {
        // The server has forgotten the session, and has not looked at the call: it can be made once
        // more, in a new one.
        if (context.signal.aborted || !sessionForgotten(error, first)) throw toFault(error, first);
        first.drop();
      }
      const second = await linked(context);
      return callOnce(tool, second, input, context).catch((error: unknown) => {
        throw toFault(error, second);
      });
    },
  });
}

async function callOnce(
  { name, inputSchema, structured }: ServerTool,
  { client }: Link,
  input: JsonObject,
  context: ToolContext,
): Promise<unknown> {
  let result: unknown;
  try {
    // Not `callTool` of the SDK: it reads a result by a schema of its own, and tells of each part
    // that is wrong.
    result = await client.request(
      { method: 'tools/call', params: { name, arguments: input } },
      anyResult,
      {
        signal: context.signal,
        // The session ends the call at its deadline; the SDK's own must not come first.
        timeout: longestTimerMs,
        onprogress: ({ progress, total, message }) => context.progress(progress, total, message),
        ...(client.getProtocolEra() === 'modern'
          ? { headers: paramHeaders(inputSchema, input) }
          : {}),
      },
    );
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
  return outcomeOf(result, structured);
}

/**
 * A JSON-RPC error that the server itself answered, as a failure of the tool; undefined for
 * anything else.
 */
function refusalOf(error: unknown): unknown {
  const { code, message, data } = faceOf(error);
  if (typeof code !== 'number' || data === answerLost) return undefined;
  const text = cleanText(typeof message === 'string' ? message : '', maxErrorBytes);
  return fail({
    message:
      text === ''
        ? `The MCP server answered the error ${code}.`
        : `The MCP server refused the call: ${text}`,
    reason: 'mcp_error',
    details: { code },
  });
}

/** Codes of the SDK that mean that the server is not there. */
const gone = new Set<unknown>([
  'CONNECTION_CLOSED',
  'NOT_CONNECTED',
  'SEND_FAILED',
  'ERA_NEGOTIATION_FAILED',
]);

/** What became of the call when it had no answer. */
function toFault(error: unknown, link: Link): unknown {
  if (isFault(error)) return error;
  const { code, data, message, status } = faceOf(error);
  const away =
    status === 502 || status === 503 || status === 504 || (status === 404 && forgets(link));
  // A TypeError is how fetch says that there was no answer.
  if (link.lost || data === answerLost || gone.has(code) || away || error instanceof TypeError)
    return connectionFault(
      `${link.excess ?? 'The MCP server went away before it had answered.'} The call may have run.`,
      error,
    );
  return new Error(
    cleanText(typeof message === 'string' ? message : 'The MCP call failed.', maxErrorBytes),
    { cause: error },
  );
}

/** The answers of HTTP servers that know the session no more: 404 by the protocol, 400 by many. */
function sessionForgotten(error: unknown, link: Link): boolean {
  const { status, message } = faceOf(error);
  return (
    forgets(link) &&
    (status === 404 || (status === 400 && typeof message === 'string' && /session/i.test(message)))
  );
}

function forgets({ client }: Link): boolean {
  return client.getProtocolEra() === 'legacy' && client.transport?.sessionId !== undefined;
}

interface Face {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
  readonly status?: unknown;
}

function faceOf(error: unknown): Face {
  if (typeof error !== 'object' || error === null) return { message: String(error) };
  const { code, message, data, status } = error as Face;
  return { code, message, data, status: isRecord(data) ? (data as Face).status : status };
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Waits for the connection, but not longer than the call. */
function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void =>
      reject(connectionFault('The call ended before the MCP server could be reached.'));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
