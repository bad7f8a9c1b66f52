/**
 * Watches the calls of a host, and ends those whose workers have died. Each check also renews the
 * records of the calls, which expire by themselves when the host dies.
 */
import { lost, replaced } from './faults.ts';
import { states } from './fleet-link.ts';
import type { FleetRun } from './fleet-run.ts';

/** Most calls in one query to Redis. */
const chunk = 500;

/** The part of `leaseMs` that a worker's lease lasts. The rest is for noticing that it expired. */
export const leasePart = 0.8;
/** The part of `leaseMs` between two checks. */
const lookPart = 0.1;

/** The number of unanswered checks that take a whole `leaseMs`. */
const maxMissed = 1 / lookPart;

/**
 * The number of checks in a row that must find a lease expired before it counts even though Redis
 * seems to have been away. When each answer is slow, Redis always seems to have been away.
 */
const maxLapsed = 2 / lookPart;

/** The part of a {@link FleetLink} that the watch needs. */
export interface Watched {
  /** Returns the state of each call, in the order of `ids`. */
  watch(ids: readonly string[]): Promise<readonly unknown[]>;
  /** Everything that workers sent before this time has been processed; see `Mailbox`. */
  readonly readUntil: number;
}

export class FleetWatch {
  readonly #leaseMs: number;
  readonly #runs: ReadonlyMap<string, FleetRun>;
  readonly #link: () => Watched | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /**
   * The number of checks in a row without an answer. A count is used instead of a time, because
   * this process may have been too busy to check.
   */
  #missed = 0;
  /** The time of the last answer of Redis. */
  #answeredAt = 0;
  /** Expired leases do not count before this time, because workers could not renew them. */
  #lenientUntil = 0;

  constructor(
    leaseMs: number,
    runs: ReadonlyMap<string, FleetRun>,
    link: () => Watched | undefined,
  ) {
    this.#leaseMs = leaseMs;
    this.#runs = runs;
    this.#link = link;
  }

  /** Starts checking. It stops by itself when no call is left. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#missed = 0;
    this.#answeredAt = performance.now();
    this.#timer = setInterval(() => void this.#tick(), this.#leaseMs * lookPart);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    if (this.#runs.size === 0) return this.stop();
    if (this.#missed++ > maxMissed) this.#cutOff();
    if (this.#looking) return;
    this.#looking = true;
    try {
      const runs = [...this.#runs.values()];
      for (let at = 0; at < runs.length; at += chunk) {
        const link = this.#link();
        const some = runs.slice(at, at + chunk);
        if (link === undefined) return;
        const seen = await link.watch(some.map(({ id }) => id));
        this.#answered();
        for (const [index, run] of some.entries()) this.#judge(run, seen[index], link.readUntil);
      }
    } catch {
      // The next check follows soon.
    } finally {
      this.#looking = false;
    }
  }

  #answered(): void {
    const now = performance.now();
    // Redis or this process was away. Perhaps the workers could not reach Redis either.
    if (now - this.#answeredAt > this.#leaseMs / 2)
      this.#lenientUntil = now + this.#leaseMs * leasePart;
    this.#answeredAt = now;
    this.#missed = 0;
  }

  /** Ends the calls that have started, because Redis has not answered for a whole lease. */
  #cutOff(): void {
    for (const run of this.#runs.values())
      if (run.started)
        run.fail(lost('fleet_unreachable', 'The worker that runs the call cannot be reached.'));
  }

  #judge(run: FleetRun, state: unknown, readUntil: number): void {
    const now = performance.now();
    switch (state) {
      case states.offered:
        run.strangeSince = undefined;
        return;
      case states.claimed:
        run.started = true;
        run.strangeSince = undefined;
        run.lapsed = 0;
        return;
      case states.lapsed:
        run.started = true;
        if (now >= this.#lenientUntil || ++run.lapsed >= maxLapsed)
          run.fail(lost('worker_lost', 'The worker that ran the call has died.'));
        return;
      case states.stale:
        run.fail(replaced('waited'));
        return;
      case states.done:
        run.started = true;
    }
    // There is no record, or it says that the call is done. The outcome should arrive soon, unless
    // Redis has lost it.
    run.strangeSince ??= now;
    const isRead = readUntil >= run.strangeSince;
    if (isRead && now - run.strangeSince >= this.#leaseMs * leasePart)
      run.fail(lost('record_lost', 'Redis has lost the call.'));
  }
}
