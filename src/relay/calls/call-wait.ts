/**
 * Waiting for the application's answer: looks when it is woken and now and then, has the call
 * delivered again, gives up when nobody is connected.
 */
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import { type CallAnswer, keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import type { CallDocuments } from './call-documents.ts';

/** What is waited for, and with what. */
export interface CallWait {
  readonly code: string;
  readonly id: string;
  readonly documents: CallDocuments;
  readonly store: RelayStore;
  /**
   * Milliseconds without an answer after which a call is delivered again, and without a connection
   * after which it is given up.
   */
  readonly leaseMs: number;
  /** Aborts when the call has ended otherwise. */
  readonly signal: AbortSignal;
  /**
   * This node has sent its applications away: one that has the call may answer it over no
   * connection.
   */
  sentAway(): boolean;
  /** Has the call delivered, for the `attempt`th time. */
  again(attempt: number): Promise<void>;
}

/** A wait that was begun. */
export interface BegunWait {
  /** Rejects with a fault that the run stage knows. */
  readonly answer: Promise<CallAnswer>;
  /** Looks at the document, at once. */
  look(): void;
}

/** How often a wait looks by itself, in parts of `leaseMs`. */
const looksPerLease = 4;

/** Begins to wait. */
export function waitForAnswer({
  code,
  id,
  documents,
  store,
  leaseMs,
  signal,
  sentAway,
  again,
}: CallWait): BegunWait {
  let settle: { resolve(answer: CallAnswer): void; reject(error: unknown): void } | undefined;
  const answer = new Promise<CallAnswer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = performance.now();
  /**
   * Since when nobody is known to be connected. Time in which the store could not be asked does not
   * count: its leases may have run out only for that.
   */
  let absentSince: number | undefined = asked;

  const finish = (
    end: (settled: { resolve(answer: CallAnswer): void; reject(error: unknown): void }) => void,
  ): void => {
    if (settle === undefined) return;
    const settled = settle;
    settle = undefined;
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    end(settled);
  };
  const lost = (message: string): void => finish(({ reject }) => reject(connectionFault(message)));
  const onAbort = (): void => lost('The call ended before the application had answered.');

  const look = async (): Promise<number | undefined> => {
    const document = await documents.read(code, id);
    if (document === undefined) lost('The relay session is over.');
    else if (document.answer !== undefined)
      finish(({ resolve }) => resolve(document.answer as CallAnswer));
    else if (document.state === 'lost')
      lost(
        'The application that had been given the call went away before it had answered. The ' +
          'call may have run.',
      );
    else if (document.state === 'ended') lost('The call was ended elsewhere.');
    return document?.attempt;
  };
  const tick = async (): Promise<void> => {
    const attempt = await look();
    if (settle === undefined || attempt === undefined) return;
    const time = performance.now();
    const isPresent = (await store.holder(code, keys.applicationLease)) !== undefined;
    absentSince = isPresent || (attempt > 0 && sentAway()) ? undefined : (absentSince ?? time);
    if (absentSince !== undefined && time - absentSince >= leaseMs)
      return lost(
        attempt === 0
          ? 'No application is connected to the session.'
          : 'The application went away before it had answered, and did not come back in time. ' +
              'The call may have run.',
      );
    if (settle === undefined || !isPresent || time - asked < leaseMs) return;
    asked = time;
    await again(attempt + 1);
  };
  // A store that does not answer is waited for, as long as the call may take.
  const arm = (): void => {
    timer = setTimeout(() => {
      tick()
        .catch(() => {
          absentSince = undefined;
        })
        .finally(() => {
          if (settle !== undefined) arm();
        });
    }, leaseMs / looksPerLease);
  };
  arm();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    answer,
    look: () => {
      look().catch(() => {});
    },
  };
}
