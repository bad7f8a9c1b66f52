import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Answer, createAnswerCache } from '../../../src/surfaces/relay-client/answer.ts';

const answer = (requestId: string, bytes: number): Answer => ({ requestId, body: 'x', bytes });

describe('the calls that are over', () => {
  test('are remembered with their answers, or without', () => {
    const cache = createAnswerCache();
    cache.add('a', answer('a', 10));
    cache.add('b');
    expect([
      cache.has('a'),
      cache.get('a')?.bytes,
      cache.has('b'),
      cache.get('b'),
      cache.has('c'),
    ]).toEqual([true, 10, true, undefined, false]);
  });

  test('lose answers that are large, and not their ids', () => {
    const cache = createAnswerCache({ answerBytes: 100 });
    cache.add('a', answer('a', 101));
    expect([cache.has('a'), cache.get('a'), cache.bytes]).toEqual([true, undefined, 0]);
  });

  test('are bounded in number and in bytes; the newest stay', () => {
    const operations = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 20 }), fc.option(fc.integer({ min: 1, max: 60 }))),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(operations, (adds) => {
        const cache = createAnswerCache({ ids: 8, bytes: 100, answerBytes: 50 });
        let order: string[] = [];
        for (const [number, bytes] of adds) {
          const id = String(number);
          cache.add(id, bytes === null ? undefined : answer(id, bytes));
          order = [...order.filter((other) => other !== id), id].slice(-8);
          expect(order.every((other) => cache.has(other))).toBe(true);
          expect(cache.size).toBe(order.length);
          expect(cache.bytes).toBe(
            order.reduce((sum, other) => sum + (cache.get(other)?.bytes ?? 0), 0),
          );
          expect(cache.bytes).toBeLessThanOrEqual(100);
          if (bytes !== null && bytes <= 50) expect(cache.get(id)?.bytes).toBe(bytes);
        }
      }),
    );
  });
});
