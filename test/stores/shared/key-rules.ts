/**
 * The contract of a store of outcomes as data: rules that any test runner can execute on any store.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { MaybePromise } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import { type IdempotencyClaim, KeysIn } from '../../../src/parts/idempotency/idempotency-in.ts';
import {
  atOnce,
  eventually,
  type PortRule,
  upTo,
} from '../../../src/surfaces/testing/conformance/port-rule.ts';
import { type PortRuleBodies, portRules } from './port-rules.ts';

const hourMs = 3_600_000;
const times = { leaseMs: hourMs, ttlMs: hourMs };

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A claim with a lease and a lifetime of an hour. */
function claim(
  key: string,
  holder: string,
  more: Partial<IdempotencyClaim> = {},
): IdempotencyClaim {
  return { key: digest(key), input: digest('input'), holder, ...times, takeOver: false, ...more };
}

async function stateOf(store: KeysIn, asked: IdempotencyClaim): Promise<string> {
  return (await store.claim(asked)).state;
}

const k = digest('k');
const short = { leaseMs: 20, ttlMs: hourMs };

/** A claim whose lease has ended. */
async function lost(store: KeysIn, more: Partial<IdempotencyClaim> = {}): Promise<void> {
  assert.equal(await stateOf(store, claim('k', 'a', { ...short, ...more })), 'claimed');
  await eventually('the lease of 20 ms is over', async () => {
    return (await stateOf(store, claim('k', 'observer'))) === 'lost';
  });
}

const keys: PortRuleBodies<KeysIn> = {
  'a key that no one has had can be claimed': async (store) => {
    assert.deepEqual(await store.claim(claim('k', 'a')), { state: 'claimed' });
  },
  'a key that another holder has is running, with what is left of the lease': async (store) => {
    await store.claim(claim('k', 'a'));
    const answer = await store.claim(claim('k', 'b'));
    assert.equal(answer.state, 'running');
    const { leaseMs } = answer as { leaseMs: number };
    assert.ok(leaseMs > hourMs / 2 && leaseMs <= hourMs, `Expected about an hour, got ${leaseMs}`);
  },
  'a holder that asks again has the key': async (store) => {
    for (const _ of upTo(3)) assert.equal(await stateOf(store, claim('k', 'a')), 'claimed');
    assert.equal(await stateOf(store, claim('k', 'b')), 'running');
  },
  'another input is a conflict, whatever the state': async (store) => {
    const other = claim('k', 'b', { input: digest('other'), takeOver: true });
    await store.claim(claim('k', 'a'));
    assert.deepEqual(await store.claim(other), { state: 'conflict' });
    await store.finish(k, 'a', 'x', hourMs);
    assert.deepEqual(await store.claim(other), { state: 'conflict' });
  },
  'keys have nothing to do with each other': async (store) => {
    for (const index of upTo(20)) await store.claim(claim(`k${index}`, `h${index}`));
    await store.finish(digest('k7'), 'h7', 'seven', hourMs);
    await store.release(digest('k8'), 'h8');
    for (const index of upTo(20)) {
      const expected = index === 7 ? 'done' : index === 8 ? 'claimed' : 'running';
      assert.equal(await stateOf(store, claim(`k${index}`, 'z')), expected);
    }
  },
  'of many that ask at once, one gets the key': async (store) => {
    const answers = await atOnce(20, (index) => stateOf(store, claim('k', `h${index}`)));
    assert.equal(answers.filter((state) => state === 'claimed').length, 1);
    assert.equal(answers.filter((state) => state === 'running').length, 19);
  },
};

const outcomes: PortRuleBodies<KeysIn> = {
  'an outcome is answered exactly as it was given, to everyone': async (store) => {
    for (const [index, outcome] of texts.entries()) {
      const key = `k${index}`;
      await store.claim(claim(key, 'a'));
      assert.equal(await store.finish(digest(key), 'a', outcome, hourMs), true);
      for (const holder of ['a', 'b'])
        assert.deepEqual(await store.claim(claim(key, holder)), { state: 'done', outcome });
    }
  },
  'the first outcome counts': async (store) => {
    await store.claim(claim('k', 'a'));
    await store.finish(k, 'a', 'first', hourMs);
    assert.equal(await store.finish(k, 'a', 'second', hourMs), false);
    assert.deepEqual(await store.claim(claim('k', 'b')), { state: 'done', outcome: 'first' });
  },
  'only the holder can give an outcome': async (store) => {
    assert.equal(await store.finish(k, 'a', 'x', hourMs), false);
    await store.claim(claim('k', 'a'));
    assert.equal(await store.finish(k, 'b', 'x', hourMs), false);
    assert.equal(await stateOf(store, claim('k', 'b')), 'running');
  },
  'an outcome is forgotten after its time to live': async (store) => {
    await store.claim(claim('k', 'a'));
    await store.finish(k, 'a', 'x', 20);
    await eventually('the outcome is forgotten', async () => {
      return (await stateOf(store, claim('k', 'b'))) === 'claimed';
    });
    // This also holds with another input.
    assert.equal(await stateOf(store, claim('k', 'c', { input: digest('new') })), 'conflict');
  },
};

