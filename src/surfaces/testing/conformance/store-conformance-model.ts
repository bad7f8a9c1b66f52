/** Conformance rules: over long sequences of operations, a store behaves like a model of it. */
import assert from 'node:assert/strict';
import type { RelayStore } from '../../relay/ports/store.ts';
import { type PortRuleBodies, upTo } from './port-rule.ts';
import { later } from './store-conformance-sessions.ts';

const long = 3_600_000;

interface Model {
  /** The version is 0 after a deletion; `highest` is the highest version so far. */
  readonly documents: Map<string, { value: string; version: number; highest: number }>;
  readonly logs: Map<string, { last: number; entries: { id: number; value: string }[] }>;
  readonly leases: Map<string, { holder: string | undefined; epoch: number }>;
}

interface World {
  readonly store: RelayStore;
  readonly sessions: Map<string, Model>;
  readonly counters: Map<string, number>;
  readonly due: Set<string>;
  /** A number from 0 to less than `below`; the same in each run. */
  readonly random: (below: number) => number;
}

/** Makes pseudo-random numbers that are the same in each run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const entryOf = <V>(map: Map<string, V>, key: string, make: () => V): V => {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
};

type Step = (
  world: World,
  session: string,
  model: Model | undefined,
  name: string,
) => Promise<void>;

const steps: readonly Step[] = [
  async ({ store, sessions, random }, session, model, key) => {
    const value = `${random(1_000)}`;
    assert.equal(await store.create(session, key, value, later()), model === undefined);
    if (model === undefined)
      sessions.set(session, {
        documents: new Map([[key, { value, version: 1, highest: 1 }]]),
        logs: new Map(),
        leases: new Map(),
      });
  },
  async ({ store, sessions, random }, session, model) => {
    if (random(6) > 0) return;
    assert.equal(await store.drop(session), model !== undefined);
    sessions.delete(session);
  },
  async ({ store, random }, session, model, key) => {
    const now = model?.documents.get(key)?.version ?? 0;
    const version = [undefined, now, now, now + 1, Math.max(0, now - 1), random(5)][random(6)];
    const value = `${random(1_000)}`;
    const got = await store.set(session, key, value, version);
    if (model === undefined || (version !== undefined && version !== now))
      assert.equal(got, undefined);
    else {
      const document = entryOf(model.documents, key, () => ({ value, version: 0, highest: 0 }));
      assert.ok(
        got !== undefined && got > document.highest,
        `Expected a version beyond ${document.highest}, got ${got}`,
      );
      if (now > 0) assert.equal(got, now + 1);
      Object.assign(document, { value, version: got, highest: got });
    }
  },
  async ({ store, random }, session, model, key) => {
    const document = model?.documents.get(key);
    const now = document?.version ?? 0;
    const version = [undefined, now, now + 1, random(5)][random(4)];
    const gone = now > 0 && (version === undefined || version === now);
    assert.equal(await store.delete(session, key, version), gone);
    if (gone && document !== undefined) document.version = 0;
  },
  async ({ store }, session, model, key) => {
    const keys = [key, 'k0', 'k1', key];
    const expected = keys.map((each) => {
      const document = model?.documents.get(each);
      return document !== undefined && document.version > 0
        ? { value: document.value, version: document.version }
        : undefined;
    });
    assert.deepEqual(await store.get(session, keys), expected);
  },
  async ({ store, random }, session, model, name) => {
    const keep = 1 + random(8);
    const value = `${random(1_000)}`;
    const added = await store.append(session, name, value, keep);
    if (model === undefined) return assert.equal(added, undefined);
    const log = entryOf(model.logs, name, () => ({ last: 0, entries: [] }));
    log.last += 1;
    log.entries.push({ id: log.last, value });
    const dropped = log.entries
      .splice(0, Math.max(0, log.entries.length - keep))
      .map((entry) => entry.value);
    assert.deepEqual(added, { id: log.last, dropped });
  },
  async ({ store, random }, session, model, name) => {
    const { last, entries } = model?.logs.get(name) ?? { last: 0, entries: [] };
    const after = random(last + 3);
    const limit = random(6);
    assert.deepEqual(await store.read(session, name, after, limit), {
      entries: entries.filter(({ id }) => id > after).slice(0, limit),
      first: entries[0]?.id ?? 0,
      last,
    });
  },
  async ({ store, random }, session, model, name) => {
    const holder = `holder-${random(3)}`;
    const steal = random(3) === 0;
    const epoch = await store.acquire(session, name, holder, long, steal);
    if (model === undefined) return assert.equal(epoch, undefined);
    const lease = entryOf(model.leases, name, () => ({
      holder: undefined as string | undefined,
      epoch: 0,
    }));
    if (lease.holder !== undefined && lease.holder !== holder && !steal)
      return assert.equal(epoch, undefined);
    assert.ok(
      epoch !== undefined && epoch > lease.epoch,
      `Expected an epoch beyond ${lease.epoch}, got ${epoch}`,
    );
    Object.assign(lease, { holder, epoch });
  },
  async ({ store, random }, session, model, name) => {
    const lease = model?.leases.get(name);
    const epoch = Math.max(0, (lease?.epoch ?? 0) - random(2));
    const current = lease?.holder !== undefined && lease.epoch === epoch;
    if (random(2) === 0) assert.equal(await store.renew(session, name, epoch, long), current);
    else {
      assert.equal(await store.release(session, name, epoch), current);
      if (current && lease !== undefined) lease.holder = undefined;
    }
    const found = await store.holder(session, name);
    assert.deepEqual(
      [found?.holder, found?.epoch],
      lease?.holder === undefined ? [undefined, undefined] : [lease.holder, lease.epoch],
    );
  },
  async ({ store, counters, random }, _session, _model, name) => {
    const used = counters.get(name) ?? 0;
    const limit = random(20);
    const { allowed, retryAfterMs } = await store.count(name, limit, long);
    assert.equal(allowed, used < limit);
    assert.equal(retryAfterMs > 0, !allowed);
    if (allowed) counters.set(name, used + 1);
  },
  async ({ store, due, random }, session, _model, key) => {
    const delayed = random(3) === 0;
    await store.schedule(session, key, delayed ? long : 0);
    due[delayed ? 'delete' : 'add'](`${session} ${key}`);
  },
  async ({ store, due }, session, _model, key) => {
    await store.unschedule(session, key);
    due.delete(`${session} ${key}`);
  },
  async ({ store, due, random }) => {
    const limit = random(4);
    const found = (await store.due(limit, long)).map(({ session, key }) => `${session} ${key}`);
    assert.equal(found.length, Math.min(limit, due.size));
    for (const item of found) assert.ok(due.delete(item), `Expected ${item} not to be due`);
  },
];

async function walk(store: RelayStore, seed: number): Promise<void> {
  const random = numbers(seed);
  const world: World = { store, sessions: new Map(), counters: new Map(), due: new Set(), random };
  for (const index of upTo(600)) {
    const session = `s${random(3)}`;
    const step = random(steps.length);
    try {
      await steps[step]?.(world, session, world.sessions.get(session), `k${random(3)}`);
    } catch (error) {
      throw new assert.AssertionError({
        message:
          `After ${index} operations from the seed ${seed}: ` +
          `${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
}

export const modelRules: PortRuleBodies<RelayStore> = Object.fromEntries(
  [1, 2, 3].map((seed) => [
    `a store behaves like its model, over operations from the seed ${seed}`,
    (store: RelayStore) => walk(store, seed),
  ]),
);
