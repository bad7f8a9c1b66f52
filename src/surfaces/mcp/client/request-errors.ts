/** What the error of a request says about the server: whether it can have read the request. */
import type { JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { isFault } from '../../shared/executor-fault.ts';
import type { Link } from './link.ts';

/** The members of an error that matter here. Any of them may come from the server. */
export interface ErrorFace {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly data?: unknown;
  /** Of the HTTP response. */
  readonly status?: unknown;
}

export function faceOf(error: unknown): ErrorFace {
  if (typeof error !== 'object' || error === null) return { message: String(error) };
  const { code, message, data, status } = error as ErrorFace;
  const holder = typeof data === 'object' && data !== null ? (data as ErrorFace) : { status };
  return { code, message, data, status: holder.status };
}

const aboutSessions = /session|not initialized/i;

/**
 * How HTTP servers say that they do not know a session: with 404 by the protocol, with 400 by many.
 * A transport of the official SDKs that was created anew calls itself not initialized, and older
 * servers of the official Rust SDK answer 401.
 */
const refusals: ReadonlyMap<unknown, RegExp> = new Map([
  [404, /(?:)/],
  [410, /(?:)/],
  [400, aboutSessions],
  [401, /session not found/i],
]);

/**
 * True if the server refused the request because it has forgotten the session. It then has not run
 * anything.
 */
export function sessionForgotten(error: unknown, link: Link): boolean {
  const { status, message, data } = faceOf(isFault(error) ? (error as Error).cause : error);
  const text = typeof message === 'string' ? message : '';
  if (refusals.get(status)?.test(text) !== true || !hasServerSession(link)) return false;
  return aboutSessions.test(text) || !answersRequest(data);
}

/**
 * True if the body of the HTTP response is an answer to the request by its number. Some servers
 * give the error of a tool, such as "order not found", the status 404. The tool may then have run.
 */
function answersRequest(data: unknown): boolean {
  const { text } = (typeof data === 'object' && data !== null ? data : {}) as {
    readonly text?: unknown;
  };
  if (typeof text !== 'string') return false;
  try {
    const body = JSON.parse(text) as JsonValue;
    return isJsonObject(body) && typeof body.id === 'number' && body.jsonrpc === '2.0';
  } catch {
    return false;
  }
}

/** Only such a session can be forgotten. */
function hasServerSession({ client }: Link): boolean {
  return client.getProtocolEra() === 'legacy' && client.transport?.sessionId !== undefined;
}

/** Steps of Node before the first byte of a request is sent. */
const connecting = new Set<unknown>(['connect', 'getaddrinfo']);

/** True if no connection could be made, so that the server cannot have read the request. */
export function neverSent(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, syscall, errors, cause } = error as {
    readonly code?: unknown;
    readonly syscall?: unknown;
    readonly errors?: unknown;
    readonly cause?: unknown;
  };
  if (code === 'NOT_CONNECTED' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  if (connecting.has(syscall)) return true;
  // Node tries each address of a name, and reports all failures.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(neverSent);
  return error instanceof TypeError && neverSent(cause);
}
