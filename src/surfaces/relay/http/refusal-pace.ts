/**
 * Slows down a client whose requests are refused again and again. One refusal costs the node
 * little, but thousands per second would keep it from serving other sessions.
 */

/** Most refusals within a second that have no consequence. */
const freeRefusals = 20;
const secondMs = 1_000;
/** A slowed client may use at most one part in this many of the node's time. */
const share = 20;
/** Milliseconds between two requests of a slowed client. */
const leastGapMs = 50;
const maxGapMs = 1_000;
/** Milliseconds that a request waits at most. */
const maxWaitMs = 10_000;

/** What a node remembers of a client that was refused. */
interface Refused {
  /** Refusals since `startedAt`. */
  count: number;
  startedAt: number;
  /** The client is slow until then. */
  slowUntil: number;
  /** When its next request may start. */
  nextAt: number;
  gapMs: number;
}

/** The pace of each client. The caller names the clients; each is a side of a session. */
export interface RefusalPace {
  /**
   * Called before a request is processed. Resolves when the request may start. Undefined if it may
   * start at once.
   */
  enter(client: string): Promise<void> | undefined;
  /** Called after each refused request. @param workMs milliseconds that the request took */
  refused(client: string, workMs: number): void;
  /** The number of clients that are remembered. */
  readonly size: number;
}

/** Options of {@link createRefusalPace}. */
export interface RefusalPaceOptions {
  /** Ends all waits. */
  readonly signal: AbortSignal;
  /** Monotonic milliseconds. @default performance.now */
  readonly now?: () => number;
  /** Resolves after some milliseconds. @default a timer that also ends when the signal aborts */
  readonly wait?: (ms: number) => Promise<void>;
}

/**
 * Makes the pace of a node. A client with more than 20 refusals within a second is slowed until it
 * has not been refused for two seconds: its requests then start one after another, at least 50 ms
 * apart, and further apart if they are expensive. Clients that were not refused are not touched.
 */
export function createRefusalPace({
  signal,
  now = () => performance.now(),
  wait = timers(signal),
}: RefusalPaceOptions): RefusalPace {
  const clients = new Map<string, Refused>();
  let sweepAt = 0;
  /** Forgets clients whose second of counting has passed and that are no longer slowed. */
  const sweep = (at: number): void => {
    if (at < sweepAt) return;
    sweepAt = at + secondMs;
    for (const [client, { startedAt, slowUntil }] of clients)
      if (at >= Math.max(startedAt + secondMs, slowUntil)) clients.delete(client);
  };
  return {
    enter(client) {
      if (clients.size === 0) return undefined;
      const known = clients.get(client);
      const at = now();
      if (known === undefined || at >= known.slowUntil || signal.aborted) return undefined;
      known.nextAt = Math.min(Math.max(at, known.nextAt) + known.gapMs, at + maxWaitMs);
      return wait(known.nextAt - at);
    },
    refused(client, workMs) {
      const at = now();
      sweep(at);
      let known = clients.get(client);
      if (known === undefined) {
        known = { count: 0, startedAt: at, slowUntil: at, nextAt: at, gapMs: leastGapMs };
        clients.set(client, known);
      }
      if (at >= known.startedAt + secondMs && at >= known.slowUntil) {
        known.count = 0;
        known.startedAt = at;
      }
      known.count++;
      if (known.count <= freeRefusals) return;
      // Longer than the gap, so that the next refusal finds the client still slow.
      known.slowUntil = at + secondMs + maxGapMs;
      known.gapMs = Math.min(maxGapMs, Math.max(leastGapMs, share * workMs));
    },
    get size() {
      return clients.size;
    },
  };
}

/** Waits that all end when the signal aborts. */
function timers(signal: AbortSignal): (ms: number) => Promise<void> {
  const waiting = new Set<() => void>();
  signal.addEventListener('abort', () => {
    for (const done of waiting) done();
  });
  return (ms) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
    });
}
