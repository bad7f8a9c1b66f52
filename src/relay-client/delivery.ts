/**
 * Answers on their way to the relay: by the socket where there is one, else by POST, again and
 * again until the relay has them or nobody waits any more.
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

/** Takes answers to the relay. */
export interface Delivery {
  /**
   * Sends an answer. One that is under way already is left to that; in the place of one whose
   * content the relay refuses goes an error that says so.
   * @param forMs how long it is worth anything
   */
  send(answer: Answer, forMs: number): void;
  /**
   * There is a socket now that frames go out on; undefined: there is none any more, and what it did
   * not confirm goes by POST.
   */
  socket(send: ((frame: string) => void) | undefined): void;
  /** The relay has confirmed an answer that came by the socket. */
  stored(requestId: string): void;
  /** The relay has refused an answer that came by the socket. */
  refused(requestId: string, error: RelayClientError): void;
  /** Answers that are under way. */
  readonly size: number;
}

/** What a delivery needs. */
export interface DeliveryWorld {
  readonly http: RelayHttp;
  readonly life: Scope;
  readonly random: () => number;
  /** An answer that the relay will not take. */
  failed(error: RelayClientError): void;
}

/** How long a socket's confirmation is waited for. */
const confirmMs = 5_000;
/** Larger answers go by POST: a frame holds up those behind it. */
const maxFrameBytes = 262_144;

interface Parcel {
  readonly answer: Answer;
  /** Ends when it has arrived, or is worth nothing any more. */
  readonly scope: Scope;
  /** When nobody waits any more, by the clock that never jumps. */
  readonly until: number;
  /** It says that the relay refused another one. */
  readonly isNotice: boolean;
  /** Stops the wait for the socket's confirmation; undefined when it goes by POST. */
  unconfirmed?: (() => void) | undefined;
}

export function createDelivery({ http, life, random, failed }: DeliveryWorld): Delivery {
  const parcels = new Map<string, Parcel>();
  let sendFrame: ((frame: string) => void) | undefined;

  const post = async ({ answer, scope }: Parcel, failures: number): Promise<void> => {
    try {
      await http.call(scope, 'POST', '/response', { body: answer.body });
      scope.end(undefined);
    } catch (thrown) {
      if (scope.ended) return;
      retry(answer.requestId, asRelayClientError(thrown), failures + 1);
    }
  };
  const start = (parcel: Parcel, failures = 0): void => {
    parcel.unconfirmed?.();
    parcel.unconfirmed = undefined;
    post(parcel, failures).catch(() => {});
  };
  const retry = (requestId: string, error: RelayClientError, failures: number): void => {
    const parcel = parcels.get(requestId);
    if (parcel === undefined) return;
    if (isPassing(error)) {
      parcel.unconfirmed?.();
      parcel.unconfirmed = undefined;
      parcel.scope.after(retryMs(failures, random, error.retryAfterMs), () =>
        start(parcel, failures),
      );
    } else {
      parcel.scope.end(undefined);
      failed(error);
      // Whoever waits is told why there is no result.
      if (!parcel.isNotice && isOfContent(error))
        take(
          errorAnswer(requestId, `The relay did not take the result: ${error.message}`),
          parcel.until - performance.now(),
          true,
        );
    }
  };
  const byFrame = (parcel: Parcel): boolean => {
    if (sendFrame === undefined || parcel.answer.bytes > maxFrameBytes) return false;
    try {
      sendFrame(`{"event":"response","data":${parcel.answer.body}}`);
    } catch {
      return false;
    }
    parcel.unconfirmed = parcel.scope.after(confirmMs, () => start(parcel));
    return true;
  };

  const take = (answer: Answer, forMs: number, isNotice: boolean): void => {
    if (life.ended || parcels.has(answer.requestId)) return;
    const scope = life.child();
    const parcel: Parcel = { answer, scope, until: performance.now() + forMs, isNotice };
    parcels.set(answer.requestId, parcel);
    scope.onEnd(() => parcels.delete(answer.requestId));
    scope.after(forMs, () => {
      scope.end(undefined);
      failed(
        relayClientError(
          'timeout',
          'An answer could not be brought to the relay before its deadline.',
        ),
      );
    });
    if (!byFrame(parcel)) start(parcel);
  };

  return {
    send: (answer, forMs) => take(answer, forMs, false),
    socket(send) {
      sendFrame = send;
      if (send !== undefined) return;
      for (const parcel of [...parcels.values()])
        if (parcel.unconfirmed !== undefined) start(parcel);
    },
    stored(requestId) {
      parcels.get(requestId)?.scope.end(undefined);
    },
    refused(requestId, error) {
      if (parcels.get(requestId)?.unconfirmed !== undefined) retry(requestId, error, 1);
    },
    get size() {
      return parcels.size;
    },
  };
}

/**
 * True where the relay refuses what an answer holds, such as a result nested too deep, and not who
 * sends it, or when.
 */
function isOfContent({ status }: RelayClientError): boolean {
  return status === 400 || status === 413 || status === 422;
}
