import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryOffload } from '../../../src/index.ts';
import { fixedClock, offloadStoreConformance } from '../../../src/surfaces/testing/index.ts';

const output = { text: 'xxxx', about: '', maxBytes: 8, ttlMs: 1_000 };

describe('keeps the contract', () => {
  for (const rule of offloadStoreConformance(() => memoryOffload())) test(rule.name, rule.run);
});

test('the oldest outputs of all sessions go where there is no room', () => {
  const store = memoryOffload({ maxBytes: 10 });
  for (const session of ['a', 'b', 'c']) void store.put({ ...output, session, key: '1' });
  const kept = ['a', 'b', 'c'].filter((session) => store.get(session, '1') !== undefined);
  expect(kept).toEqual(['b', 'c']);
  void store.put({ ...output, session: 'd', key: '1', text: 'x'.repeat(11) });
  expect(store.get('d', '1')).toBeUndefined();
});

test('outputs expire by the clock that is given', () => {
  const { now, advance } = fixedClock();
  const store = memoryOffload({ now });
  void store.put({ ...output, session: 's', key: 'k' });
  advance(999);
  expect(store.get('s', 'k')).toEqual({ text: 'xxxx', about: '' });
  advance(1);
  expect(store.get('s', 'k')).toBeUndefined();
});

test('no session and no store ever keeps more than it may, and the newest output stays', () => {
  const puts = fc.array(
    fc.record({
      session: fc.constantFrom('a', 'b', 'c'),
      key: fc.constantFrom('1', '2', '3', '4'),
      text: fc.string({ maxLength: 12 }),
    }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(puts, (all) => {
      const store = memoryOffload({ maxBytes: 60, now: () => 0 });
      for (const one of all) {
        void store.put({ ...output, maxBytes: 40, ...one });
        expect(store.get(one.session, one.key)).toEqual({ text: one.text, about: '' });
        const bytes = ['a', 'b', 'c'].map((session) =>
          ['1', '2', '3', '4'].reduce((sum, key) => {
            const kept = store.get(session, key) as { text: string } | undefined;
            return sum + Buffer.byteLength(kept?.text ?? '');
          }, 0),
        );
        for (const of of bytes) expect(of).toBeLessThanOrEqual(40);
        expect(bytes.reduce((sum, of) => sum + of)).toBeLessThanOrEqual(60);
      }
    }),
  );
});

test.each([
  [{ maxByte: 1 }, 'memoryOffload: unknown option `maxByte`; did you mean `maxBytes`?'],
  [{ maxBytes: 0 }, 'memoryOffload: expected `maxBytes` to be a whole number from 1, got `0`'],
])('wrong options are named: %j', (options, message) => {
  expect(() => memoryOffload(options as never)).toThrow(message);
});
