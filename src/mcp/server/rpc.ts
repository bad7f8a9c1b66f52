/**
 * JSON-RPC messages as they come in, and the errors that are answered before a server sees them.
 */
import { type JsonObject, serializeOutput, type ToolResult } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { errorMetaKey } from './content.ts';

/** Characters of an id. What is in flight is kept by it. */
export const maxIdLength = 256;

/** A request's id. */
export type RpcId = string | number;

/** What a message is; undefined for what is none. */
export type RpcMessage =
  | {
      readonly kind: 'request';
      readonly id: RpcId;
      readonly method: string;
      readonly params: unknown;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'response'; readonly id: RpcId };

/** The protocol's codes. */
export const rpcCodes = {
  parse: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  internal: -32_603,
  server: -32_000,
  sessionNotFound: -32_001,
  headerMismatch: -32_020,
} as const;

/** Levels of a message. Arguments may have fewer. */
export const maxDepth = 256;

/**
 * Values of a message, as {@link excessOf} counts them: the 50 000 that an input may have, and what
 * is around them.
 */
export const maxValues = 50_100;
/**
 * Values of a message beside the arguments of a call. What reads them looks at each by itself, and
 * takes far longer for it.
 */
export const maxValuesBeside = 4_000;

/** What a message with too many values is answered. */
export const tooFull =
  `Invalid Request: a message may have ${maxValues} values at most, where a member with a new ` +
  'name counts as five.';
/** What a message is answered that has too many of them elsewhere. */
export const tooFullBeside =
  `Invalid Request: a message may have ${maxValuesBeside} values at most beside the arguments ` +
  'of a call.';

/**
 * Whether messages hold too much beside the arguments of calls. They are not deep: that was looked
 * at before.
 */
export function isTooFullBeside(messages: readonly unknown[]): boolean {
  let left = maxValuesBeside;
  const within = (value: unknown): boolean => {
    if (--left < 0) return false;
    return typeof value !== 'object' || value === null || Object.values(value).every(within);
  };
  return !messages.every((message) => {
    if (!isJsonObject(message as JsonObject)) return within(message);
    // What every message has costs nothing: there may be many in a batch.
    const { jsonrpc: _version, id: _id, method, params, ...rest } = message as JsonObject;
    if (!Object.values(rest).every(within)) return false;
    if (method !== 'tools/call' || !isJsonObject(params))
      return params === undefined || within(params);
    const { arguments: _arguments, ...beside } = params;
    return Object.values(beside).every(within);
  });
}

/** What a message that is too deep is answered. */
export const tooDeep = `Invalid Request: a message may have ${maxDepth} levels at most.`;

/** Reads one message. An id over the limit makes it none. */
export function readMessage(value: unknown): RpcMessage | undefined {
  if (!isJsonObject(value as JsonObject)) return undefined;
  const { jsonrpc, id, method, params, result, error } = value as JsonObject;
  if (jsonrpc !== '2.0' || (params !== undefined && !isJsonObject(params))) return undefined;
  const named =
    (typeof id === 'string' && id.length <= maxIdLength) ||
    (typeof id === 'number' && Number.isSafeInteger(id));
  if (typeof method === 'string') {
    if (named) return { kind: 'request', id, method, params };
    return id === undefined ? { kind: 'notification', method, params } : undefined;
  }
  return named && method === undefined && (isJsonObject(result) || isJsonObject(error))
    ? { kind: 'response', id }
    : undefined;
}

/** Requests of one client that may have no answer yet. */
export const maxOpenRequests = 1_000;

/** What a request over that is answered. */
export function tooManyOpen(id: RpcId): JsonObject {
  return rpcError(rpcCodes.server, 'Too many requests have no answer yet.', id);
}

/** An error answer. */
export function rpcError(code: number, message: string, id: RpcId | null = null): JsonObject {
  return { jsonrpc: '2.0', error: { code, message }, id };
}

/**
 * What a request is answered whose id another one in flight has: the first keeps its own answer,
 * and nothing runs twice.
 */
export function duplicateAnswer({
  id,
  method,
}: {
  readonly id: RpcId;
  readonly method: string;
}): JsonObject {
  const message =
    `A request with the id \`${String(id).slice(0, 100)}\` is in flight; give every request an ` +
    'id of its own.';
  if (method !== 'tools/call') return rpcError(rpcCodes.invalidRequest, message, id);
  const failed = {
    success: false,
    error: { code: 'duplicate_call_id', message, retryable: false },
  } as ToolResult;
  return {
    jsonrpc: '2.0',
    id,
    result: {
      content: [{ type: 'text', text: serializeOutput(failed) }],
      isError: true,
      _meta: { [errorMetaKey]: { code: 'duplicate_call_id' } },
    },
  };
}
