import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SmallSet } from '../../../src/values/limits/small-set.ts';

describe('a small set', () => {
  test(
    'is an array up to 32 entries and a Set beyond, and is an array again at 8, so that a size ' +
      'that swings changes nothing',
    () => {
      const small = new SmallSet<number>();
      const stores: string[] = [];
      const note = (): void => {
        const store = Array.isArray(small.values()) ? 'array' : 'set';
        if (!stores.at(-1)?.startsWith(store)) stores.push(`${store} at ${small.size}`);
      };
      for (let entry = 0; entry < 40; entry += 1) {
        small.add(entry);
        note();
      }
      for (let entry = 0; entry < 40; entry += 1) {
        small.delete(entry);
        note();
      }
      expect(stores).toEqual(['array at 1', 'set at 33', 'array at 8']);
    },
  );

  test('answers as a Set does, in its order, also while it grows large and shrinks again', () => {
    const step = fc.record({
      add: fc.boolean(),
      from: fc.nat(60),
      count: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30, size: 'max' }), (steps) => {
        const model = new Set<number>();
        const small = new SmallSet<number>();
        for (const { add, from, count } of steps) {
          for (let entry = from; entry < from + count; entry += 1) {
            if (add) {
              model.add(entry);
              small.add(entry);
            } else if (small.delete(entry) !== model.delete(entry)) {
              throw new Error(`delete(${entry}) differs`);
            }
            if (small.has(entry) !== add) throw new Error(`has(${entry}) differs`);
          }
          expect(small.size).toBe(model.size);
          expect([...small.values()]).toEqual([...model]);
        }
      }),
    );
  });
});
