/** JSON-RPC over lines of text, in both directions: what stdio is to the protocol. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonObject } from '../index.ts';
import { isJsonObject } from '../internal.ts';
import { maxBodyBytes } from './server-body.ts';
import { duplicateAnswer, isTooDeep, type RpcId, readMessage, rpcCodes, rpcError, tooDeep } from './server-rpc.ts';
import { idOfSkipped, keptOfLine } from './server-skipped-line.ts';

/** Where messages come from: Node's `Readable`, as far as it is used. */
export interface LineInput {
  /** Hears `data`, `end`, `close` and `error`. */
  on(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops hearing. */
  off(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops reading. */
  pause?(): unknown;
}

/** Where messages go: Node's `Writable`, as far as it is used. */
export interface LineOutput {
  /** Writes; `done` is called when the text was handed on, with the error when it could not be. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** A batch of the version that has them: its answers go out together. */
interface Batch {
  readonly waits: Set<RpcId>;
  readonly answers: unknown[];
}

/** A transport over lines, with what the end of its input needs. */
export interface LineTransport extends Transport {
  /** Frees the id of a request that nothing answers. */
  abandon(id: RpcId): void;
}

/**
 * Each line is answered: what cannot be read by an error, an id that is in flight by `duplicate_call_id`.
 * @param graceMs milliseconds that running calls have to end once the input has ended
 */
export function lineTransport(input: LineInput, output: LineOutput, graceMs: number): LineTransport {
  const decoder = new TextDecoder();
  const inFlight = new Map<RpcId, { readonly method: string; readonly batch: Batch | undefined }>();
  let text = '';
  /** The beginning of a line that is too long, until its end has come. */
  let skipped: string | undefined;
  let version: string | undefined;
  let closed = false;
  let ending: ReturnType<typeof setTimeout> | undefined;

  const write = (value: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      output.write(`${JSON.stringify(value)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  // A reader that went away hears nothing; the end of the input follows.
  const tell = (value: unknown): void => void write(value).catch(() => {});
  const settle = (id: RpcId): void => {
    inFlight.delete(id);
    if (ending !== undefined && inFlight.size === 0) void transport.close();
  };
  const take = (value: unknown, batch?: Batch): void => {
    const message = readMessage(value);
    if (message === undefined) return tell(rpcError(rpcCodes.invalidRequest, 'Invalid Request: the line is no JSON-RPC message.'));
    if (message.kind === 'request') {
      if (inFlight.has(message.id)) return tell(duplicateAnswer(message));
      inFlight.set(message.id, { method: message.method, batch });
      batch?.waits.add(message.id);
    }
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId } = isJsonObject(message.params) ? message.params : ({} as JsonObject);
      const target = inFlight.get(requestId as RpcId);
      // What answers at once cannot be cancelled, and what is cancelled gets no answer. A listening stream is ended so.
      if (target !== undefined && target.method !== 'tools/call' && target.method !== 'subscriptions/listen') return;
      if (target?.method === 'subscriptions/listen') inFlight.delete(requestId as RpcId);
    }
    transport.onmessage?.(value as JSONRPCMessage);
  };
  const refuse = (beginning: string, end: string): void =>
    tell(rpcError(rpcCodes.invalidRequest, `Invalid Request: a line may have ${maxBodyBytes} characters at most.`, idOfSkipped(beginning, end)));
  const takeLine = (line: string): void => {
    if (skipped !== undefined || line.length > maxBodyBytes) {
      refuse(skipped ?? line.slice(0, keptOfLine), line.slice(-keptOfLine));
      skipped = undefined;
      return;
    }
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return tell(rpcError(rpcCodes.parse, 'Parse error: the line is not valid JSON.'));
    }
    if (isTooDeep(value)) {
      const message = readMessage(value);
      return tell(rpcError(rpcCodes.invalidRequest, tooDeep, message?.kind === 'request' ? message.id : null));
    }
    if (!Array.isArray(value)) return take(value);
    if (version !== '2025-03-26' || value.length === 0)
      return tell(rpcError(rpcCodes.invalidRequest, 'Invalid Request: this protocol version has no batches.'));
    const batch: Batch = { waits: new Set(), answers: [] };
    for (const one of value) take(one, batch);
  };
  const onData = (chunk: unknown): void => {
    text += chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk);
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n')) {
      const line = text.slice(0, at);
      text = text.slice(at + 1);
      takeLine(line);
      if (closed) return;
    }
    if (skipped === undefined && text.length <= maxBodyBytes) return;
    // The one who sent it is told at the end of the line, where its id may stand.
    skipped ??= text.slice(0, keptOfLine);
    text = text.slice(-keptOfLine);
  };
  const onEnd = (): void => {
    if (closed || ending !== undefined) return;
    if (text !== '') takeLine(text);
    text = '';
    ending = setTimeout(() => void transport.close(), graceMs);
    ending.unref();
    for (const [id, { method }] of inFlight) if (method === 'subscriptions/listen') inFlight.delete(id);
    if (inFlight.size === 0) void transport.close();
  };
  const onError = (error: unknown): void => {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    onEnd();
  };
  const transport: LineTransport = {
    async start() {
      input.on('data', onData);
      input.on('end', onEnd);
      input.on('close', onEnd);
      input.on('error', onError);
    },
    async send(message) {
      if (closed) return;
      const isAnswer = !('method' in message) && message.id !== undefined;
      const id = isAnswer ? (message.id as RpcId) : undefined;
      const batch = id === undefined ? undefined : inFlight.get(id)?.batch;
      try {
        if (batch === undefined || id === undefined) return await write(message);
        batch.answers.push(message);
        batch.waits.delete(id);
        if (batch.waits.size === 0) await write(batch.answers);
      } finally {
        if (id !== undefined) settle(id);
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(ending);
      input.off('data', onData);
      input.off('end', onEnd);
      input.off('close', onEnd);
      input.off('error', onError);
      input.pause?.();
      transport.onclose?.();
    },
    abandon(id) {
      const batch = inFlight.get(id)?.batch;
      if (batch?.waits.delete(id) === true && batch.waits.size === 0 && batch.answers.length > 0) tell(batch.answers);
      settle(id);
    },
    setProtocolVersion(agreed) {
      version = agreed;
    },
  };
  return transport;
}
