/** The lease of the application's connections. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  continueLease,
  openLease,
} from '../../../../src/surfaces/relay/events/application-lease.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { kept, on, watchedStore } from '../watched-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const leaseMs = 100;
const start = async () => {
  const watched = watchedStore();
  await on(watched.store).create('s', keys.session, '{}', Date.now() + 10_000);
  const store = kept(watched.store);
  const take = async () =>
    (await openLease(store, { code: 's' }, leaseMs)) as NonNullable<
      Awaited<ReturnType<typeof openLease>>
    >;
  const holder = async () => (await on(watched.store).find('s', keys.applicationLease))?.version;
  return { ...watched, watched, store, take, holder };
};

describe('the lease', () => {
  test('belongs to the newest connection, which keeps it by renewing it', async () => {
    const { take, holder } = await start();
    const first = await take();
    const second = await take();
    expect(await first.renew()).toBe(false);
    for (let beat = 0; beat < 10; beat++) {
      vi.advanceTimersByTime(leaseMs - 1);
      expect(await second.renew()).toBe(true);
    }
    expect(await holder()).toBe(second.epoch);
  });

  test("continues from the client's last connection, but is not taken from another client", async () => {
    const { store, holder } = await start();
    const request = { code: 's', client: 'a' };
    const first = await openLease(store, request, leaseMs);
    const second = await continueLease(store, request, leaseMs);
    expect(second).toMatchObject({ epoch: await holder() });
    expect(await first?.renew()).toBe(false);
    for (const client of [undefined, 'aa', 'b']) {
      await openLease(store, { code: 's', client }, leaseMs);
      expect(await continueLease(store, request, leaseMs)).toBe('replaced');
    }
    // The other client has gone.
    vi.advanceTimersByTime(leaseMs * 5);
    expect(await continueLease(store, request, leaseMs)).toMatchObject({ epoch: await holder() });
    expect(await continueLease(store, { ...request, code: 'other' }, leaseMs)).toBeUndefined();
  });

  test('of an unknown session is undefined', async () => {
    const { store } = await start();
    expect(await openLease(store, { code: 'other' }, leaseMs)).toBeUndefined();
  });

  test('stays with the newer connection if the older one releases it', async () => {
    const { take, holder } = await start();
    const first = await take();
    const second = await take();
    await first.release();
    expect(await holder()).toBe(second.epoch);
    await second.release();
    expect(await holder()).toBeUndefined();
  });

  test('that has expired is taken again with a new epoch, unless another connection has it', async () => {
    const { take, holder } = await start();
    const lease = await take();
    const { epoch } = lease;
    vi.advanceTimersByTime(leaseMs * 5);
    expect(await lease.renew()).toBe(true);
    expect(lease.epoch).toBeGreaterThan(epoch);
    expect(await holder()).toBe(lease.epoch);
    vi.advanceTimersByTime(leaseMs * 5);
    await take();
    expect(await lease.renew()).toBe(false);
  });

  test('survives an outage of the store', async () => {
    const { take, watched } = await start();
    const lease = await take();
    watched.away = true;
    await expect(lease.renew()).rejects.toMatchObject({ error: 'store_unavailable' });
    vi.advanceTimersByTime(leaseMs * 3);
    watched.away = false;
    expect(await lease.renew()).toBe(true);
  });

  test.each(['touch', 'set'] as const)(
    'that is released during a renewal (%s) stays free',
    async (operation) => {
      const { take, holder, holdUp } = await start();
      const lease = await take();
      vi.advanceTimersByTime(leaseMs * 5);
      let released: Promise<boolean> | undefined;
      holdUp(operation, () => {
        released = lease.release();
      });
      await lease.renew();
      await released;
      expect(await holder()).toBeUndefined();
      expect(await lease.renew()).toBe(false);
      expect(await holder()).toBeUndefined();
    },
  );

  test('asks the store again for a renewal that began before the newer connection came', async () => {
    const { take, holdUp } = await start();
    const lease = await take();
    let came: Promise<unknown> | undefined;
    let later: Promise<boolean> | undefined;
    holdUp('touch', () => {
      holdUp('touch', async () => {
        came = take();
        await came;
      });
      later = lease.renew();
    });
    expect(await lease.renew()).toBe(true);
    expect(await later).toBe(false);
  });

  test('is renewed at most once more, however many callers wait while the store hangs', async () => {
    const { take, holdUp, operations } = await start();
    const lease = await take();
    let go = (): void => {};
    holdUp('touch', () => new Promise<void>((resolve) => (go = resolve)));
    const asked = Array.from({ length: 50 }, () => lease.renew());
    await vi.advanceTimersByTimeAsync(1);
    const more = Array.from({ length: 50 }, () => lease.renew());
    go();
    expect(new Set(await Promise.all([...asked, ...more]))).toEqual(new Set([true]));
    expect(operations.filter((one) => one === 'touch application s')).toHaveLength(2);
  });
});
