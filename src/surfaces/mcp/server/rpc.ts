/** Incoming JSON-RPC messages, and the errors that are answered before a server sees a message. */
import { type JsonObject, serializeOutput, type ToolResult } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { errorMetaKey } from './content.ts';

/** Most characters of an id. Ids are kept while their requests are in flight. */
export const maxIdLength = 256;

/** A request's id. */
export type RpcId = string | number;

/** A message, by its kind. */
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
  invalidParams: -32_602,
  internal: -32_603,
  server: -32_000,
  sessionNotFound: -32_001,
  headerMismatch: -32_020,
} as const;

/** Most levels of a message. The limit for arguments is lower. */
export const maxDepth = 256;

/**
 * Most values of a message, as `excessOf` counts them: the 50 000 that an input may have, and some
 * for the rest of the message.
 */
export const maxValues = 50_100;
/**
 * Most values of a message besides the arguments of a call. The protocol's package checks each of
 * them, which takes far longer than parsing.
 */
const maxValuesBeside = 4_000;

/** The error for a message with too many values. */
export const tooFull =
  `Invalid Request: a message may have at most ${maxValues} values. A member with a new name ` +
  'counts as five.';
/** The error for a message with too many values besides the arguments of a call. */
export const tooFullBeside =
  `Invalid Request: a message may have at most ${maxValuesBeside} values besides the arguments ` +
  'of a call.';

/**
 * Whether messages have too many values besides the arguments of calls. Their depth must have been
 * checked before.
 */
export function isTooFullBeside(messages: readonly unknown[]): boolean {
  let left = maxValuesBeside;
  const within = (value: unknown): boolean => {
    if (--left < 0) return false;
    return typeof value !== 'object' || value === null || Object.values(value).every(within);
  };
  return !messages.every((message) => {
    if (!isJsonObject(message as JsonObject)) return within(message);
    // The members that every message has are not counted, because a batch may have many messages.
    const { jsonrpc: _version, id: _id, method, params, ...rest } = message as JsonObject;
    if (!Object.values(rest).every(within)) return false;
    if (method !== 'tools/call' || !isJsonObject(params))
      return params === undefined || within(params);
    const { arguments: _arguments, ...beside } = params;
    return Object.values(beside).every(within);
  });
}

/** The error for a message that is too deep. */
export const tooDeep = `Invalid Request: a message may have at most ${maxDepth} levels.`;

/** Reads one message; undefined if it is not valid, or its id is too long. */
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

/** Most requests of one client that have no answer yet. */
export const maxOpenRequests = 1_000;

/** The error for a request over that limit. */
export function tooManyOpen(id: RpcId): JsonObject {
  return rpcError(rpcCodes.server, 'Too many requests have no answer yet.', id);
}

/** An error answer. */
export function rpcError(code: number, message: string, id: RpcId | null = null): JsonObject {
  return { jsonrpc: '2.0', error: { code, message }, id };
}

/**
 * The answer to a request whose id is already in flight. The first request keeps its own answer,
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
    `A request with the id \`${String(id).slice(0, 100)}\` is already in flight. Give every ` +
    'request its own id.';
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

/** Answers with a JSON-RPC error under an HTTP status. */
export function refusal(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  id: RpcId | null = null,
): Response {
  return Response.json(rpcError(code, message, id), { status, headers });
}
