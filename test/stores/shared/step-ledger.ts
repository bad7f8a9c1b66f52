/** Processes that write into one store until they are killed, and what must be in it then. */
import { expect } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { program } from '../../runner/programs.ts';
import { childProcesses } from './child-processes.ts';

const ledger = { shared: 'ledger' } as const;

/** @param where the store, as `openStore` reads it */
export function stepWriters(where: readonly string[]) {
  const answered: string[] = [];
  const children = childProcesses((line) => answered.push(line));
  return {
    answered,
    start: (name: string) =>
      children.start(program('test/stores/shared/step-writer.ts'), name, ...where),
    /** Waits until so many more steps were answered. */
    more: async (count: number): Promise<void> => {
      const goal = answered.length + count;
      await expect
        .poll(() => answered.length, { interval: 20, timeout: 20_000 })
        .toBeGreaterThan(goal);
    },
    end: children.end,
  };
}

/** Reads what was written: everything that was answered, once, and as much in the sums. */
export async function expectWhole(store: Store, answered: readonly string[]): Promise<number> {
  const written = await all(store);
  expect(answered.filter((key) => !written.includes(key))).toEqual([]);
  expect(new Set(written).size).toBe(written.length);
  const { results } = await store.apply(ledger, [
    { op: 'sum', key: 'all', amount: 0n, windowMs: 3_600_000 },
    ...Array.from({ length: 7 }, (_, n) => ({ op: 'sum' as const, key: `of ${n}`, amount: 0n })),
  ]);
  const [used, ...parts] = (results ?? []).map((one) => one.used);
  expect(used).toBe(BigInt(written.length));
  expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(used);
  for (let at = 0; at < written.length; at += 1_000) {
    const keys = written.slice(at, at + 1_000);
    const { results } = await store.apply(ledger, [{ op: 'get', keys }]);
    expect(results?.[0].map((found) => found?.value)).toEqual(keys);
  }
  return written.length;
}

async function all(store: Store): Promise<string[]> {
  const values: string[] = [];
  for (;;) {
    const answer = await store.apply(ledger, [
      { op: 'read', log: 'written', after: values.length, limit: 1_000 },
    ]);
    const [{ entries, last } = expect.unreachable()] = answer.results ?? [];
    // Without gaps.
    expect(entries.map(({ id }) => id)).toEqual(entries.map((_, at) => values.length + at + 1));
    values.push(...entries.map(({ value }) => value));
    if (values.length >= last) return values;
  }
}
