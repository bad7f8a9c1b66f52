/**
 * Leases: documents that end unless their holder renews them. The value is the holder, and the
 * version tells one holding from another.
 */
import type { KeptStore } from './kept-store.ts';

/**
 * Takes a free lease or, with `steal`, also a held one.
 * @returns the version of the lease; undefined if another holder has it, or if the session is gone
 */
export async function takeLease(
  store: KeptStore,
  code: string,
  key: string,
  { holder, ttlMs, steal = false }: { holder: string; ttlMs: number; steal?: boolean },
): Promise<number | undefined> {
  const set = { op: 'set', key, value: holder, ttlMs } as const;
  const free = steal ? set : { ...set, version: 0 };
  const taken = await store.apply({ session: code }, [free]);
  if (taken.results !== undefined) return taken.results[0];
  // An earlier answer that says that this holder has it may have been lost.
  if (taken.found?.value !== holder) return undefined;
  const { version } = taken.found;
  return (await store.apply({ session: code }, [{ ...set, version }])).results?.[0];
}

/** Renews a lease. False if it has ended or was taken again, or if the session is gone. */
export async function renewLease(
  store: KeptStore,
  code: string,
  key: string,
  version: number,
  ttlMs: number,
): Promise<boolean> {
  const touch = { op: 'touch', key, version, ttlMs } as const;
  return (await store.apply({ session: code }, [touch])).results !== undefined;
}
