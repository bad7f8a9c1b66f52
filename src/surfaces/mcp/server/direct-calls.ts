/**
 * Calls of the 2025 era over lines, without the SDK's server. Its schemas read each message and
 * each result several times, which takes longer than everything else in a call.
 */
import type { Server } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import { messageOf } from '../../../values/errors/index.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { CallContext } from './asking.ts';
import { type RpcId, type RpcMessage, rpcCodes } from './rpc.ts';

/** Answers calls that the SDK's server does not know about. */
export interface DirectCalls {
  /** The number of running calls. */
  readonly running: number;
  /** Takes a call, or the end of one. If it returns false, the message is for the SDK's server. */
  take(message: RpcMessage): boolean;
  /** Cancels all running calls. */
  end(): void;
}

/** What answers the calls. */
export interface DirectParts {
  readonly server: Server;
  call(params: JsonObject, ctx: CallContext): Promise<unknown>;
  send(message: object): Promise<void>;
}

/** Makes the object that answers calls. The messages that it takes have been checked exactly. */
export function createDirectCalls(parts: DirectParts): DirectCalls {
  const running = new Map<RpcId, AbortController>();
  return {
    get running() {
      return running.size;
    },
    take(message) {
      if (message.kind === 'notification') return cancel(running, message);
      if (message.kind !== 'request' || message.method !== 'tools/call') return false;
      const { id, params } = message;
      if (!isPlainCall(params)) return false;
      const ending = new AbortController();
      running.set(id, ending);
      // Like any request, it begins after the ones before it have begun.
      queueMicrotask(
        () => void answer(parts, id, params, ending).finally(() => running.delete(id)),
      );
      return true;
    },
    end() {
      for (const ending of running.values()) ending.abort();
    },
  };
}

/**
 * The parameters of a call that need no further reading. Those of other features are left to the
 * SDK.
 */
function isPlainCall(params: unknown): params is JsonObject {
  if (!isJsonObject(params as JsonObject)) return false;
  const { name, arguments: input, _meta = {}, ...rest } = params as JsonObject;
  return (
    typeof name === 'string' &&
    (input === undefined || isJsonObject(input)) &&
    Object.keys(rest).length === 0 &&
    // Keys of the protocol have a prefix.
    !Object.keys(_meta as JsonObject).some((key) => key.includes('/'))
  );
}

function cancel(
  running: ReadonlyMap<RpcId, AbortController>,
  { method, params }: RpcMessage & { readonly kind: 'notification' },
): boolean {
  if (method !== 'notifications/cancelled' || !isJsonObject(params as JsonObject)) return false;
  const { requestId, reason } = params as JsonObject;
  const ending = running.get(requestId as RpcId);
  ending?.abort(reason);
  return ending !== undefined;
}

async function answer(
  { server, call, send }: DirectParts,
  id: RpcId,
  params: JsonObject,
  { signal }: AbortController,
): Promise<void> {
  const ctx: CallContext = {
    mcpReq: {
      id,
      ...(params._meta === undefined ? {} : { _meta: params._meta as JsonObject }),
      signal,
      requestState: () => undefined,
      notify: (notification) => send({ jsonrpc: '2.0', ...notification }),
      send: ((request: never, options: never) =>
        server.request(request, options)) as CallContext['mcpReq']['send'],
    },
  };
  let outcome: object;
  try {
    outcome = { result: await call(params, ctx) };
  } catch (error) {
    outcome = { error: faultOf(error) };
  }
  // A cancelled request gets no answer.
  if (!signal.aborted) await send({ jsonrpc: '2.0', id, ...outcome }).catch(() => {});
}

function faultOf(error: unknown): JsonObject {
  const { code, data } = error as { readonly code?: unknown; readonly data?: JsonObject };
  return {
    code: Number.isSafeInteger(code) ? (code as number) : rpcCodes.internal,
    message: messageOf(error),
    ...(data === undefined ? {} : { data }),
  };
}
