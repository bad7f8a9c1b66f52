/** JSON-RPC over lines of text, in both directions: what stdio is to the protocol. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { maxBodyBytes } from './body.ts';
import { textFault, valueFault } from './line-bounds.ts';
import { lineSplitter } from './line-splitter.ts';
import { readExactly, requestIdOf } from './message-form.ts';
import {
  duplicateAnswer,
  maxOpenRequests,
  type RpcId,
  type RpcMessage,
  rpcCodes,
  rpcError,
  tooManyOpen,
} from './rpc.ts';
import { idOfSkipped, keptOfLine } from './skipped-line.ts';

/** Where messages come from: Node's `Readable`, as far as it is used. */
export interface LineInput {
  /** Hears `data`, `end`, `close` and `error`. */
  on(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops hearing. */
  off(event: string, listener: (value?: unknown) => void): unknown;
  /** Stops reading. */
  pause?(): unknown;
  /** Whether its end was told before anyone heard. @default false */
  readonly readableEnded?: boolean | undefined;
  /** Whether it was closed before anyone heard. @default false */
  readonly destroyed?: boolean | undefined;
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

const tooLong = `Invalid Request: a line may have ${maxBodyBytes} characters at most.`;

/** A transport over lines, with what the end of its input needs. */
export interface LineTransport extends Transport {
  /** Frees the id of a request that nothing answers. */
  abandon(id: RpcId): void;
}

/**
 * Each line is answered: what cannot be read by an error, an id that is in flight by
 * `duplicate_call_id`.
 * @param graceMs milliseconds that running calls have to end once the input has ended
 */
export function lineTransport(
  input: LineInput,
  output: LineOutput,
  graceMs: number,
): LineTransport {
  const decoder = new TextDecoder();
  const inFlight = new Map<RpcId, { readonly method: string; readonly batch: Batch | undefined }>();
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
  /** Why a request is not taken; undefined where it is. */
  const conflict = (request: RpcMessage & { kind: 'request' }): JsonObject | undefined => {
    if (inFlight.has(request.id)) return duplicateAnswer(request);
    return inFlight.size >= maxOpenRequests ? tooManyOpen(request.id) : undefined;
  };
  /** Takes the id of a request. Undefined for what is answered already. */
  const admit = (value: unknown, batch?: Batch): RpcMessage | undefined => {
    const message = readExactly(value);
    const fault =
      message === undefined
        ? rpcError(
            rpcCodes.invalidRequest,
            'Invalid Request: this is no JSON-RPC message.',
            requestIdOf(value),
          )
        : message.kind === 'request'
          ? conflict(message)
          : undefined;
    if (fault !== undefined) {
      if (batch === undefined) tell(fault);
      else batch.answers.push(fault);
      return undefined;
    }
    if (message?.kind !== 'request') return message;
    inFlight.set(message.id, { method: message.method, batch });
    batch?.waits.add(message.id);
    return message;
  };
  const deliver = (value: unknown, message: RpcMessage): void => {
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId } = isJsonObject(message.params) ? message.params : ({} as JsonObject);
      const target = inFlight.get(requestId as RpcId);
      // What answers at once cannot be cancelled, and what is cancelled gets no answer. A listening
      // stream is ended so.
      if (
        target !== undefined &&
        target.method !== 'tools/call' &&
        target.method !== 'subscriptions/listen'
      )
        return;
      if (target?.method === 'subscriptions/listen') transport.abandon(requestId as RpcId);
    }
    transport.onmessage?.(value as JSONRPCMessage);
  };
  const takeBatch = (values: readonly unknown[]): void => {
    const batch: Batch = { waits: new Set(), answers: [] };
    // All ids are taken before anything is answered: the last answer sends all of them.
    const messages = values.map((one) => admit(one, batch));
    if (batch.waits.size === 0 && batch.answers.length > 0) tell(batch.answers);
    for (const [index, message] of messages.entries())
      if (message !== undefined) deliver(values[index], message);
  };
  const takeLine = (line: string): void => {
    if (closed || line.trim() === '') return;
    const unread = textFault(line);
    if (unread !== undefined)
      return refuse(unread, line.slice(0, keptOfLine), line.slice(-keptOfLine));
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return tell(rpcError(rpcCodes.parse, 'Parse error: the line is not valid JSON.'));
    }
    const batch: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
    if (batch !== undefined && (version !== '2025-03-26' || batch.length === 0))
      return tell(
        rpcError(rpcCodes.invalidRequest, 'Invalid Request: this protocol version has no batches.'),
      );
    const fault = valueFault(value);
    if (fault !== undefined)
      return tell(rpcError(rpcCodes.invalidRequest, fault, requestIdOf(value)));
    if (batch !== undefined) return takeBatch(batch);
    const message = admit(value);
    if (message !== undefined) deliver(value, message);
  };
  /** Answers a line that is not read. */
  const refuse = (why: string, beginning: string, end: string): void => {
    if (!closed) tell(rpcError(rpcCodes.invalidRequest, why, idOfSkipped(beginning, end)));
  };
  const lines = lineSplitter(maxBodyBytes, {
    take: takeLine,
    refuse: (beginning, end) => refuse(tooLong, beginning, end),
  });
  const onData = (chunk: unknown): void =>
    lines.add(
      chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk),
    );
  const onEnd = (): void => {
    if (closed || ending !== undefined) return;
    lines.end();
    // It holds the process: nothing else may, and whoever waits for the end is to hear of it.
    ending = setTimeout(() => void transport.close(), graceMs);
    for (const [id, { method }] of inFlight)
      if (method === 'subscriptions/listen') inFlight.delete(id);
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
      if (input.readableEnded === true || input.destroyed === true) setImmediate(onEnd);
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
      if (batch?.waits.delete(id) === true && batch.waits.size === 0 && batch.answers.length > 0)
        tell(batch.answers);
      settle(id);
    },
    setProtocolVersion(agreed) {
      version = agreed;
    },
  };
  return transport;
}
