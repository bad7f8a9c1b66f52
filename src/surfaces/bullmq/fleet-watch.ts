/**
 * Looks after the calls of a host: whether their workers live. It keeps their records, which end
 * by themselves when the host does.
 */
import { lost, replaced } from './faults.ts';
import { states } from './fleet-link.ts';
import type { FleetRun } from './fleet-run.ts';

/** The most calls that Redis is asked about at once. */
const chunk = 500;

/** A worker's lease lasts this part of `leaseMs`. Looking takes some of the rest. */
export const leasePart = 0.8;
const lookPart = 0.1;

/** So many looks without an answer are a whole lease. */
const mostMissed = 1 / lookPart;

/**
 * A lease that so many looks in a row have seen run out counts, whatever became of Redis meanwhile:
 * where each answer takes long, Redis always seems to have been away.
 */
const mostLapsed = 2 / lookPart;

/** What the watch needs of the connection. */
export interface Watched {
  /** How calls are, in their order. */
  watch(ids: readonly string[]): Promise<readonly unknown[]>;
  /** What workers sent before this time has been taken, as `performance.now` has it. */
  readonly readUntil: number;
}

export class FleetWatch {
  readonly #leaseMs: number;
  readonly #runs: ReadonlyMap<string, FleetRun>;
  readonly #link: () => Watched | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /**
   * How many looks in a row had no answer. Time alone would not tell, since this process may have
   * been busy with other things.
   */
  #missed = 0;
  /** When Redis last answered. */
  #answeredAt = 0;
  /** Leases that ran out before are not held against workers, since they could not renew them. */
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

  /** Looks until there are no calls any more. */
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
    if (this.#missed++ > mostMissed) this.#cutOff();
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
      // It looks again soon.
    } finally {
      this.#looking = false;
    }
  }

  #answered(): void {
    const now = performance.now();
    // Redis, or this process, was away. So were the workers, perhaps.
    if (now - this.#answeredAt > this.#leaseMs / 2)
      this.#lenientUntil = now + this.#leaseMs * leasePart;
    this.#answeredAt = now;
    this.#missed = 0;
  }

  /** Redis has not answered for a whole lease. */
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
        if (now >= this.#lenientUntil || ++run.lapsed >= mostLapsed)
          run.fail(lost('worker_lost', 'The worker that ran the call has died.'));
        return;
      case states.stale:
        run.fail(replaced('waited'));
        return;
      case states.done:
        run.started = true;
    }
    // The outcome is on its way, unless Redis has lost it.
    run.strangeSince ??= now;
    const isRead = readUntil >= run.strangeSince;
    if (isRead && now - run.strangeSince >= this.#leaseMs * leasePart)
      run.fail(lost('record_lost', 'Redis has lost the call.'));
  }
}
