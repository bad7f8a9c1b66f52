/** The suite of stores: that it tells a faulty store from a right one. */
import { AssertionError } from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { memoryStore } from '../../../../src/index.ts';
import { storeConformance } from '../../../../src/surfaces/testing/index.ts';

type Op = Store.Operation;
type Mutant = (inner: Store) => Partial<Store>;

/** A store that carries out other operations than it is given. */
function reading(edit: (op: Op) => Op): Mutant {
  return (inner) => ({
    apply: (space, ops) => inner.apply(space, ops.map(edit)) as never,
  });
}

/** Leaves a member of one kind of operation out. */
function without(kind: Op['op'], member: string): Mutant {
  return reading((op) => (op.op === kind ? { ...op, [member]: undefined } : op));
}

function instead(kind: Op['op'], change: object): Mutant {
  return reading((op) => (op.op === kind ? { ...op, ...change } : op));
}

/** Answers as if the operation had taken place. */
function undone(kind: Op['op']): Mutant {
  return reading((op) => (op.op === kind ? { op: 'publish', message: '' } : op));
}

/** A store that changes what it answers to a step that did not fit. */
function refusing(change: (refused: Store.Refused) => Store.Refused): Mutant {
  return (inner) => ({
    apply: (async (space: Store.Space, ops: readonly Op[]) => {
      const outcome = await inner.apply(space, ops);
      return outcome.refused === undefined ? outcome : change(outcome);
    }) as Store['apply'],
  });
}

const mutants: Readonly<Record<string, Mutant>> = {
  'a set has no condition': without('set', 'version'),
  'a time to live is ignored': without('set', 'ttlMs'),
  'an end is ignored': without('set', 'expiresAt'),
  'lists are ignored': without('set', 'lists'),
  'a lease is not renewed': undone('touch'),
  'any version renews a lease': (inner) => ({
    apply: (async (space: Store.Space, ops: readonly Op[]) => {
      const [op] = ops;
      if (op?.op !== 'touch') return inner.apply(space, ops);
      const got = await inner.apply(space, [{ op: 'get', keys: [op.key] }]);
      const version = got.results?.[0][0]?.version ?? op.version;
      return inner.apply(space, [{ ...op, version }]);
    }) as Store['apply'],
  }),
  'a delete has no condition': without('delete', 'version'),
  'a delete that is required may miss': without('delete', 'required'),
  'a log keeps everything': without('append', 'keep'),
  'a log has no condition': without('append', 'after'),
  'a log is read from its beginning': instead('read', { after: 0 }),
  'a log is read without a limit': instead('read', { limit: 1_000 }),
  'a list is read from its beginning': without('list', 'after'),
  'a list is read without a limit': instead('list', { limit: 1_000 }),
  'uses have no limit': instead('count', { limit: 1_000_000 }),
  'a window does not end': instead('count', { windowMs: 10 ** 12 }),
  'a sum has no limit': without('add', 'max'),
  'a sum does not slide': without('add', 'windowMs'),
  'an amount is not taken back': undone('subtract'),
  'a message has no version': without('publish', 'versionOf'),
  'a session is not extended': undone('extend'),
  'a session is not dropped': undone('drop'),
  'an end of a session is ignored': instead('open', { expiresAt: 8_000_000_000_000_000 }),
  'a text loses its NUL': reading((op) =>
    op.op === 'set' ? { ...op, value: op.value.replaceAll('\0', '') } : op,
  ),
  'a step is not one': (inner) => ({
    apply: (async (space: Store.Space, ops: readonly Op[]) => {
      const results: unknown[] = [];
      for (const [index, op] of ops.entries()) {
        const outcome = await inner.apply(space, [
          op.op === 'publish' ? { ...op, versionOf: undefined } : op,
        ]);
        if (outcome.refused !== undefined) return { ...outcome, refused: index };
        results.push(...outcome.results);
      }
      return { results };
    }) as Store['apply'],
  }),
  'all spaces are one': (inner) => ({
    apply: (space, ops) => inner.apply('shared' in space ? { shared: 'one' } : space, ops),
  }),
  'a refusal has no document': refusing(({ found, ...rest }) => rest),
  'a refusal has no uses': refusing(({ uses, ...rest }) => rest),
  'a refusal has no time to wait': refusing((refused) => ({ ...refused, retryAfterMs: 0 })),
  'a refusal does not know that a session is gone': refusing((one) => ({ ...one, gone: false })),
  'a refusal names another operation': refusing((one) => ({ ...one, refused: one.refused + 1 })),
  'what cannot be done is not refused': (inner) => ({
    apply: (async (space: Store.Space, ops: readonly Op[]) => {
      try {
        return await inner.apply(space, ops);
      } catch {
        return { refused: 0, gone: false, retryAfterMs: 0 };
      }
    }) as Store['apply'],
  }),
  'a due item is given again at once': (inner) => ({ due: (limit) => inner.due(limit, 0) }),
  'all due items are given': (inner) => ({ due: (_, delayMs) => inner.due(1_000, delayMs) }),
  'items are due at once': (inner) => ({
    schedule: (items, _, done) => inner.schedule(items, 0, done),
  }),
  'items that are done stay': (inner) => ({
    schedule: (items, delayMs) => inner.schedule(items, delayMs),
  }),
  'nobody hears messages': () => ({ listen: async () => () => {} }),
  'a listener cannot stop': (inner) => ({
    listen: async (space, listener) => {
      await inner.listen(space, listener);
      return () => {};
    },
  }),
};

/** Nothing ever fits. */
const refused: Mutant = () => ({
  apply: async () => ({ refused: 0, gone: false, retryAfterMs: 0 }),
});

describe('the suite itself', () => {
  test('each rule makes a store of its own, and closes it, also if it fails', async () => {
    let [made, closed] = [0, 0];
    const rules = storeConformance(() => {
      made += 1;
      return { ...memoryStore(), ...refused(memoryStore()), close: async () => void closed++ };
    });
    expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
    const rule = rules.find(({ name }) => name.includes('session'));
    await expect(rule?.run()).rejects.toBeInstanceOf(AssertionError);
    await expect(rule?.run()).rejects.toBeInstanceOf(AssertionError);
    expect([made, closed]).toEqual([2, 2]);
  });

  test('a store that cannot be made fails the rule', async () => {
    const rules = storeConformance(() => Promise.reject(new Error('no store')));
    await expect(rules[0]?.run()).rejects.toThrow('no store');
  });
});

describe('detects a faulty store', () => {
  test.each(Object.entries(mutants))('%s', async (_, mutant) => {
    const rules = storeConformance(() => {
      const inner = memoryStore();
      const faulty: Store = { ...inner, ...mutant(inner) };
      let calls = 0;
      // A rule that reads until there is nothing left would go on for ever.
      const counted = <A extends unknown[], R>(run: (...given: A) => R) => {
        return (...given: A): R => {
          if (++calls > 20_000) throw new Error('This would never end.');
          return run(...given);
        };
      };
      return {
        ...faulty,
        apply: counted(faulty.apply) as Store['apply'],
        due: counted(faulty.due),
      };
    });
    // At the same time, since some rules wait for a second.
    const failures = rules.map(async ({ name, run }) => {
      const isKept = await run().then(
        () => true,
        () => false,
      );
      if (isKept) throw new Error(`${name}: kept`);
      return name;
    });
    expect(await Promise.any(failures)).toBeTypeOf('string');
  });
});
