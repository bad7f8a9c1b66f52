/**
 * The leases of one session in memory. They use a monotonic clock, so that a jump of the wall clock
 * neither lengthens nor ends them.
 */
import type { LeaseHolder } from '../ports/store.ts';

interface Lease {
  readonly holder: string;
  readonly epoch: number;
  /**
   * Monotonic milliseconds; 0 once the lease was released. The entry is kept, so that the next
   * epoch is higher than this one.
   */
  until: number;
}

/** Leases by name. The map is plain data, because there are many sessions. */
export type Leases = Map<string, Lease>;

function held(leases: Leases, name: string, epoch?: number): Lease | undefined {
  const found = leases.get(name);
  if (found === undefined || found.until <= performance.now()) return undefined;
  return epoch === undefined || epoch === found.epoch ? found : undefined;
}

/** Whether a lease is held with this epoch. */
export function isHeld(leases: Leases, name: string, epoch: number): boolean {
  return held(leases, name, epoch) !== undefined;
}

export function acquireLease(
  leases: Leases,
  name: string,
  holder: string,
  ttlMs: number,
  steal: boolean,
): number | undefined {
  const now = held(leases, name);
  if (now !== undefined && now.holder !== holder && !steal) return undefined;
  const epoch = (leases.get(name)?.epoch ?? 0) + 1;
  leases.set(name, { holder, epoch, until: performance.now() + ttlMs });
  return epoch;
}

export function renewLease(leases: Leases, name: string, epoch: number, ttlMs: number): boolean {
  const found = held(leases, name, epoch);
  if (found !== undefined) found.until = performance.now() + ttlMs;
  return found !== undefined;
}

export function releaseLease(leases: Leases, name: string, epoch: number): boolean {
  const found = held(leases, name, epoch);
  if (found !== undefined) found.until = 0;
  return found !== undefined;
}

export function leaseHolder(leases: Leases, name: string): LeaseHolder | undefined {
  const found = held(leases, name);
  return (
    found && {
      holder: found.holder,
      epoch: found.epoch,
      remainingMs: found.until - performance.now(),
    }
  );
}
