/**
 * The contract of a store of suspended calls as data: rules that any test runner can execute on any
 * store.
 */
import assert from 'node:assert/strict';
import type { JsonObject, MaybePromise, SuspendedApproval } from '../../../src/core.ts';
import type { Store } from '../../../src/extend.ts';
import { approvalsIn, type Instead } from '../../../src/parts/durable-approvals/approvals-in.ts';
import type { SettledApproval } from '../../../src/parts/durable-approvals/store.ts';
import {
  atOnce,
  type PortRule,
  portNames,
  upTo,
} from '../../../src/surfaces/testing/conformance/port-rule.ts';
import { type PortRuleBodies, portRules } from './port-rules.ts';

/**
 * A record as the library keeps it. The store reads `id`, `sessionId` and `expiresAt`, and returns
 * the whole record.
 */
function record(id: string, sessionId = 's', more: JsonObject = {}): SuspendedApproval {
  return {
    principal: 'local',
    input: { path: 'README.md' },
    token: `token of ${id}`,
    ...more,
    id,
    sessionId,
    expiresAt: Date.now() + 3_600_000,
  } as unknown as SuspendedApproval;
}

const idsOf = (records: readonly JsonObject[]): unknown[] => records.map(({ id }) => id).sort();

const rules: PortRuleBodies<ReturnType<typeof approvalsOver>> = {
  'a record that was put can be taken once, unchanged': async (store) => {
    const kept = record('one');
    assert.equal(await store.put(kept), undefined);
    assert.deepEqual(await store.take('one'), kept);
    assert.equal(await store.take('one'), undefined);
  },
  'a record that was never put does not exist': async (store) => {
    assert.equal(await store.take('none'), undefined);
    assert.deepEqual(await store.list('none'), []);
    await store.put(record('one'));
    for (const id of ['none', 'On', 'one ', 'toString', '__proto__', '', '*'])
      assert.equal(await store.take(id), undefined);
    for (const session of ['none', 'S', 's ', 'toString', '__proto__', '', '*'])
      assert.deepEqual(await store.list(session), []);
    assert.notEqual(await store.take('one'), undefined);
  },
  'of many callers that take a record at once, one gets it': async (store) => {
    for (const round of upTo(5)) {
      const kept = record(`r${round}`);
      await store.put(kept);
      const taken = await atOnce(50, () => store.take(kept.id));
      assert.deepEqual(
        taken.filter((each) => each !== undefined),
        [kept],
      );
    }
  },
  'records put at once are all kept': async (store) => {
    const records = upTo(50).map((index) => record(`r${index}`, `s${index % 5}`));
    await Promise.all(records.map(async (each) => store.put(each)));
    assert.deepEqual(
      idsOf(await store.list('s0')),
      upTo(10)
        .map((index) => `r${index * 5}`)
        .sort(),
    );
    assert.deepEqual(await atOnce(50, (index) => store.take(`r${index}`)), records);
  },
  'taking one record leaves the others': async (store) => {
    const [one, two] = [record('one'), record('two')];
    await store.put(one);
    await store.put(two);
    await store.take('one');
    assert.deepEqual(await store.list('s'), [two]);
    assert.deepEqual(await store.take('two'), two);
    assert.deepEqual(await store.list('s'), []);
  },
  'putting the same id again replaces the record': async (store) => {
    const second = record('one', 's', { input: { path: 'other' } });
    await store.put(record('one', 's', { left: 'over' }));
    await store.put(second);
    assert.deepEqual(await store.list('s'), [second]);
    assert.deepEqual(await store.take('one'), second);
    assert.equal(await store.take('one'), undefined);
    assert.deepEqual(await store.list('s'), []);
  },
  'putting the same id in another session moves it out of the first': async (store) => {
    const second = record('one', 'other');
    await store.put(record('one'));
    await store.put(second);
    assert.deepEqual(await store.list('s'), []);
    assert.deepEqual(await store.list('other'), [second]);
    assert.deepEqual(await store.take('one'), second);
    assert.deepEqual(await store.list('other'), []);
  },
  'approvals: ignores a put of an id that was taken': async (store) => {
    const kept = record('one');
    await store.put(kept);
    assert.deepEqual(await store.take('one'), kept);
    for (const again of [kept, record('one', 'other')]) {
      await store.put(again);
      assert.equal(await store.take('one'), undefined);
      assert.deepEqual(await store.list(again.sessionId), []);
      assert.deepEqual(await store.page({ limit: 10 }), []);
    }
  },
  'approvals: keeps the outcome of a record that was taken': async (store) => {
    const kept = record('one');
    await store.put(kept);
    assert.deepEqual(await store.read('one'), kept);
    await store.take('one');
    const { sessionId, principal, expiresAt } = kept;
    const outcome: SettledApproval = {
      id: 'one',
      sessionId,
      principal,
      expiresAt,
      settled: true,
      callId: 'c',
      tool: 't',
      seal: 'seal',
    };
    await store.settle(outcome);
    assert.deepEqual(await store.read('one'), outcome);
    const more: SettledApproval = {
      ...outcome,
      decision: 'allow_once',
      by: 'bob',
      result: { a: 1 },
    };
    await store.settle(more);
    assert.deepEqual(await store.read('one'), more);
    assert.equal(await store.take('one'), undefined);
    assert.equal(await store.read('none'), undefined);
  },
  'approvals: of people who allow at once, none is lost, and one is the last': async (store) => {
    for (const round of upTo(10)) {
      const kept = record(`r${round}`);
      await store.put(kept);
      const allowedIn = (found: JsonObject): string[] => (found.counted ?? []) as string[];
      const taken = await atOnce(5, async (person) => {
        let isLast = false;
        await store.takeOr(kept.id, (found) => {
          const counted = [...allowedIn(found), `p${person}`];
          isLast = counted.length === 5;
          return isLast ? undefined : { ...found, counted };
        });
        return isLast;
      });
      assert.equal(taken.filter((isLast) => isLast).length, 1);
      assert.equal(await store.take(kept.id), undefined);
      assert.deepEqual(await store.list('s'), []);
    }
  },
  'approvals: a record to which somebody is added stays where it is': async (store) => {
    const kept = record('one', 's', { principal: 'bob' });
    await store.put(kept);
    const counted = { ...kept, counted: ['ann'] };
    await store.takeOr('one', () => counted);
    assert.deepEqual(await store.page({ limit: 10, principal: 'bob' }), [counted]);
    assert.deepEqual(await store.list('s'), [counted]);
    await store.takeOr('one', (found) => found);
    assert.deepEqual(await store.take('one'), counted);
  },
  'approvals: pages what is open, in order of expiry and id': async (store) => {
    const at = Date.now() + 60_000;
    const [a, b, c, d] = [
      { ...record('a', 's2', { principal: 'bob' }), expiresAt: at },
      { ...record('b'), expiresAt: at },
      { ...record('c'), expiresAt: at - 10 },
      { ...record('d'), expiresAt: at + 10 },
    ] as const;
    for (const each of [d, b, a, c]) await store.put(each);
    await store.put({ ...record('old'), expiresAt: Date.now() - 1_000 });
    assert.deepEqual(await store.page({ limit: 10 }), [c, a, b, d]);
    assert.deepEqual(await store.page({ limit: 2 }), [c, a]);
    assert.deepEqual(await store.page({ limit: 2, after: { id: 'a', expiresAt: at } }), [b, d]);
    assert.deepEqual(await store.page({ limit: 10, sessionId: 's' }), [c, b, d]);
    assert.deepEqual(await store.page({ limit: 10, principal: 'bob' }), [a]);
    assert.deepEqual(await store.page({ limit: 10, sessionId: 's', principal: 'bob' }), []);
    // Records without a head are rows of their own.
    assert.deepEqual(await store.heads({ limit: 10 }), [c, a, b, d]);
    assert.deepEqual(await store.heads({ limit: 1, sessionId: 's' }), [c]);
    await store.take('a');
    assert.deepEqual(await store.page({ limit: 2, after: { id: 'a', expiresAt: at } }), [b, d]);
    assert.deepEqual(await store.page({ limit: 10 }), [c, b, d]);
  },
  'the records of a session are listed, for every principal, and no others': async (store) => {
    const mine = [
      record('one', 's', { principal: 'ann' }),
      record('two', 's', { principal: 'bob' }),
    ];
    for (const each of [...mine, record('three', 's2'), record('four', 'S'), record('five', '')])
      await store.put(each);
    const listed = await store.list('s');
    assert.deepEqual(idsOf(listed), ['one', 'two']);
    for (const each of mine)
      assert.deepEqual(
        listed.find(({ id }) => id === each.id),
        each,
      );
    assert.deepEqual(idsOf(await store.list('')), ['five']);
  },
  'listing removes nothing': async (store) => {
    await store.put(record('one'));
    for (const again of [1, 2, 3])
      assert.equal((await store.list('s')).length, 1, `Expected it in listing ${again}`);
    assert.notEqual(await store.take('one'), undefined);
  },
  'any string is an id': async (store) => {
    for (const id of portNames) await store.put(record(id));
    assert.deepEqual(idsOf(await store.list('s')), [...portNames].sort());
    for (const id of portNames) assert.equal((await store.take(id))?.token, `token of ${id}`);
    for (const id of portNames) assert.equal(await store.take(id), undefined);
    assert.deepEqual(await store.list('s'), []);
  },
  'any string is a session': async (store) => {
    for (const session of portNames) await store.put(record(`in ${session}`, session));
    for (const session of portNames)
      assert.deepEqual(idsOf(await store.list(session)), [`in ${session}`]);
    for (const session of portNames) {
      assert.equal((await store.take(`in ${session}`))?.sessionId, session);
      assert.deepEqual(await store.list(session), []);
    }
  },
  'an id and a session with the same text do not mix': async (store) => {
    await store.put(record('same', 'other'));
    await store.put(record('other', 'same'));
    assert.deepEqual(idsOf(await store.list('same')), ['other']);
    assert.deepEqual(idsOf(await store.list('other')), ['same']);
    assert.equal((await store.take('same'))?.sessionId, 'other');
    assert.deepEqual(idsOf(await store.list('same')), ['other']);
  },
  'a record comes back as the same JSON': async (store) => {
    const more = JSON.parse(
      '{"input":{"__proto__":{"a":1},"constructor":null,"":[],' +
        '"nested":[[{}],[0,-1,1.5,1e21,true,false]],' +
        '"text":"\\u0000\\u2028\\r\\n\\"\\\\","\\ud83e\\uddf0":"\\u00e9 e\\u0301"},"extra":null}',
    ) as JsonObject;
    const kept = record('one', 's', more);
    await store.put(kept);
    assert.equal(JSON.stringify((await store.list('s'))[0]), JSON.stringify(kept));
    assert.equal(JSON.stringify(await store.take('one')), JSON.stringify(kept));
  },
  'a large record is kept': async (store) => {
    const text = '\u20AC{}"\\'.repeat(250_000);
    await store.put(record('one', 's', { input: { text } }));
    assert.ok(
      ((await store.list('s'))[0]?.input as JsonObject | undefined)?.text === text,
      'Expected the text to be listed as it was',
    );
    assert.ok(
      ((await store.take('one'))?.input as JsonObject | undefined)?.text === text,
      'Expected the text to come back as it was',
    );
  },
  'expired records do not take others with them': async (store) => {
    await store.put(record('live'));
    await atOnce(200, (index) =>
      store.put({ ...record(`old${index}`), expiresAt: Date.now() - 1_000 }),
    );
    await store.put(record('last'));
    const listed = idsOf(await store.list('s'));
    assert.ok(listed.includes('live') && listed.includes('last'));
    assert.notEqual(await store.take('live'), undefined);
    assert.notEqual(await store.take('last'), undefined);
  },
};

/** The approvals of a store, with what rules ask for. */
export function approvalsOver(store: Store, now = Date.now) {
  const approvals = approvalsIn(store, now);
  return {
    ...approvals,
    take: async (id: string) => approvals.take(id, 10_000),
    takeOr: async (id: string, instead: Instead) => approvals.take(id, 10_000, instead),
    read: async (id: string) => (await approvals.read(id))?.record,
    list: async (sessionId: string) => approvals.page({ sessionId, limit: Infinity }),
    close: () => store.close(),
  };
}

/** What holds of approvals, whatever store they are in. `make` returns a fresh one. */
export function approvalRules(make: () => MaybePromise<Store>): readonly PortRule[] {
  return portRules(async () => approvalsOver(await make()), rules);
}
