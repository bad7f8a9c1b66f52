/** Approvals, quotas, idempotency keys and offloaded outputs as logic over the one store. */
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/index.ts';
import { approvalsIn } from '../../../src/parts/durable-approvals/approvals-in.ts';
import { KeysIn } from '../../../src/parts/idempotency/idempotency-in.ts';
import { featureRules } from './feature-rules.ts';
import { laterStore } from './later-store.ts';
import { outputsIn } from './output-rules.ts';
import { quotasIn } from './quotas.ts';

describe.each([
  ['a store that answers at once', () => memoryStore()],
  ['a store that answers later', () => laterStore(memoryStore())],
])('%s keeps', (_, make) => {
  for (const { name, run } of featureRules(make)) test(name, run);
});

const digest = 'a'.repeat(64);
const claim = { key: digest, input: digest, leaseMs: 1_000, ttlMs: 5_000, takeOver: false };

test('over a store that answers at once, each feature does too', () => {
  const store = memoryStore();
  expect(quotasIn(store).look([spend])).toEqual([{ used: 0n, retryAfterMs: 0 }]);
  expect(quotasIn(store).reserve([spend])).toHaveProperty('reservation');
  const keys = new KeysIn(store);
  expect(keys.claim({ ...claim, holder: 'a' })).toEqual({ state: 'claimed' });
  expect(keys.finish(digest, 'a', 'x', 1_000)).toBe(true);
  expect(outputsIn(store).get(digest, digest)).toBeUndefined();
  expect(approvalsIn(store, Date.now).page({ limit: 10 })).toEqual([]);
});

const spend = { key: 'k', amount: 1n, max: 2n, windowMs: 1_000 };

test('two processes with one store share its keys: what one claimed, the other may end', () => {
  const store = memoryStore();
  const [one, other] = [new KeysIn(store), new KeysIn(store)];
  expect(one.claim({ ...claim, holder: 'a' })).toEqual({ state: 'claimed' });
  expect(other.claim({ ...claim, holder: 'b' })).toMatchObject({ state: 'running' });
  expect(other.renew(digest, 'a', { leaseMs: 1_000, ttlMs: 9_000 })).toBe(true);
  // The document says another time to live now, which the first process did not write.
  expect(one.renew(digest, 'a', { leaseMs: 1_000, ttlMs: 9_000 })).toBe(true);
  expect(other.finish(digest, 'a', 'x', 1_000)).toBe(true);
  expect(one.finish(digest, 'a', 'y', 1_000)).toBe(false);
  expect(one.claim({ ...claim, holder: 'c' })).toEqual({ state: 'done', outcome: 'x' });
});

test('the rest of a lease is what the store says, less the time for which a claim is kept', async () => {
  let now = 0;
  const keys = new KeysIn(memoryStore({ now: () => now }));
  await keys.claim({ ...claim, holder: 'a' });
  now = 400;
  expect(keys.claim({ ...claim, holder: 'b' })).toEqual({ state: 'running', leaseMs: 600 });
  now = 1_000;
  expect(keys.claim({ ...claim, holder: 'b' })).toEqual({ state: 'lost' });
  now = 6_000;
  expect(keys.claim({ ...claim, holder: 'b' })).toEqual({ state: 'claimed' });
});

test('amounts are given back once, even if the answer of the first try was lost', async () => {
  const inner = memoryStore();
  let lost = 1;
  const quotas = quotasIn({
    ...inner,
    apply: async (space, operations) => {
      const outcome = await inner.apply(space, operations);
      if (operations[0]?.op === 'set' && lost-- > 0) throw new Error('lost');
      return outcome;
    },
  });
  const reserved = await quotas.reserve([spend]);
  await quotas.reserve([spend]);
  if (!('reservation' in reserved)) throw new Error('Expected a reservation');
  await expect(quotas.giveBack(reserved.reservation)).rejects.toThrow('lost');
  await quotas.giveBack(reserved.reservation);
  expect(await quotas.look([spend])).toEqual([{ used: 1n, retryAfterMs: 0 }]);
});

test('an output longer than one document comes back whole, and goes whole', async () => {
  const store = memoryStore();
  const outputs = outputsIn(store);
  const text = `x${'\u{1F9F0}'.repeat(2_500_000)}`;
  const output = { session: digest, key: digest, text, about: '{}', maxBytes: 2 ** 26, ttlMs: 1e6 };
  await outputs.put(output);
  const kept = await outputs.get(digest, digest);
  expect(kept?.text === text).toBe(true);
  await outputs.put({ ...output, key: 'other', text: 'short', maxBytes: 10 });
  expect(await outputs.get(digest, digest)).toBeUndefined();
  expect(await outputs.get(digest, 'other')).toEqual({ text: 'short', about: '{}' });
});

test('texts that differ only in what no store takes as a name are different keys', async () => {
  const quotas = quotasIn(memoryStore());
  const keys = ['\ud800', '\ud801', '\ufffd', 'x'.repeat(2_000), 'x'.repeat(1_999)];
  for (const [index, key] of keys.entries())
    await quotas.reserve([{ ...spend, key, amount: BigInt(index + 1), max: undefined }]);
  const uses = await quotas.look(keys.map((key) => ({ ...spend, key })));
  expect(uses.map(({ used }) => used)).toEqual([1n, 2n, 3n, 4n, 5n]);
});
