/** The store in memory by other names, each with the bound that its feature needs. */
import { expect, test } from 'vitest';
import { memoryIdempotency, memoryOffload, memoryQuotas } from '../../../src/index.ts';

test.each([memoryIdempotency, memoryOffload, memoryQuotas])('%o is a store in memory', (make) => {
  let now = 0;
  const store = make({ now: () => now });
  expect(store.kind).toBe('memory');
  const get = () => store.apply({ shared: 's' }, [{ op: 'get', keys: ['k'] }]);
  void store.apply({ shared: 's' }, [{ op: 'set', key: 'k', value: 'v', ttlMs: 10 }]);
  expect(get()).toMatchObject({ results: [[{ value: 'v' }]] });
  now = 10;
  expect(get()).toEqual({ results: [[undefined]] });
});

test('what is over their bounds is refused', () => {
  const add = (key: string) =>
    memoryOnce.apply({ shared: 's' }, [{ op: 'add', key, amount: 1n, windowMs: 1_000 }]);
  const memoryOnce = memoryQuotas({ maxKeys: 1 });
  void add('a');
  expect(() => add('b')).toThrow('expected at most 1 sums');
  for (const make of [memoryIdempotency, memoryOffload])
    expect(() =>
      make({ maxChars: 100 }).apply({ shared: 's' }, [
        { op: 'set', key: 'k', value: 'v'.repeat(200) },
      ]),
    ).toThrow('The memory store is full (100 characters)');
});

test.each([
  [() => memoryQuotas({ maxKey: 1 } as never), 'memoryQuotas: unknown option `maxKey`; did you'],
  [() => memoryQuotas({ maxKeys: 0 }), 'memoryQuotas: expected `maxKeys` to be a whole number'],
  [() => memoryIdempotency({ maxChars: 0 }), 'memoryIdempotency: expected `maxChars` to be'],
  [() => memoryOffload({ maxBytes: 1 } as never), 'memoryOffload: unknown option `maxBytes`'],
])('wrong options are named', (make, message) => {
  expect(make).toThrow(message);
});