const leases: PortRuleBodies<KeysIn> = {
  'a claim whose lease is over is lost': async (store) => {
    await lost(store);
    assert.deepEqual(await store.claim(claim('k', 'b')), { state: 'lost' });
  },
  'a lost claim can be taken over where the tool is idempotent, by one': async (store) => {
    await lost(store);
    const answers = await atOnce(10, (index) =>
      stateOf(store, claim('k', `h${index}`, { takeOver: true })),
    );
    assert.equal(answers.filter((state) => state === 'claimed').length, 1);
    assert.equal(answers.filter((state) => state === 'running').length, 9);
    assert.equal(await store.finish(k, 'a', 'x', hourMs), false);
    assert.equal(await store.renew(k, 'a', times), false);
  },
  'a claim that runs is not taken over': async (store) => {
    await store.claim(claim('k', 'a'));
    assert.equal(await stateOf(store, claim('k', 'b', { takeOver: true })), 'running');
  },
  'a claim that is renewed stays': async (store) => {
    await store.claim(claim('k', 'a', short));
    assert.equal(await store.renew(k, 'a', times), true);
    const answer = await store.claim(claim('k', 'b'));
    assert.ok(answer.state === 'running' && answer.leaseMs > 1_000);
  },
  'a holder that is late may still renew, and still give its outcome': async (store) => {
    await lost(store);
    assert.equal(await store.renew(k, 'a', short), true);
    await eventually('the lease is over again', async () => {
      return (await stateOf(store, claim('k', 'b'))) === 'lost';
    });
    assert.equal(await store.finish(k, 'a', 'late', hourMs), true);
    assert.deepEqual(await store.claim(claim('k', 'b')), { state: 'done', outcome: 'late' });
  },
  'only the holder can renew': async (store) => {
    assert.equal(await store.renew(k, 'a', times), false);
    await store.claim(claim('k', 'a'));
    assert.equal(await store.renew(k, 'b', times), false);
    await store.finish(k, 'a', 'x', hourMs);
    assert.equal(await store.renew(k, 'a', times), false);
  },
  'a lost claim is forgotten after its time to live': async (store) => {
    await store.claim(claim('k', 'a', { leaseMs: 10, ttlMs: 10 }));
    await eventually('the claim is forgotten', async () => {
      return (await stateOf(store, claim('k', 'b'))) === 'claimed';
    });
  },
};

const releases: PortRuleBodies<KeysIn> = {
  'a key that is released can be claimed with any input': async (store) => {
    await store.claim(claim('k', 'a'));
    await store.release(k, 'a');
    assert.equal(await stateOf(store, claim('k', 'b', { input: digest('other') })), 'claimed');
  },
  'only the holder can release, and no one once there is an outcome': async (store) => {
    await store.release(k, 'a');
    await store.claim(claim('k', 'a'));
    await store.release(k, 'b');
    assert.equal(await stateOf(store, claim('k', 'b')), 'running');
    await store.finish(k, 'a', 'x', hourMs);
    await store.release(k, 'a');
    assert.equal(await stateOf(store, claim('k', 'b')), 'done');
  },
};

/** Texts that a carelessly written store changes. */
const texts = [
  '',
  '0',
  'null',
  'false',
  '{"ok":true,"output":null}',
  'a\0b\r\n$1\r\n\t"\\',
  '\u00e9e\u0301\u{1F9F0}\u2028',
  'x'.repeat(1_000_000),
];

/** What holds of idempotency keys, whatever store they are in. `make` returns a fresh one. */
export function keyRules(make: () => MaybePromise<Store>): readonly PortRule[] {
  return portRules(async () => new KeysIn(await make()), {
    ...keys,
    ...outcomes,
    ...leases,
    ...releases,
  });
}
