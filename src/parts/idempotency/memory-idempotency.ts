/** The outcomes of calls with an idempotency key, in the memory of this process. */

import type { ClaimAnswer, IdempotencyClaim, IdempotencyStore } from '../../api/idempotency.ts';
import { inProcess } from '../../values/limits/in-process.ts';
import {
  fn,
  readOptions,
  type TableOf,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';

/** Options of {@link memoryIdempotency}. */
export interface MemoryIdempotencyOptions {
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * The most keys that are kept at the same time. A call with a further key is refused
   * (`idempotency_unavailable`) until one expires. From 1.
   * @default 100_000
   */
  readonly maxKeys?: number | undefined;
  /**
   * The most characters of outcomes that are kept at the same time. While the store is full, calls
   * with further keys are refused. The outcomes of running calls may exceed the limit. From 1.
   * @default 67_108_864
   */
  readonly maxChars?: number | undefined;
}

const table = {
  now: fn<() => number>(),
  maxKeys: withDefault(wholeNumber(1), 100_000),
  maxChars: withDefault(wholeNumber(1), 67_108_864),
} satisfies TableOf<MemoryIdempotencyOptions>;

interface Kept {
  readonly input: string;
  holder: string;
  /** Epoch milliseconds. */
  leaseUntil: number;
  /** Epoch milliseconds. */
  expiresAt: number;
  outcome: string | undefined;
}

/**
 * A store for a registry's `idempotency` in the memory of this process. It answers at once. Give
 * the same one to several registries to let them share keys. A key lasts no longer than the
 * process, and no longer than its `ttlMs`. Outcomes are never dropped before they expire, because
 * their calls could then run twice. When the store is full, further calls with a key are refused.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry, memoryIdempotency } from 'host-tools';
 *
 * const registry = new HostToolRegistry({ idempotency: { store: memoryIdempotency() } });
 * ```
 */
// Longer than 60 lines, since its short functions share the records.
export function memoryIdempotency(options: MemoryIdempotencyOptions = {}): IdempotencyStore {
  const { now, maxKeys, maxChars } = readOptions('memoryIdempotency', options, table);
  const clock = now === undefined ? () => Date.now() : () => timeOf(now);
  const records = new Map<string, Kept>();
  let cursor = records.entries();
  let chars = 0;

  const drop = (key: string, record: Kept): void => {
    chars -= record.outcome?.length ?? 0;
    records.delete(key);
  };
  const find = (key: string, time: number): Kept | undefined => {
    const record = records.get(key);
    if (record === undefined || record.expiresAt > time) return record;
    drop(key, record);
    return undefined;
  };
  /** The record of a holder whose call has not ended. */
  const held = (key: string, holder: string, time: number): Kept | undefined => {
    const record = find(key, time);
    return record?.holder === holder && record.outcome === undefined ? record : undefined;
  };
  /** Checks some records, continuing where the last check stopped, and drops expired ones. */
  const tidy = (count: number, time: number): void => {
    for (let index = Math.min(count, records.size); index > 0; index--) {
      let step = cursor.next();
      if (step.done === true) {
        cursor = records.entries();
        step = cursor.next();
        if (step.done === true) return;
      }
      const [key, record] = step.value;
      if (record.expiresAt <= time) drop(key, record);
    }
  };
  const isFull = (): boolean => records.size >= maxKeys || chars >= maxChars;
  const makeRoom = (time: number): void => {
    // More are dropped than added, in small steps, so that no call waits for a large clean-up.
    tidy(isFull() ? 1_000 : 8, time);
    if (isFull())
      throw new Error(
        `memoryIdempotency: expected at most ${maxKeys} keys with ${maxChars} characters of ` +
          'outcomes at the same time, got a call with a further key. Raise `maxKeys` or ' +
          '`maxChars`, shorten `ttlMs`, or keep them in Redis.',
      );
  };
  const take = (record: Kept, { holder, leaseMs, ttlMs }: Asking, time: number): ClaimAnswer => {
    record.holder = holder;
    record.leaseUntil = time + leaseMs;
    record.expiresAt = time + leaseMs + ttlMs;
    return { state: 'claimed' };
  };

  return inProcess({
    claim(claim) {
      const time = clock();
      const { key, input, holder } = claim;
      const found = find(key, time);
      if (found === undefined) {
        makeRoom(time);
        const record = { input, holder, leaseUntil: 0, expiresAt: 0, outcome: undefined };
        records.set(key, record);
        return take(record, claim, time);
      }
      if (found.input !== input) return { state: 'conflict' };
      if (found.outcome !== undefined) return { state: 'done', outcome: found.outcome };
      if (found.holder === holder) return take(found, claim, time);
      if (found.leaseUntil > time) return { state: 'running', leaseMs: found.leaseUntil - time };
      return claim.takeOver ? take(found, claim, time) : { state: 'lost' };
    },
    renew(key, holder, { leaseMs, ttlMs }) {
      const time = clock();
      const record = held(key, holder, time);
      if (record === undefined) return false;
      take(record, { holder, leaseMs, ttlMs }, time);
      return true;
    },
    finish(key, holder, outcome, ttlMs) {
      const time = clock();
      const record = held(key, holder, time);
      if (record === undefined) return false;
      record.outcome = outcome;
      record.expiresAt = time + ttlMs;
      chars += outcome.length;
      return true;
    },
    release(key, holder) {
      const record = held(key, holder, clock());
      if (record !== undefined) drop(key, record);
    },
  });
}

type Asking = Pick<IdempotencyClaim, 'holder' | 'leaseMs' | 'ttlMs'>;

function timeOf(now: () => number): number {
  try {
    const time: unknown = now();
    if (typeof time === 'number' && Number.isFinite(time)) return time;
  } catch {
    // Continues to the machine's clock below.
  }
  return Date.now();
}
