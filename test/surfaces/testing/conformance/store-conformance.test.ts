import { AssertionError } from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';
import type { RelayStore } from '../../../../src/surfaces/relay/ports/store.ts';
import { relayStoreConformance } from '../../../../src/surfaces/testing/conformance/store-conformance.ts';
import { mutantStore, sessionMutants } from './store-mutants.ts';
import { applyMutants } from './store-mutants-apply.ts';
import { documentMutants, logMutants } from './store-mutants-documents.ts';
import { counterMutants, dueMutants, leaseMutants } from './store-mutants-time.ts';

describe('the suite itself', () => {
  test('every rule has a name of its own', () => {
    const names = relayStoreConformance(memoryStore).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('each rule makes a store of its own, and closes it', async () => {
    let [made, closed] = [0, 0];
    const rule = relayStoreConformance(async () => {
      made += 1;
      return { ...memoryStore(), close: async () => void closed++ };
    }).find(({ name }) => name === 'a session begins with its first document');
    expect(made).toBe(0);
    await rule?.run();
    await rule?.run();
    expect([made, closed]).toEqual([2, 2]);
  });

  test('a store that fails a rule is closed too, and the reason is an assertion', async () => {
    let closed = 0;
    const make = (): RelayStore => ({
      ...memoryStore(),
      create: async () => false,
      close: async () => void closed++,
    });
    const rule = relayStoreConformance(make).find(
      ({ name }) => name === 'a session begins with its first document',
    );
    await expect(rule?.run()).rejects.toBeInstanceOf(AssertionError);
    expect(closed).toBe(1);
  });

  test('a store that cannot be made fails the rule', async () => {
    const rules = relayStoreConformance(() => Promise.reject(new Error('no store')));
    await expect(rules[0]?.run()).rejects.toThrow('no store');
  });
});

describe('detects a faulty store', () => {
  const mutants = {
    ...sessionMutants,
    ...documentMutants,
    ...logMutants,
    ...leaseMutants,
    ...counterMutants,
    ...applyMutants,
  };
  const all = [
    ...Object.entries(mutants),
    ...Object.entries(dueMutants).map(
      ([name, mutant]) => [`${name}, of what is due`, mutant] as const,
    ),
  ];
  for (const [name, [change, broken]] of all)
    test(name, async () => {
      const rules = new Map(
        relayStoreConformance(() => mutantStore(change)).map((rule) => [rule.name, rule]),
      );
      await Promise.all(
        broken.map(async (sentence) => {
          const rule = rules.get(sentence);
          expect(rule, sentence).toBeDefined();
          await expect(rule?.run(), sentence).rejects.toBeInstanceOf(AssertionError);
        }),
      );
    });
});
