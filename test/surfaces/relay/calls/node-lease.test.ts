/** The lease by which other nodes know that a node is alive. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryStore } from '../../../../src/index.ts';
import {
  createNodeLease,
  type NodeLease,
} from '../../../../src/surfaces/relay/calls/node-lease.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import type { KeptStore } from '../../../../src/surfaces/relay/ports/kept-store.ts';
import type { RelaySettings } from '../../../../src/surfaces/relay/settings.ts';
import { kept, on } from '../watched-store.ts';

const hourMs = 3_600_000;
let store: KeptStore;
let lease: NodeLease;
/** Subscriptions that were not given up. */
let listening = 0;

beforeEach(() => {
  vi.useFakeTimers();
  store = kept(memoryStore());
  const settings = { store, leaseMs: 10_000, node: 'one', now: Date.now };
  listening = 0;
  const watch = async () => {
    listening++;
    return () => {
      listening = 0;
    };
  };
  lease = createNodeLease(settings as unknown as RelaySettings, { watch }, () => {});
});
afterEach(() => {
  vi.useRealTimers();
});

const isHeld = async () => (await on(store).find(keys.node('one'), keys.nodeLease)) !== undefined;

test('a lease that is renewed does not end with its session, however long the node lives', async () => {
  await lease.begin();
  for (let hours = 0; hours < 100; hours++) {
    // The clock of leases goes on as ever.
    vi.setSystemTime(Date.now() + hourMs);
    expect(await isHeld()).toBe(true);
    await lease.renew();
  }
});

test('a lease whose session is gone is taken again', async () => {
  await lease.begin();
  await on(store).drop(keys.node('one'));
  await lease.renew();
  expect(await isHeld()).toBe(true);
});

test('a lease that was given up is not taken again by a renewal that was under way', async () => {
  await lease.begin();
  const renewal = lease.renew();
  await Promise.all([lease.end(), renewal]);
  await lease.renew();
  expect(await isHeld()).toBe(false);
});

test('a lease that is being taken when the node ends is given up again', async () => {
  const beginning = lease.begin();
  await lease.end();
  await expect(beginning).rejects.toMatchObject({ error: 'shutting_down' });
  expect([await isHeld(), listening]).toEqual([false, 0]);
  await expect(lease.begin()).rejects.toMatchObject({ error: 'shutting_down' });
  expect([await isHeld(), listening]).toEqual([false, 0]);
});

test('a node is steady while it renews within a lease, and is so again one lease after an outage', async () => {
  expect(lease.isSteady()).toBe(false);
  await lease.renew();
  expect(lease.isSteady()).toBe(false);
  for (let seconds = 0; seconds < 3; seconds++) {
    vi.advanceTimersByTime(1_000);
    await lease.renew();
  }
  expect(lease.isSteady()).toBe(true);
  // It stands still, or the store does not answer.
  vi.advanceTimersByTime(3_001);
  expect(lease.isSteady()).toBe(false);
  await lease.renew();
  expect(lease.isSteady()).toBe(false);
});
