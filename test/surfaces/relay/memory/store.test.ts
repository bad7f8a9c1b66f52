import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { timeQueue } from '../../../../src/stores/memory/queue.ts';
import { createSizeBudget } from '../../../../src/surfaces/relay/memory/size-budget.ts';
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';
import { sharedStrings } from '../../../../src/surfaces/relay/memory/strings.ts';
import { memoryWindows } from '../../../../src/surfaces/relay/memory/windows.ts';
import { relayStoreConformance } from '../../../../src/surfaces/testing/conformance/store-conformance.ts';

describe('the store in memory', () => {
  for (const rule of relayStoreConformance(() => memoryStore())) test(rule.name, rule.run);
});

describe('time', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  test('sessions expire by the injected clock, exactly at their millisecond', async () => {
    let now = 1_000;
    const store = memoryStore({ now: () => now });
    await store.create('s', 'k', 'v', 2_000);
    now = 1_999;
    expect(await store.get('s', ['k'])).toEqual([{ value: 'v', version: 1 }]);
    now = 2_000;
    expect(await store.get('s', ['k'])).toEqual([undefined]);
    // Gone is gone, also where the clock is set back.
    now = 1_000;
    expect(await store.get('s', ['k'])).toEqual([undefined]);
  });

  test('leases and due items ignore the wall clock', async () => {
    let now = 0;
    const store = memoryStore({ now: () => now });
    await store.create('s', 'k', 'v', Number.MAX_SAFE_INTEGER);
    const epoch = await store.acquire('s', 'lease', 'me', 10_000);
    await store.schedule('s', 'k', 10_000);
    now = 3_600_000;
    vi.setSystemTime(Date.now() + 3_600_000);
    expect(await store.holder('s', 'lease')).toEqual({ holder: 'me', epoch, remainingMs: 10_000 });
    expect(await store.due(10, 1_000)).toEqual([]);
    vi.advanceTimersByTime(9_999);
    expect(await store.holder('s', 'lease')).toEqual({ holder: 'me', epoch, remainingMs: 1 });
    expect(await store.due(10, 1_000)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await store.holder('s', 'lease')).toBeUndefined();
    expect(await store.due(10, 1_000)).toEqual([{ session: 's', key: 'k' }]);
  });

  test('a window ends by the injected clock, or after its time if that clock stops or is set back', async () => {
    let now = 10_000;
    const store = memoryStore({ now: () => now });
    await store.count('k', 1, 10_000);
    vi.advanceTimersByTime(1_000);
    expect(await store.count('k', 1, 10_000)).toEqual({ allowed: false, retryAfterMs: 9_000 });
    now = 19_999;
    expect(await store.count('k', 1, 10_000)).toEqual({ allowed: false, retryAfterMs: 1 });
    now = 20_000;
    expect(await store.count('k', 1, 10_000)).toEqual({ allowed: true, retryAfterMs: 0 });
    now = 0;
    vi.advanceTimersByTime(9_999);
    expect(await store.count('k', 1, 10_000)).toEqual({ allowed: false, retryAfterMs: 1 });
    vi.advanceTimersByTime(1);
    expect(await store.count('k', 1, 10_000)).toEqual({ allowed: true, retryAfterMs: 0 });
  });

  test('items that are due at the same time come in the order in which they were scheduled', async () => {
    const store = memoryStore();
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    for (const key of keys) await store.schedule('s', key, 0);
    expect((await store.due(100, 1_000)).map(({ key }) => key)).toEqual(keys);
  });

  test('no timer is set', async () => {
    const store = memoryStore();
    await store.create('s', 'k', 'v', Date.now() + 1_000);
    await store.acquire('s', 'lease', 'me', 1_000);
    await store.schedule('s', 'k', 1_000);
    await store.count('k', 1, 1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('memory', () => {
  /** Keeps an eye on how many sessions, by the strings that they share: each has one of its own. */
  const large = (index: number): string => `${index} `.padEnd(20_000, 'x');

  test.each(['create', 'count', 'schedule', 'due'] as const)(
    'expired sessions are freed by %s, a limited number at a time',
    async (operation) => {
      let now = 0;
      const strings = vi.spyOn(Map.prototype, 'delete');
      const store = memoryStore({ now: () => now });
      for (let index = 0; index < 1_200; index++)
        await store.create(`s${index}`, 'k', large(index), 1_000);
      now = 1_000;
      const operate = {
        create: () => store.create('new', 'k', 'v', 5_000),
        count: () => store.count('k', 1, 1_000),
        schedule: () => store.schedule('new', 'k', 1_000),
        due: () => store.due(10, 1_000),
      }[operation];
      const gone = (): number =>
        strings.mock.calls.filter(([key]) => typeof key === 'string' && /^s\d+$/.test(key)).length;
      const counts: number[] = [];
      for (let ask = 0; ask < 4; ask++) {
        await operate();
        counts.push(gone());
      }
      expect(counts).toEqual([500, 1_000, 1_200, 1_200]);
    },
  );

  test('ended windows are freed without the windows that began after them', () => {
    vi.useFakeTimers();
    const windows = memoryWindows();
    for (let index = 0; index < 100; index++) windows.count(`k${index}`, 1, 1_000);
    vi.advanceTimersByTime(500);
    windows.count('later', 1, 1_000);
    vi.advanceTimersByTime(500);
    // Before anything was swept a key begins anew.
    expect(windows.count('k0', 1, 1_000).allowed).toBe(true);
    expect(windows.size()).toBe(101);
    windows.sweep(50);
    expect(windows.size()).toBeGreaterThan(50);
    windows.sweep(1_000);
    expect(windows.size()).toBe(2);
    expect([
      windows.count('k0', 1, 1_000).allowed,
      windows.count('later', 1, 1_000).allowed,
    ]).toEqual([false, false]);
  });

  test('refused uses of new keys keep no memory', () => {
    const windows = memoryWindows();
    for (let index = 0; index < 100; index++) windows.count(`k${index}`, 0, 1_000);
    expect(windows.size()).toBe(0);
  });
});

describe('shared strings', () => {
  const copy = (text: string): string => Buffer.from(text).toString();

  test.each([1_024, 8_192, 8_193, 100_000, 1_048_576])(
    'of %d characters are kept once, for as long as a document uses them',
    (length) => {
      const strings = sharedStrings(createSizeBudget(1e9));
      const text = 'x'.repeat(length);
      const [one, two] = [strings.take(copy(text)), strings.take(copy(text))];
      const other = strings.take(`${copy(text).slice(1)}y`);
      expect(one).toBeDefined();
      expect(two).toBe(one);
      expect(other).not.toBe(one);
      expect([one?.count, other?.count, strings.size()]).toEqual([2, 1, 2]);
      if (one === undefined || other === undefined) return;
      strings.give(one);
      expect(strings.size()).toBe(2);
      strings.give(one);
      strings.give(other);
      expect(strings.size()).toBe(0);
    },
  );

  test.each([0, 1_023, 1_048_577])('do not exist for strings of %d characters', (length) => {
    const strings = sharedStrings(createSizeBudget(1e9));
    expect(strings.take('x'.repeat(length))).toBeUndefined();
    expect(strings.size()).toBe(0);
  });

  test('are never mixed up, even if they have the same digest', () => {
    const strings = sharedStrings(createSizeBudget(1e9));
    const [one, other] = ['\uD800', '\uD801'].map((lone) => `${lone}${'x'.repeat(20_000)}`) as [
      string,
      string,
    ];
    expect(strings.take(one)?.value).toBe(one);
    expect(strings.take(other)).toBeUndefined();
  });

  test('are released when documents change, are deleted, or end with their session', async () => {
    // Of the same length: who counts wrongly keeps one too long, or loses it too soon.
    const [one, other] = ['a', 'b'].map((letter) => letter.repeat(2_000)) as [string, string];
    const maps = vi.spyOn(Map.prototype, 'delete');
    const freed = (text: string): number => maps.mock.calls.filter(([key]) => key === text).length;
    let now = 0;
    const store = memoryStore({ now: () => now });
    for (const session of ['dropped', 'expired', 'changed', 'deleted'])
      await store.create(session, 'k', copy(one), session === 'expired' ? 1_000 : 9_000);
    await store.drop('dropped');
    await store.set('changed', 'k', copy(one));
    await store.set('changed', 'k', other);
    await store.delete('deleted', 'k');
    expect(freed(one)).toBe(0);
    expect((await store.get('expired', ['k']))[0]?.value).toBe(one);
    now = 1_000;
    await store.get('expired', ['k']);
    expect([freed(one), freed(other)]).toEqual([1, 0]);
    await store.set('changed', 'k', 'short');
    expect([freed(one), freed(other)]).toEqual([1, 1]);
  });
});

describe('the queue by time', () => {
  test('behaves like a sorted list, whatever is added and removed', () => {
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
});

describe('size', () => {
  const later = Number.MAX_SAFE_INTEGER;
  const text = (length: number): string => 'x'.repeat(length);

  test('a write that does not fit is rejected and changes nothing; smaller, deleted or ended data frees space', async () => {
    const store = memoryStore({ maxChars: 10_000 });
    await store.create('s', 'k', 'v', later);
    await store.set('s', 'big', text(900).repeat(7));
    await expect(store.set('s', 'more', text(900).repeat(4))).rejects.toThrow(
      /full \(10000 characters\)/,
    );
    await expect(store.set('s', 'big', text(900).repeat(11))).rejects.toThrow(/full/);
    await expect(store.append('s', 'log', text(900).repeat(4), 10)).rejects.toThrow(/full/);
    expect(await store.get('s', ['more', 'big'])).toEqual([
      undefined,
      { value: text(6_300), version: 1 },
    ]);
    expect(await store.read('s', 'log', 0, 10)).toEqual({ entries: [], first: 0, last: 0 });
    expect(await store.set('s', 'big', 'small')).toBe(2);
    expect(await store.append('s', 'log', text(3_600), 10)).toMatchObject({ id: 1 });
    expect(await store.set('s', 'more', text(800))).toBe(1);
  });

  test('no session begins in the last quarter of the space, and open sessions go on', async () => {
    const store = memoryStore({ maxChars: 10_000 });
    await store.create('s', 'k', text(7_600), later);
    await expect(store.create('t', 'k', 'v', later)).rejects.toThrow(/full/);
    expect(await store.set('s', 'more', text(800))).toBe(1);
    await store.drop('s');
    expect(await store.create('t', 'k', 'v', later)).toBe(true);
  });

  test('a document that many sessions share counts once', async () => {
    const store = memoryStore({ maxChars: 100_000 });
    for (let n = 0; n < 50; n++)
      expect(await store.create(`s${n}`, 'tools', text(20_000), later)).toBe(true);
  });

  test('a full store accepts writes that free space', async () => {
    const store = memoryStore({ maxChars: 8_000 });
    await store.create('s', 'k', 'v', later);
    await store.set('s', 'big', text(5_000));
    for (let n = 0; n < 10; n++) await store.append('s', 'log', text(150), 10);
    await expect(store.set('s', 'more', text(900))).rejects.toThrow(/full/);
    expect(await store.append('s', 'log', text(150), 10)).toMatchObject({ id: 11 });
    expect(await store.set('s', 'big', text(4_000))).toBe(2);
    expect(await store.set('s', 'big', `${text(3_999)}y`)).toBe(3);
    expect(await store.set('s', 'more', text(900))).toBe(1);
  });

  test.each([0, -1, Number.NaN, '9'])('a limit of %j characters is refused', (maxChars) => {
    expect(() => memoryStore({ maxChars: maxChars as number })).toThrow(
      'expected `maxChars` to be a number from 1',
    );
  });

  test('whatever happens, all space is free again when the sessions are gone', async () => {
    const names = ['a', 'b', 'c'];
    const command = fc.record({
      name: fc.constantFrom(...names),
      what: fc.constantFrom('create', 'drop', 'set', 'delete', 'append'),
      key: fc.constantFrom('k', 'l'),
      length: fc.constantFrom(0, 10, 900, 1_500, 3_000),
      letter: fc.constantFrom('x', 'y'),
      version: fc.constantFrom(undefined, 0, 1, 2),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
        let now = 0;
        const store = memoryStore({ maxChars: 12_000, now: () => now });
        for (const { name, what, key, length, letter, version } of commands) {
          const value = letter.repeat(length);
          const run = {
            create: () => store.create(name, key, value, now + 50),
            drop: () => store.drop(name),
            set: () => store.set(name, key, value, version),
            delete: () => store.delete(name, key, version),
            append: () => store.append(name, key, value, 2),
          };
          await run[what as keyof typeof run]().catch(() => {});
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
