/** What ends by itself, by its time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timeQueue } from '../../../src/stores/memory/queue.ts';

test('the queue by time behaves like a sorted list, whatever is added and removed', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ remove: fc.nat(100) }),
    fc.record({ take: fc.integer({ min: 0, max: 20 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const queue = timeQueue<number>();
      const all: { at: number; order: number; entry: ReturnType<typeof queue.add> }[] = [];
      for (const [order, next] of steps.entries()) {
        all.sort((one, other) => one.at - other.at || one.order - other.order);
        if ('add' in next) all.push({ at: next.add, order, entry: queue.add(next.add, order) });
        else if ('remove' in next) {
          const [gone] = all.splice(next.remove % Math.max(1, all.length), 1);
          if (gone === undefined) continue;
          queue.remove(gone.entry);
          queue.remove(gone.entry);
        } else {
          const first = all[0];
          expect(queue.first(next.take)).toBe(
            first !== undefined && first.at <= next.take ? first.entry : undefined,
          );
        }
        expect(queue.size()).toBe(all.length);
      }
    }),
  );
});
