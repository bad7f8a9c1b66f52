/**
 * The contract of a store of outputs as data: rules that any test runner can execute on any store.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { MaybePromise } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import {
  type OffloadedOutput,
  outputIn,
  putOutput,
} from '../../../src/parts/offload/offload-in.ts';
import {
  atOnce,
  eventually,
  type PortRule,
  upTo,
} from '../../../src/surfaces/testing/conformance/port-rule.ts';
import { type PortRuleBodies, portRules } from './port-rules.ts';

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function output(
  session: string,
  key: string,
  more: Partial<OffloadedOutput> = {},
): OffloadedOutput {
  return {
    session: digest(session),
    key: digest(key),
    text: `text of ${key}`,
    about: '{"tool":"t"}',
    maxBytes: 1_000_000,
    ttlMs: 3_600_000,
    ...more,
  };
}

async function textOf(
  store: ReturnType<typeof outputsIn>,
  session: string,
  key: string,
): Promise<unknown> {
  return (await store.get(digest(session), digest(key)))?.text;
}

const bodies: PortRuleBodies<ReturnType<typeof outputsIn>> = {
  'an output is answered exactly as it was given': async (store) => {
    for (const [index, text] of texts.entries()) {
      const about = `{"n":${index},"more":"${'+/=é'.repeat(240)}"}`;
      await store.put(output('s', `k${index}`, { text, about, maxBytes: 2 ** 26 }));
      const kept = await store.get(digest('s'), digest(`k${index}`));
      assert.deepEqual({ ...kept }, { text, about });
    }
  },
  'what was never kept is undefined': async (store) => {
    assert.equal(await store.get(digest('s'), digest('k')), undefined);
  },
  'another session has nothing under the same key': async (store) => {
    await store.put(output('a', 'k'));
    assert.equal(await store.get(digest('b'), digest('k')), undefined);
    await store.put(output('b', 'k', { text: 'of b' }));
    assert.equal(await textOf(store, 'a', 'k'), 'text of k');
    assert.equal(await textOf(store, 'b', 'k'), 'of b');
  },
  'the oldest outputs of the session go where there would be too many bytes': async (store) => {
    const more = { text: 'x'.repeat(100), maxBytes: 300 };
    await store.put(output('other', 'k0', more));
    for (const index of upTo(5)) await store.put(output('s', `k${index}`, more));
    for (const index of upTo(5)) {
      const expected = index < 2 ? undefined : more.text;
      assert.equal(await textOf(store, 's', `k${index}`), expected, `Expected of k${index}`);
    }
    assert.equal(await textOf(store, 'other', 'k0'), more.text);
  },
  'bytes are those of UTF-8': async (store) => {
    const more = { text: '\u{1F9F0}'.repeat(25), maxBytes: 199 };
    await store.put(output('s', 'a', more));
    await store.put(output('s', 'b', more));
    assert.equal(await textOf(store, 's', 'a'), undefined);
    assert.equal(await textOf(store, 's', 'b'), more.text);
  },
  'a long output drops all that it leaves no room for, and a short one after it stays': async (
    store,
  ) => {
    for (const index of upTo(3))
      await store.put(output('s', `k${index}`, { text: 'x'.repeat(100), maxBytes: 400 }));
    await store.put(output('s', 'long', { text: 'y'.repeat(350), maxBytes: 400 }));
    await store.put(output('s', 'short', { text: 'z'.repeat(50), maxBytes: 400 }));
    for (const index of upTo(3)) assert.equal(await textOf(store, 's', `k${index}`), undefined);
    assert.equal(await textOf(store, 's', 'long'), 'y'.repeat(350));
    assert.equal(await textOf(store, 's', 'short'), 'z'.repeat(50));
  },
  'an output is forgotten after its time to live': async (store) => {
    await store.put(output('s', 'short', { ttlMs: 20 }));
    await store.put(output('s', 'long'));
    await eventually('the output is forgotten', async () => {
      return (await textOf(store, 's', 'short')) === undefined;
    });
    assert.equal(await textOf(store, 's', 'long'), 'text of long');
  },
  'outputs that are kept at the same time are all kept': async (store) => {
    await atOnce(20, (index) => store.put(output('s', `k${index}`)));
    for (const index of upTo(20))
      assert.equal(await textOf(store, 's', `k${index}`), `text of k${index}`);
  },
};

/** Texts that a carelessly written store changes. */
const texts = [
  '',
  'null',
  'a\0b\r\n$1\r\n\t"\\',
  '\u00e9e\u0301\u{1F9F0}\u2028\ufeff',
  '\ufeffbegins with a mark',
  'x'.repeat(1_000_000),
];

/** The outputs of a store. */
export function outputsIn(store: Store) {
  return {
    put: (output: OffloadedOutput) => putOutput(store, output),
    get: (session: string, key: string) => outputIn(store, session, key),
  };
}

/** What holds of offloaded outputs, whatever store they are in. `make` returns a fresh one. */
export function outputRules(make: () => MaybePromise<Store>): readonly PortRule[] {
  return portRules(async () => outputsIn(await make()), bodies);
}
