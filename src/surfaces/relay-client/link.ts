/**
 * Keeps a line to the relay: one after another, over the best transport that works, with growing
 * pauses while none does.
 */
import { attempt, type Ending, type LineMemory } from './attempt.ts';
import { maxRetryAfterMs, retryMs } from './backoff.ts';
import type { LineEvent, Transport } from './line.ts';
import type { RelayTransport } from './options.ts';
import { isFinal, type RelayClientError } from './relay-client-error.ts';
import type { Scope } from './scope.ts';

/** Receives the events of the link. */
export interface LinkListener {
  /** A line is up. */
  up(transport: RelayTransport): void;
  /** No line is up. @param retryInMs milliseconds until the next attempt */
  down(error: RelayClientError, retryInMs: number): void;
  /** No line will come up again. */
  over(error: RelayClientError): void;
  /** Frames can be sent. Undefined if they no longer can. */
  addDecision(send: ((frame: string) => void) | undefined): void;
  event(event: LineEvent): void;
}

/** What a link needs. */
export interface LinkWorld {
  readonly life: Scope;
  readonly random: () => number;
  /** Best first; at least one. */
  readonly transports: readonly Transport[];
  /** Identifies this running application. */
  readonly client: string;
  /**
   * Registers what to call when the application wants an attempt now.
   * @returns a function that removes it
   * @default the application cannot ask
   */
  readonly whenAsked?: (run: () => void) => () => void;
}

/**
 * A line that was up for less than this is short. After a short line, the time that the relay names
 * for its return is not believed twice in a row.
 */
const shortMs = 10_000;
/** The lease of a relay that does not name one. */
const usualLeaseMs = 10_000;
/** After this many failures in a row a transport counts as not working. */
const maxFaults = 2;
/** Milliseconds after which a better transport is tried again, at the next reconnection. */
const betterAfterMs = 600_000;

interface State {
  readonly memory: LineMemory;
  /** Of the transport in use. */
  index: number;
  /** Attempts in a row without a line that was up, counted from the end of the last such line. */
  failures: number;
  /** Short lines in a row, and the attempts between them. */
  short: number;
  /** A line was up at some time. */
  wasUp: boolean;
  /** Faults of the transport in a row. */
  faults: number;
  /** When a worse transport was chosen, by `performance.now()`. */
  loweredAt: number;
}

/** Runs until the life ends or the link is over. Never rejects. */
export async function keepLink(world: LinkWorld, listener: LinkListener): Promise<void> {
  const { life, transports, client } = world;
  const state: State = {
    memory: {
      client,
      lastId: undefined,
      heartbeatMs: 30_000,
      leaseMs: usualLeaseMs,
      leastMs: 0,
    },
    index: 0,
    failures: 0,
    short: 0,
    wasUp: false,
    faults: 0,
    loweredAt: 0,
  };
  for (;;) {
    if (state.index > 0 && performance.now() - state.loweredAt > betterAfterMs) state.index = 0;
    const transport = transports[state.index] as Transport;
    const ending = await attempt(life, transport, state.memory, {
      up: () => listener.up(transport.name),
      addDecision: listener.addDecision,
      event: listener.event,
    });
    listener.addDecision(undefined);
    if (life.ended) return;
    if (ending.fault === 'over' || isFinal(ending.error)) return listener.over(ending.error);
    const waitMs = waitAfter(state, ending, world);
    listener.down(ending.error, waitMs);
    try {
      // If the relay has named a time, an earlier attempt is of no use.
      const isWakeable = ending.retryInMs === undefined;
      const woken = await sleepUntilWoken(life, waitMs, isWakeable, world.whenAsked);
      // This may be another network, on which a better transport works.
      if (woken === 'online') state.index = 0;
    } catch {
      return;
    }
  }
}

/** Milliseconds until the next attempt. */
function waitAfter(state: State, ending: Ending, { random, transports }: LinkWorld): number {
  const { memory } = state;
  const { upMs, retryInMs } = ending;
  const wasUp = upMs !== undefined;
  state.wasUp ||= wasUp;
  state.failures = wasUp ? 1 : state.failures + 1;
  state.short = (upMs ?? 0) >= shortMs ? 1 : state.short + 1;
  if (lowers(state, ending, transports.length)) return 0;
  // Calls may be waiting for an application that was connected. With a pause of at most half a
  // lease there is time for another attempt before they end.
  const maxMs = state.wasUp ? memory.leaseMs / 2 : undefined;
  return (
    goodbyeWait(ending, state.short) ??
    retryMs(state.failures, random, Math.max(memory.leastMs, retryInMs ?? 0), maxMs)
  );
}

/** Chooses the next transport if there is a reason to. @returns whether it did */
function lowers(state: State, { fault, error, upMs }: Ending, count: number): boolean {
  if (fault === 'transport') state.faults += 1;
  else if (upMs !== undefined) state.faults = 0;
  if (
    state.index + 1 >= count ||
    !(state.faults >= maxFaults || (fault === 'transport' && error.code === 'silent'))
  )
    return false;
  state.index += 1;
  state.faults = 0;
  state.loweredAt = performance.now();
  return true;
}

/**
 * The wait that a relay named in its goodbye, which it knows best. It is believed only once in a
 * row. Undefined if it is not believed.
 */
function goodbyeWait({ error, retryInMs, upMs }: Ending, short: number): number | undefined {
  if (retryInMs === undefined || error.status !== undefined || upMs === undefined || short > 1)
    return undefined;
  return Math.min(maxRetryAfterMs, Math.max(0, retryInMs));
}

// Ends a wait early if the network is back, the page becomes visible, or the application asks.

interface Source {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
}

/**
 * Why a wait is over: its time is up, the network is back, the page is visible again, or the
 * application wants an attempt now.
 */
export type Woken = 'time' | 'online' | 'visible' | 'asked';

/**
 * Waits for some milliseconds. If `wakeable`, the wait ends early when the network is back or the
 * page becomes visible. Rejects when the scope ends.
 * @param whenAsked registers what to call when the application wants an attempt now, and returns a
 * function that removes it
 */
function sleepUntilWoken(
  scope: Scope,
  ms: number,
  wakeable: boolean,
  whenAsked: (run: () => void) => () => void = () => () => {},
): Promise<Woken> {
  const inner = scope.child();
  return new Promise<Woken>((resolve, reject) => {
    inner.onEnd(reject);
    inner.after(ms, () => resolve('time'));
    inner.onEnd(whenAsked(() => resolve('asked')));
    if (!wakeable) return;
    const page = globalThis as Source & {
      readonly document?: Source & { readonly visibilityState?: string };
    };
    listen(inner, page, 'online', () => resolve('online'));
    listen(inner, page.document, 'visibilitychange', () => {
      if (page.document?.visibilityState === 'visible') resolve('visible');
    });
  }).finally(() => inner.end(undefined));
}

function listen(
  scope: Scope,
  source: Source | undefined,
  type: string,
  listener: () => void,
): void {
  if (typeof source?.addEventListener !== 'function') return;
  source.addEventListener(type, listener);
  scope.onEnd(() => source.removeEventListener?.(type, listener));
}
