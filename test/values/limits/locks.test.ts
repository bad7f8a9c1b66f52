import { describe, expect, test } from 'vitest';
import { createLocks } from '../../../src/values/limits/locks.ts';
import { Semaphore } from '../../../src/values/limits/semaphore.ts';
import { createWaitGraph, type Holder } from '../../../src/values/limits/wait-graph.ts';

const call = (parent?: Holder): Holder => ({ parent, owner: {}, waitingFor: undefined });
const ignore = () => {};

describe('locks', () => {
  test('one key has one lock, which one holder has at a time; other keys are free', () => {
    const locks = createLocks();
    expect(locks.get('file:a').acquire(call(), ignore)).toBe(true);
    expect(locks.get('file:a').acquire(call(), ignore)).not.toBe(true);
    expect(locks.get('file:b').acquire(call(), ignore)).toBe(true);
    expect([locks.get('file:a').held, locks.get('file:a').waiting]).toEqual([1, 1]);
  });

  test.each(['', '__proto__', 'constructor', 'toString', 'a\u0000b'])(
    '%j is a key like any other',
    (key) => {
      const locks = createLocks();
      expect(locks.get(key)).toBeInstanceOf(Semaphore);
      expect(locks.get(key).acquire(call(), ignore)).toBe(true);
      expect(locks.get(key).acquire(call(), ignore)).not.toBe(true);
    },
  );

  test('keys without holders and waiters are forgotten, except for a few', () => {
    const locks = createLocks();
    for (let i = 0; i < 10_000; i += 1) {
      const holder = call();
      const lock = locks.get(`key ${i}`);
      lock.acquire(holder, ignore);
      lock.release(holder);
    }
    expect(locks.size).toBeLessThanOrEqual(33);
  });

  test('keys that were asked for and never acquired are forgotten, too', () => {
    const locks = createLocks();
    for (let i = 0; i < 10_000; i += 1) locks.get(`key ${i}`);
    expect(locks.size).toBeLessThanOrEqual(64);
  });

  test('a very long key is not kept once it is idle', () => {
    const locks = createLocks();
    const holder = call();
    const key = 'k'.repeat(100_000);
    const lock = locks.get(key);
    lock.acquire(holder, ignore);
    expect(locks.size).toBe(1);
    lock.release(holder);
    expect(locks.size).toBe(0);
  });

  test('32 idle keys are kept, of at most 256 characters, and a kept one has the same lock', () => {
    const use = (locks: ReturnType<typeof createLocks>, key: string): Semaphore => {
      const holder = call();
      const lock = locks.get(key);
      lock.acquire(holder, ignore);
      lock.release(holder);
      return lock;
    };
    const locks = createLocks();
    const first = use(locks, 'k0');
    for (let i = 1; i < 32; i += 1) use(locks, `k${i}`);
    expect(locks.size).toBe(32);
    use(locks, 'one more');
    expect([locks.size, locks.get('k0') === first]).toEqual([32, true]);
    const long = createLocks();
    use(long, 'k'.repeat(256));
    use(long, 'k'.repeat(257));
    expect(long.size).toBe(1);
  });

  test('a key that has another lock by now is not forgotten when an old one becomes idle', () => {
    const locks = createLocks();
    const old = locks.get('k');
    for (let i = 0; i < 64; i += 1) locks.get(`other ${i}`);
    const now = locks.get('k');
    for (let i = 0; i < 33; i += 1) locks.get(`more ${i}`).acquire(call(), ignore);
    const holder = call();
    old.acquire(holder, ignore);
    old.release(holder);
    expect([now === old, locks.get('k') === now]).toEqual([false, true]);
  });

  test(
    'those that were never acquired are swept at 64, then whenever there are twice as many as ' +
      'were left',
    () => {
      const locks = createLocks();
      for (let i = 0; i < 50; i += 1) locks.get(`held ${i}`).acquire(call(), ignore);
      const sweptAt: number[] = [];
      for (let i = 0; i < 130; i += 1) {
        const before = locks.size;
        locks.get(`idle ${i}`);
        if (locks.size <= before) sweptAt.push(before);
      }
      expect(sweptAt).toEqual([64, 100, 100]);
    },
  );

  test('keys that are held or awaited are never forgotten', async () => {
    const locks = createLocks();
    const held = Array.from({ length: 500 }, (_, i) => ({ key: `held ${i}`, holder: call() }));
    for (const { key, holder } of held) locks.get(key).acquire(holder, ignore);
    let told = 0;
    for (const { key } of held) locks.get(key).acquire(call(), () => (told += 1));
    for (let i = 0; i < 5_000; i += 1) locks.get(`other ${i}`);
    expect(held.every(({ key }) => locks.get(key).held === 1)).toBe(true);
    for (const { key, holder } of held) locks.get(key).release(holder);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toBe(500);
    expect(held.every(({ key }) => locks.get(key).held === 1)).toBe(true);
  });

  test('locks and slots that share a wait graph refuse a cycle through both', () => {
    const waits = createWaitGraph();
    const locks = createLocks(waits);
    const slot = new Semaphore(1, { waits });
    const [one, two] = [call(), call()];
    slot.acquire(one, ignore);
    locks.get('k').acquire(two, ignore);
    slot.acquire(call(two), ignore);
    expect(locks.get('k').acquire(call(one), ignore)).toBe('deadlock');
  });
});
