/** How much a store in memory keeps at most. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { on } from '../../surfaces/relay/watched-store.ts';

describe('size', () => {
  const later = Date.now() + 3_600_000;
  const text = (length: number): string => 'x'.repeat(length);

  test('no session begins in the last quarter of the space, and open sessions go on', async () => {
    const store = on(memoryStore({ maxChars: 10_000 }));
    await store.create('s', 'k', text(7_600), later);
    await expect(store.create('t', 'k', 'v', later)).rejects.toThrow(/full/);
    expect(await store.set('s', 'more', text(800))).toBeGreaterThan(0);
    await store.drop('s');
    expect(await store.create('t', 'k', 'v', later)).toBe(true);
  });

  test('a full store accepts writes that free space', async () => {
    const store = on(memoryStore({ maxChars: 8_000 }));
    await store.create('s', 'k', 'v', later);
    await store.set('s', 'big', text(5_000));
    for (let n = 0; n < 10; n++) await store.append('s', 'log', text(150), 10);
    await expect(store.set('s', 'more', text(900))).rejects.toThrow(/full/);
    expect(await store.append('s', 'log', text(150), 10)).toMatchObject({ id: 11 });
    expect(await store.set('s', 'big', text(4_000))).toBeGreaterThan(0);
    expect(await store.set('s', 'big', `${text(3_999)}y`)).toBeGreaterThan(0);
    expect(await store.set('s', 'more', text(900))).toBeGreaterThan(0);
  });

  test('whatever happens, all space is free again when the sessions are gone', async () => {
    const names = ['a', 'b', 'c'];
    const command = fc.record({
      name: fc.constantFrom(...names),
      what: fc.constantFrom('create', 'drop', 'set', 'lease', 'delete', 'append', 'undone'),
      key: fc.constantFrom('k', 'l'),
      length: fc.constantFrom(0, 10, 900, 1_500, 3_000),
      letter: fc.constantFrom('x', 'y'),
      version: fc.constantFrom(undefined, 0),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
        let now = 0;
        const inner = memoryStore({ maxChars: 12_000, now: () => now });
        const store = on(inner);
        for (const { name, what, key, length, letter, version } of commands) {
          const value = letter.repeat(length);
          const step = async (...operations: Store.Operation[]): Promise<unknown> =>
            inner.apply({ session: name }, operations);
          const run = {
            create: () => store.create(name, key, value, now + 50),
            drop: () => store.drop(name),
            set: () => store.set(name, key, value, version),
            lease: () => store.lease(name, key, value, 3),
            delete: () => step({ op: 'delete', key }),
            append: () => store.append(name, key, value, 2),
            undone: () =>
              step(
                { op: 'set', key, value },
                { op: 'set', key: 'm', value, ttlMs: 1 },
                { op: 'delete', key },
                { op: 'set', key: 'l', value },
                { op: 'delete', key: 'none', required: true },
              ),
          };
          await (run[what as keyof typeof run]() as Promise<unknown>).catch(() => {});
          now += 1;
        }
        for (const name of names) await store.drop(name);
        // To the last character but those of a session and a document.
        now = 0;
        await expect(store.create('all', 'k', text(12_000 - 500 - 101 + 1), later)).rejects.toThrow(
          /full/,
        );
        expect(await store.create('all', 'k', text(12_000 - 500 - 101), later)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
