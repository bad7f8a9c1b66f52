/**
 * Keeps a line to the relay: one after the other, by the best way that works, with pauses that grow
 * while nothing does.
 */
import { attempt, type Ending, type LineMemory } from './attempt.ts';
import { maxRetryAfterMs, retryMs } from './backoff.ts';
import type { LineEvent, Transport } from './line.ts';
import type { RelayTransport } from './options.ts';
import { isFinal, type RelayClientError } from './relay-client-error.ts';
import type { Scope } from './scope.ts';
import { sleepUntilWoken } from './wake.ts';

/** What hears of the link. */
export interface LinkListener {
  /** A line stands. */
  up(transport: RelayTransport): void;
  /** No line stands; the next one is tried in so many milliseconds. */
  down(error: RelayClientError, retryInMs: number): void;
  /** No line will stand any more. */
  over(error: RelayClientError): void;
  /** Frames can be sent; undefined: no longer. */
  speak(send: ((frame: string) => void) | undefined): void;
  event(event: LineEvent): void;
}

/** What a link needs. */
export interface LinkWorld {
  readonly life: Scope;
  readonly random: () => number;
  /** Best first; at least one. */
  readonly transports: readonly Transport[];
  /** Which running application this is. */
  readonly client: string;
}

/**
 * A relay whose lines stand for less is not believed twice in a row when it says at once that it
 * will be back soon.
 */
const shortMs = 10_000;
/** The lease of a relay that does not tell it. */
const usualLeaseMs = 10_000;
/** Failures in a row by which a way is found not to work. */
const maxFaults = 2;
/** Time after which a better way is tried again, at the next reconnection. */
const betterAfterMs = 600_000;

/** Runs until the life ends or the link is over; resolves in any case. */
export async function keepLink(
  { life, random, transports, client }: LinkWorld,
  listener: LinkListener,
): Promise<void> {
  const memory: LineMemory = {
    client,
    lastId: undefined,
    heartbeatMs: 30_000,
    leaseMs: usualLeaseMs,
    leastMs: 0,
  };
  let index = 0;
  /** Attempts in a row since a line stood last, that line's end among them. */
  let failures = 0;
  /** Short lines in a row, and attempts between them. */
  let short = 0;
  let hasStood = false;
  let faults = 0;
  let loweredAt = 0;
  /** True where there is another way to try, and reason for it. */
  const lowers = ({ fault, error, stoodMs: stood }: Ending): boolean => {
    if (fault === 'transport') faults += 1;
    else if (stood !== undefined) faults = 0;
    if (
      index + 1 >= transports.length ||
      !(faults >= maxFaults || (fault === 'transport' && error.code === 'silent'))
    )
      return false;
    index += 1;
    faults = 0;
    loweredAt = performance.now();
    return true;
  };
  for (;;) {
    if (index > 0 && performance.now() - loweredAt > betterAfterMs) index = 0;
    const transport = transports[index] as Transport;
    const ending = await attempt(life, transport, memory, {
      up: () => listener.up(transport.name),
      speak: listener.speak,
      event: listener.event,
    });
    listener.speak(undefined);
    if (life.ended) return;
    if (ending.fault === 'over' || isFinal(ending.error)) return listener.over(ending.error);
    const stood = ending.stoodMs !== undefined;
    hasStood ||= stood;
    failures = stood ? 1 : failures + 1;
    short = (ending.stoodMs ?? 0) >= shortMs ? 1 : short + 1;
    const lowered = lowers(ending);
    // Whose line has stood may have calls that wait for it: away for half a lease at most, there is
    // time for another attempt before they end.
    const mostMs = hasStood ? memory.leaseMs / 2 : undefined;
    const waitMs = lowered
      ? 0
      : (goodbyeWait(ending, short) ??
        retryMs(failures, random, Math.max(memory.leastMs, ending.retryInMs ?? 0), mostMs));
    listener.down(ending.error, waitMs);
    try {
      // When the relay has named a time, there is no use in coming earlier.
      const woken = await sleepUntilWoken(life, waitMs, ending.retryInMs === undefined);
      // Another network, perhaps with less in the way.
      if (woken === 'online') index = 0;
    } catch {
      return;
    }
  }
}

/**
 * A relay that says goodbye knows best when it is back; it is believed once, not for ever.
 * Undefined where it is not.
 */
function goodbyeWait({ error, retryInMs, stoodMs }: Ending, short: number): number | undefined {
  if (retryInMs === undefined || error.status !== undefined || stoodMs === undefined || short > 1)
    return undefined;
  return Math.min(maxRetryAfterMs, Math.max(0, retryInMs));
}
