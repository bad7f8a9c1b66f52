/**
 * The requests of a line transport that have no answer yet, and how answers go out: alone, or
 * together with the others of their batch.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import { wireText } from '../../../values/json/index.ts';
import { readExactly, requestIdOf } from './line-splitter.ts';
import type { LineOutput } from './line-streams.ts';
import {
  duplicateAnswer,
  maxOpenRequests,
  type RpcId,
  type RpcMessage,
  rpcCodes,
  rpcError,
  tooManyOpen,
} from './rpc.ts';

/** A batch of the protocol version that has them: its answers go out together. */
export interface Batch {
  /** The ids of its requests that have no answer yet. */
  readonly waits: Set<RpcId>;
  readonly answers: unknown[];
}

/** A request without an answer. */
interface InFlight {
  readonly method: string;
  readonly batch: Batch | undefined;
}

/** The requests of one transport. */
export interface LineRequests {
  readonly output: LineOutput;
  readonly inFlight: Map<RpcId, InFlight>;
  /** Called when a request is over. */
  settled(): void;
}

/** Writes a line. Rejects if it could not be passed on. */
function write(output: LineOutput, value: object): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(`${wireText(value)}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes a line. An error means that the reader is gone; the end of the input follows. */
export function tell({ output }: LineRequests, value: object): void {
  void write(output, value).catch(() => {});
}

/**
 * Reads a message and takes the id of a request. Undefined if the message was answered here: it is
 * malformed, or its request is refused.
 */
export function admit(
  requests: LineRequests,
  value: unknown,
  batch?: Batch,
): RpcMessage | undefined {
  const message = readExactly(value);
  const fault = faultOf(requests, value, message);
  if (fault !== undefined) {
    if (batch === undefined) tell(requests, fault);
    else batch.answers.push(fault);
    return undefined;
  }
  if (message?.kind !== 'request') return message;
  requests.inFlight.set(message.id, { method: message.method, batch });
  batch?.waits.add(message.id);
  return message;
}

function faultOf(
  { inFlight }: LineRequests,
  value: unknown,
  message: RpcMessage | undefined,
): JsonObject | undefined {
  if (message === undefined)
    return rpcError(
      rpcCodes.invalidRequest,
      'Invalid Request: this is not a JSON-RPC message.',
      requestIdOf(value),
    );
  if (message.kind !== 'request') return undefined;
  if (inFlight.has(message.id)) return duplicateAnswer(message);
  return inFlight.size >= maxOpenRequests ? tooManyOpen(message.id) : undefined;
}

/** Sends a message of the server. An answer in a batch waits for the others. */
export async function send(requests: LineRequests, message: JSONRPCMessage): Promise<void> {
  const isAnswer = !('method' in message) && message.id !== undefined;
  const id = isAnswer ? (message.id as RpcId) : undefined;
  const batch = id === undefined ? undefined : requests.inFlight.get(id)?.batch;
  try {
    if (batch === undefined || id === undefined) return await write(requests.output, message);
    batch.answers.push(message);
    batch.waits.delete(id);
    if (batch.waits.size === 0) await write(requests.output, batch.answers);
  } finally {
    if (id !== undefined) settle(requests, id);
  }
}

/** Frees the id of a request that nothing answers. */
export function abandon(requests: LineRequests, id: RpcId): void {
  const batch = requests.inFlight.get(id)?.batch;
  if (batch?.waits.delete(id) === true && batch.waits.size === 0 && batch.answers.length > 0)
    tell(requests, batch.answers);
  settle(requests, id);
}

function settle(requests: LineRequests, id: RpcId): void {
  requests.inFlight.delete(id);
  requests.settled();
}
