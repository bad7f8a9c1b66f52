/**
 * Calls of the 2025 era over lines, without the SDK's client. The client makes an AbortController,
 * a timer and a dozen promises for a request, and its schemas read each message three times. That
 * takes longer than everything else in a call.
 */
import type { Transport } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import type { McpRequestOptions } from './sdk.ts';

/** The callbacks of a call. */
export type DirectOptions = Required<Pick<McpRequestOptions, 'signal' | 'onprogress'>>;

/** Calls that the SDK's client does not know about. */
export interface DirectCalls {
  /**
   * Sends `tools/call`, and resolves to the result as the server sent it.
   * @throws (rejects with) Error with the code of the server's error, or of the SDK for a
   * connection that is gone
   */
  call(params: Readonly<Record<string, unknown>>, options: DirectOptions): Promise<unknown>;
  /**
   * Takes a line that answers a call or reports its progress. If it returns false, the line is for
   * the client.
   */
  take(line: string): boolean;
  /** Fails the calls that have no answer, and all later ones. */
  end(): void;
}

interface Call {
  readonly options: DirectOptions;
  answered(answer: { readonly result: unknown } | { readonly error: Error }): void;
}

/** The client numbers its own requests from 0. */
const firstId = 1_000_000_000;

/** @param send sends a message over the transport itself */
export function createDirectCalls(send: Transport['send']): DirectCalls {
  const calls = new Map<number, Call>();
  let ids = firstId;
  let ended = false;
  return {
    call: (params, options) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        if (ended) throw connectionClosed();
        if (signal.aborted) throw cancelled();
        const id = ids++;
        const cancel = (): void => {
          const reason = String(signal.reason);
          const params = { requestId: id, reason };
          send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
          calls.get(id)?.answered({ error: cancelled() });
        };
        calls.set(id, {
          options,
          answered(answer) {
            calls.delete(id);
            signal.removeEventListener('abort', cancel);
            if ('error' in answer) reject(answer.error);
            else resolve(answer.result);
          },
        });
        signal.addEventListener('abort', cancel, { once: true });
        const _meta = { ...(params._meta as object | undefined), progressToken: id };
        send({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { ...params, _meta },
        }).catch((error: Error) => calls.get(id)?.answered({ error }));
      }),
    take: (line) => calls.size > 0 && takeLine(calls, line),
    end() {
      ended = true;
      for (const call of [...calls.values()]) call.answered({ error: connectionClosed() });
    },
  };
}

function takeLine(calls: ReadonlyMap<number, Call>, line: string): boolean {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return false;
  }
  if (!isJsonObject(message as JsonObject)) return false;
  const { jsonrpc, id, method, params, result, error } = message as JsonObject;
  if (jsonrpc !== '2.0') return false;
  if (method === 'notifications/progress' && id === undefined)
    return isJsonObject(params) && takeProgress(calls, params);
  const call = method === undefined ? callOf(calls, id) : undefined;
  if (call === undefined) return false;
  // Malformed lines are left to the client, which ignores them.
  if (error === undefined) {
    if (!isJsonObject(result)) return false;
    call.answered({ result });
    return true;
  }
  if (result !== undefined || !isJsonObject(error)) return false;
  const { code, message: text, data } = error;
  if (!Number.isSafeInteger(code) || typeof text !== 'string') return false;
  call.answered({ error: Object.assign(new Error(text), { code, data }) });
  return true;
}

function takeProgress(calls: ReadonlyMap<number, Call>, params: JsonObject): boolean {
  const { progressToken, progress, total, message } = params;
  const call = callOf(calls, progressToken);
  if (call === undefined || typeof progress !== 'number') return false;
  call.options.onprogress({
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  });
  return true;
}

/** Some servers answer with the number as text. */
function callOf(calls: ReadonlyMap<number, Call>, id: unknown): Call | undefined {
  return typeof id === 'number' || typeof id === 'string' ? calls.get(Number(id)) : undefined;
}

/** It has the code that the SDK uses for this. */
function connectionClosed(): Error {
  return Object.assign(new Error('Connection closed'), { code: 'CONNECTION_CLOSED' });
}

function cancelled(): Error {
  return new Error('The call was cancelled.');
}
