/**
 * Waits for the application's answer. A wait reads the call's document when it is woken and at
 * intervals, has the call delivered again, and gives up when no application is connected.
 */
import type { RunningCall } from '../../../extend.ts';
import { connectionFault } from '../../shared/executor-fault.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf, type KeptStore } from '../ports/kept-store.ts';
import { type FoundCall, findCall } from './call-documents.ts';
import { sessionOver } from './call-parts.ts';

/** The call to wait for, and what the wait needs. */
export interface CallWait {
  readonly code: string;
  readonly id: string;
  readonly store: KeptStore;
  /**
   * A call is delivered again after this many milliseconds without an answer, and given up after as
   * many without a connected application.
   */
  readonly leaseMs: number;
  /** Whether the call has ended without an answer. */
  readonly stop: RunningCall;
  /**
   * True when this node has disconnected its applications. An application that has the call may
   * then answer it without a connection.
   */
  sentAway(): boolean;
  /** Has the call delivered for the `attempt`th time. */
  again(attempt: number): Promise<void>;
}

/** A wait that has started. */
export interface BegunWait {
  /** The call with its answer. Rejects with a fault that the run stage knows. */
  readonly answer: Promise<FoundCall>;
  /** Reads the document at once. */
  look(): void;
  /** Uses a document that came with a wake-up, as if it had been read. */
  take(found: FoundCall): void;
}

/** How many times in each `leaseMs` the document is read without a wake-up. */
const looksPerLease = 4;

interface Settle {
  resolve(answered: FoundCall): void;
  reject(error: unknown): void;
}

interface WaitState {
  /** Undefined once the wait has ended. */
  settle: Settle | undefined;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** When the call was last sent, on the clock of `performance.now()`. */
  asked: number;
  /**
   * The time since which no application is known to be connected. Time during which the store
   * cannot be reached does not count, since leases may expire for that reason alone.
   */
  absentSince: number | undefined;
  readonly onStop: () => void;
}

/** Starts a wait. */
export function waitForAnswer(call: CallWait): BegunWait {
  const asked = performance.now();
  const state: WaitState = {
    settle: undefined,
    timer: undefined,
    asked,
    absentSince: asked,
    onStop: () => lost(call, state, 'The call ended before the application answered.'),
  };
  const answer = new Promise<FoundCall>((resolve, reject) => {
    state.settle = { resolve, reject };
  });
  arm(call, state);
  if (call.stop.stopped) state.onStop();
  else call.stop.watch(state.onStop);
  return {
    answer,
    look: () => {
      look(call, state).catch(() => {});
    },
    take: (found) => heed(call, state, found),
  };
}

function arm(call: CallWait, state: WaitState): void {
  state.timer = setTimeout(() => {
    tick(call, state)
      .catch(() => {
        // If the store does not answer, the wait goes on for as long as the call may take.
        state.absentSince = undefined;
      })
      .finally(() => {
        if (state.settle !== undefined) arm(call, state);
      });
  }, call.leaseMs / looksPerLease);
}

async function tick(call: CallWait, state: WaitState): Promise<void> {
  const { code, store, leaseMs } = call;
  const attempt = await look(call, state);
  if (state.settle === undefined || attempt === undefined) return;
  const time = performance.now();
  const isPresent = (await documentsOf(store, code, [keys.applicationLease]))[0] !== undefined;
  state.absentSince =
    isPresent || (attempt > 0 && call.sentAway()) ? undefined : (state.absentSince ?? time);
  if (state.absentSince !== undefined && time - state.absentSince >= leaseMs)
    return lost(
      call,
      state,
      attempt === 0
        ? 'No application is connected to the session.'
        : 'The application went away before it answered, and did not come back in time. The call ' +
            'may have run.',
    );
  if (state.settle === undefined || !isPresent || time - state.asked < leaseMs) return;
  state.asked = time;
  await call.again(attempt + 1);
}

/** Reads the document. @returns the deliveries so far; undefined for a missing document */
async function look(call: CallWait, state: WaitState): Promise<number | undefined> {
  const found = await findCall(call.store, call.code, call.id);
  if (found === undefined) lost(call, state, sessionOver);
  else heed(call, state, found);
  return found?.document.attempt;
}

/** Ends the wait if the call has ended. */
function heed(call: CallWait, state: WaitState, found: FoundCall): void {
  const { document } = found;
  if (document.answer !== undefined) finish(call, state, ({ resolve }) => resolve(found));
  else if (document.state === 'lost')
    lost(
      call,
      state,
      'The application that had the call went away before it answered. The call may have run.',
    );
  else if (document.state === 'ended') lost(call, state, 'The call was ended elsewhere.');
}

function lost(call: CallWait, state: WaitState, message: string): void {
  finish(call, state, ({ reject }) => reject(connectionFault(message)));
}

function finish({ stop }: CallWait, state: WaitState, end: (settled: Settle) => void): void {
  const { settle } = state;
  if (settle === undefined) return;
  state.settle = undefined;
  clearTimeout(state.timer);
  stop.unwatch(state.onStop);
  end(settle);
}
