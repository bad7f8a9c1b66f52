/**
 * Delivers answers to the relay: over the socket if there is one, otherwise by POST, and again
 * until the relay has them or no caller waits any longer.
 */
import { type Answer, errorAnswer } from './answer.ts';
import { retryMs } from './backoff.ts';
import type { RelayHttp } from './http.ts';
import {
  asRelayClientError,
  isPassing,
  type RelayClientError,
  relayClientError,
} from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** Delivers answers to the relay. */
export interface Delivery {
  /**
   * Sends an answer. Does nothing if an answer to the same call is under way already. If the relay
   * refuses what the answer contains, an error that says so is sent instead.
   * @param forMs milliseconds for which the answer is of any use
   */
  send(answer: Answer, forMs: number): void;
  /**
   * Sets the function that sends frames over a socket. Undefined: the socket is gone, and what it
   * did not confirm is sent by POST.
   */
  socket(send: ((frame: string) => void) | undefined): void;
  /** The relay has confirmed an answer that came over the socket. */
  stored(requestId: string): void;
  /** The relay has refused an answer that came over the socket. */
  refused(requestId: string, error: RelayClientError): void;
  /** The number of answers in transit. */
  readonly size: number;
  /**
   * True while so many answers, or such large ones, are in transit that no further call should
   * begin.
   */
  readonly isFull: boolean;
}

/** What delivery needs. */
export interface DeliveryWorld {
  readonly http: RelayHttp;
  readonly life: Scope;
  readonly random: () => number;
  /** Called for an answer that does not reach the relay. */
  failed(error: RelayClientError): void;
  /** Called when an answer is no longer in transit. @default not called */
  freed?(): void;
}

/** Most answers in transit at which further calls may begin. */
const maxUnderWay = 1_000;
/** Most bytes of answers in transit at which further calls may begin. */
const maxBytesUnderWay = 64 * 1_048_576;
/** Milliseconds to wait for the socket's confirmation. */
const confirmMs = 5_000;
/** Larger answers go by POST, because a frame delays the ones after it. */
const maxFrameBytes = 262_144;

/** An answer in transit. */
interface Parcel {
  readonly answer: Answer;
  /** Ends when the answer has arrived, or is no longer useful. */
  readonly scope: Scope;
  /** When the answer becomes useless, by `performance.now()`. */
  readonly until: number;
  /** The answer says that the relay refused another one. */
  readonly isNotice: boolean;
  /** Stops the wait for the socket's confirmation; undefined if the answer goes by POST. */
  unconfirmed?: (() => void) | undefined;
}

interface State {
  readonly world: DeliveryWorld;
  /** By the id of the call. */
  readonly parcels: Map<string, Parcel>;
  /** Bytes of the answers in these. */
  bytes: number;
  sendFrame: ((frame: string) => void) | undefined;
}

export function createDelivery(world: DeliveryWorld): Delivery {
  const state: State = { world, parcels: new Map(), bytes: 0, sendFrame: undefined };
  const { parcels } = state;
  return {
    send: (answer, forMs) => take(state, answer, forMs, false),
    socket(send) {
      state.sendFrame = send;
      if (send !== undefined) return;
      for (const parcel of [...parcels.values()])
        if (parcel.unconfirmed !== undefined) startPost(state, parcel, 0);
    },
    stored(requestId) {
      parcels.get(requestId)?.scope.end(undefined);
    },
    refused(requestId, error) {
      if (parcels.get(requestId)?.unconfirmed !== undefined) retry(state, requestId, error, 1);
    },
    get size() {
      return parcels.size;
    },
    get isFull() {
      return parcels.size >= maxUnderWay || state.bytes >= maxBytesUnderWay;
    },
  };
}

function take(state: State, answer: Answer, forMs: number, isNotice: boolean): void {
  const { parcels, world } = state;
  if (world.life.ended || parcels.has(answer.requestId)) return;
  const scope = world.life.child();
  const parcel: Parcel = { answer, scope, until: performance.now() + forMs, isNotice };
  parcels.set(answer.requestId, parcel);
  state.bytes += answer.bytes;
  scope.onEnd(() => {
    parcels.delete(answer.requestId);
    state.bytes -= answer.bytes;
    world.freed?.();
  });
  scope.after(forMs, () => {
    scope.end(undefined);
    world.failed(
      relayClientError('timeout', 'An answer did not reach the relay before its deadline.'),
    );
  });
  if (!byFrame(state, parcel)) startPost(state, parcel, 0);
}

/** False if the answer cannot go over a socket. */
function byFrame(state: State, parcel: Parcel): boolean {
  const { sendFrame } = state;
  if (sendFrame === undefined || parcel.answer.bytes > maxFrameBytes) return false;
  try {
    sendFrame(`{"event":"response","data":${parcel.answer.body}}`);
  } catch {
    return false;
  }
  parcel.unconfirmed = parcel.scope.after(confirmMs, () => startPost(state, parcel, 0));
  return true;
}

/** @param failures failed attempts so far */
function startPost(state: State, parcel: Parcel, failures: number): void {
  stopConfirming(parcel);
  post(state, parcel, failures).catch(() => {});
}

async function post(state: State, { answer, scope }: Parcel, failures: number): Promise<void> {
  try {
    await state.world.http.call(scope, 'POST', '/response', { body: answer.body });
    scope.end(undefined);
  } catch (thrown) {
    if (scope.ended) return;
    retry(state, answer.requestId, asRelayClientError(thrown), failures + 1);
  }
}

function retry(state: State, requestId: string, error: RelayClientError, failures: number): void {
  const { parcels, world } = state;
  const parcel = parcels.get(requestId);
  if (parcel === undefined) return;
  if (isPassing(error)) {
    stopConfirming(parcel);
    parcel.scope.after(retryMs(failures, world.random, error.retryAfterMs), () =>
      startPost(state, parcel, failures),
    );
    return;
  }
  parcel.scope.end(undefined);
  world.failed(error);
  // The agent learns why there is no result.
  if (!parcel.isNotice && isOfContent(error))
    take(
      state,
      errorAnswer(requestId, `The relay refused the result: ${error.message}`),
      parcel.until - performance.now(),
      true,
    );
}

function stopConfirming(parcel: Parcel): void {
  parcel.unconfirmed?.();
  parcel.unconfirmed = undefined;
}

/**
 * True if the relay refuses what an answer contains, such as a result that is nested too deep, and
 * not its sender or its time.
 */
function isOfContent({ status }: RelayClientError): boolean {
  return status === 400 || status === 413 || status === 422;
}
