/**
 * Looks after the calls of a host: whether their workers live. It keeps their records, which end
 * by themselves when the host does.
 */
import { lost } from './faults.ts';
import { states } from './fleet-link.ts';
import type { FleetRun } from './fleet-run.ts';

/** The most calls that Redis is asked about at once. */
const chunk = 500;

/** A worker's lease lasts this part of `leaseMs`. Looking takes some of the rest. */
export const leasePart = 0.8;
const lookPart = 0.1;

export class FleetWatch {
  readonly #leaseMs: number;
  readonly #runs: ReadonlyMap<string, FleetRun>;
  readonly #look: (ids: readonly string[]) => Promise<readonly unknown[]>;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /** When Redis last answered. */
  #answeredAt = 0;
  /** Leases that ran out before are not held against workers, since they could not renew them. */
  #lenientUntil = 0;

  constructor(
    leaseMs: number,
    runs: ReadonlyMap<string, FleetRun>,
    look: (ids: readonly string[]) => Promise<readonly unknown[]>,
  ) {
    this.#leaseMs = leaseMs;
    this.#runs = runs;
    this.#look = look;
  }

  /** Looks until there are no calls any more. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#answeredAt = performance.now();
    this.#timer = setInterval(() => void this.#tick(), this.#leaseMs * lookPart);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    if (this.#runs.size === 0) return this.stop();
    const now = performance.now();
    if (now - this.#answeredAt > this.#leaseMs) this.#cutOff();
    if (this.#looking) return;
    this.#looking = true;
    try {
      const runs = [...this.#runs.values()];
      for (let at = 0; at < runs.length; at += chunk) {
        const some = runs.slice(at, at + chunk);
        const seen = await this.#look(some.map(({ id }) => id));
        this.#answered();
        for (const [index, run] of some.entries()) this.#judge(run, seen[index]);
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
  }

  /** Redis has not answered for a whole lease. */
  #cutOff(): void {
    for (const run of this.#runs.values())
      if (run.started)
        run.fail(lost('fleet_unreachable', 'The worker that runs the call cannot be reached.'));
  }

  #judge(run: FleetRun, state: unknown): void {
    if (state === states.claimed || state === states.offered) run.strangeSince = undefined;
    if (state === states.claimed || state === states.done) run.started = true;
    const now = performance.now();
    if (state === states.lapsed) {
      run.started = true;
      if (now >= this.#lenientUntil)
        run.fail(lost('worker_lost', 'The worker that ran the call has died.'));
    } else if (state === states.gone || state === states.done) {
      // The record, or the outcome, may be on its way.
      run.strangeSince ??= now;
      if (now - run.strangeSince >= this.#leaseMs / 2)
        run.fail(lost('record_lost', 'Redis has lost the call.'));
    }
  }
}
