/** JSON-RPC over lines of text, in both directions: the transport of stdio. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { excessOf } from '../../../values/text/json-bounds.ts';
import { maxBodyBytes } from './body.ts';
import type { DirectCalls } from './direct-calls.ts';
import { abandon, admit, type Batch, type LineRequests, send, tell } from './line-requests.ts';
import {
  idOfSkipped,
  keptOfLine,
  type LineSplitter,
  lineSplitter,
  requestIdOf,
} from './line-splitter.ts';
import type { LineInput, LineOutput } from './line-streams.ts';
import {
  isTooFullBeside,
  maxDepth,
  maxValues,
  type RpcId,
  type RpcMessage,
  rpcCodes,
  rpcError,
  tooDeep,
  tooFull,
  tooFullBeside,
} from './rpc.ts';

const tooLong = `Invalid Request: a line may have at most ${maxBodyBytes} characters.`;

/** A transport over lines. */
export interface LineTransport extends Transport {
  /** Frees the id of a request that nothing answers. */
  abandon(id: RpcId): void;
  /** Takes messages that the SDK need not see. @default it sees all */
  direct?: Pick<DirectCalls, 'running' | 'take'>;
}

interface State {
  readonly requests: LineRequests;
  readonly transport: LineTransport;
  /** The protocol version that was agreed on. */
  version?: string;
  closed: boolean;
  /** Set once the input has ended. */
  ending?: ReturnType<typeof setTimeout>;
}

/**
 * Each line is answered. A line that cannot be read gets an error, and an id that is in flight gets
 * `duplicate_call_id`.
 * @param graceMs milliseconds that running calls have to end once the input has ended
 */
export function lineTransport(
  input: LineInput,
  output: LineOutput,
  graceMs: number,
): LineTransport {
  const requests: LineRequests = {
    output,
    inFlight: new Map(),
    settled: () => {
      if (state.ending !== undefined && requests.inFlight.size === 0) void transport.close();
    },
  };
  const lines = lineSplitter(maxBodyBytes, {
    take: (line) => takeLine(state, line),
    refuse: (beginning, end) => refuse(state, tooLong, beginning, end),
  });
  const end = (): void => {
    if (state.closed || state.ending !== undefined) return;
    lines.end();
    endInput(state, graceMs);
  };
  const fail = (error: unknown): void => {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
    end();
  };
  const listeners: readonly (readonly [string, (value?: unknown) => void])[] = [
    ['data', textReader(lines)],
    ['end', end],
    ['close', end],
    ['error', fail],
  ];
  const transport: LineTransport = {
    async start() {
      for (const [event, listener] of listeners) input.on(event, listener);
      if (input.readableEnded === true || input.destroyed === true) setImmediate(end);
    },
    async send(message) {
      if (!state.closed) await send(requests, message);
    },
    async close() {
      if (state.closed) return;
      state.closed = true;
      clearTimeout(state.ending);
      for (const [event, listener] of listeners) input.off(event, listener);
      input.pause?.();
      transport.onclose?.();
    },
    abandon: (id) => abandon(requests, id),
    setProtocolVersion(agreed) {
      state.version = agreed;
    },
  };
  const state: State = { requests, transport, closed: false };
  return transport;
}

/** Takes chunks of bytes, whose characters may continue in the next chunk, or chunks of text. */
function textReader(lines: LineSplitter): (chunk: unknown) => void {
  const decoder = new TextDecoder();
  return (chunk) =>
    lines.add(
      chunk instanceof Uint8Array ? decoder.decode(chunk, { stream: true }) : String(chunk),
    );
}

/** Running calls have a grace period; open streams of notifications end. */
function endInput(state: State, graceMs: number): void {
  const { transport, requests } = state;
  // This timer must keep the process alive. Perhaps nothing else does, and `closed` has to resolve.
  state.ending = setTimeout(() => void transport.close(), graceMs);
  for (const [id, { method }] of requests.inFlight)
    if (method === 'subscriptions/listen') requests.inFlight.delete(id);
  if (requests.inFlight.size === 0) void transport.close();
}

function takeLine(state: State, line: string): void {
  const { requests } = state;
  if (state.closed || line.trim() === '') return;
  const excess = textFault(line);
  if (excess !== undefined)
    return refuse(state, excess, line.slice(0, keptOfLine), line.slice(-keptOfLine));
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return tell(requests, rpcError(rpcCodes.parse, 'Parse error: the line is not valid JSON.'));
  }
  const batch: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (batch !== undefined && (state.version !== '2025-03-26' || batch.length === 0))
    return tell(
      requests,
      rpcError(rpcCodes.invalidRequest, 'Invalid Request: this protocol version has no batches.'),
    );
  const fault = valueFault(value);
  if (fault !== undefined)
    return tell(requests, rpcError(rpcCodes.invalidRequest, fault, requestIdOf(value)));
  if (batch !== undefined) return takeBatch(state, batch);
  const message = admit(requests, value);
  if (message !== undefined) deliver(state, value, message);
}

/** Answers a line that is not read. */
function refuse({ closed, requests }: State, why: string, beginning: string, end: string): void {
  if (closed) return;
  tell(requests, rpcError(rpcCodes.invalidRequest, why, idOfSkipped(beginning, end)));
}

function takeBatch(state: State, values: readonly unknown[]): void {
  const { requests } = state;
  const batch: Batch = { waits: new Set(), answers: [] };
  // All ids are taken before anything is answered, because the last answer sends all of them.
  const messages = values.map((one) => admit(requests, one, batch));
  if (batch.waits.size === 0 && batch.answers.length > 0) tell(requests, batch.answers);
  for (const [index, message] of messages.entries())
    if (message !== undefined) deliver(state, values[index], message);
}

function deliver(state: State, value: unknown, message: RpcMessage): void {
  const { requests, transport } = state;
  if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
    const { requestId } = isJsonObject(message.params) ? message.params : ({} as JsonObject);
    const method = requests.inFlight.get(requestId as RpcId)?.method;
    // Other requests are answered at once. They cannot be cancelled, because a cancelled request
    // would get no answer.
    if (method !== undefined && method !== 'tools/call' && method !== 'subscriptions/listen')
      return;
    // Cancelling is how a client ends such a stream.
    if (method === 'subscriptions/listen') transport.abandon(requestId as RpcId);
  }
  if (!goesDirect(state, message)) transport.onmessage?.(value as JSONRPCMessage);
}

/** Once a version was agreed on, calls overtake no other request. */
function goesDirect({ version, requests, transport }: State, message: RpcMessage): boolean {
  const { direct } = transport;
  if (direct === undefined || version === undefined) return false;
  const others = requests.inFlight.size - direct.running - (message.kind === 'request' ? 1 : 0);
  return (message.kind === 'notification' || others <= 0) && direct.take(message);
}

/** Most messages of a batch. */
const maxBatch = 100;

/** Why a line must not be parsed; undefined if it may be. */
function textFault(line: string): string | undefined {
  const excess = excessOf(line, { maxDepth, maxValues });
  if (excess === undefined) return undefined;
  return excess === 'depth' ? tooDeep : tooFull;
}

/** Why the value of a line is refused; undefined if it is not. */
function valueFault(value: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (messages.length > maxBatch)
    return `Invalid Request: a batch may have at most ${maxBatch} messages.`;
  return isTooFullBeside(messages) ? tooFullBeside : undefined;
}
