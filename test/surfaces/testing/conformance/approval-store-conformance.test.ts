import { AssertionError } from 'node:assert/strict';
import { describe, expect, test } from 'vitest';
import type { ApprovalStore, InboxStore } from '../../../../src/api/approval-store.ts';
import { memoryApprovalStore } from '../../../../src/parts/durable-approvals/memory-store.ts';
import { approvalStoreConformance } from '../../../../src/surfaces/testing/conformance/approval-store-conformance.ts';
import type { JsonObject } from '../../../../src/values/json/index.ts';

const memory = (): InboxStore => memoryApprovalStore(Date.now);

describe('the approval store in memory', () => {
  for (const rule of approvalStoreConformance(memory)) test(rule.name, rule.run);
});

describe('an approval store that answers later', () => {
  const later = (): ApprovalStore => {
    const inner = memory();
    const wait = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    return {
      put: (record) => wait().then(() => inner.put(record)),
      take: (id) => wait().then(() => inner.take(id)),
      list: (sessionId) => wait().then(() => inner.list(sessionId)),
      settle: (outcome) => wait().then(() => inner.settle(outcome)),
      read: (id) => wait().then(() => inner.read(id)),
      page: (query) => wait().then(() => inner.page(query)),
    };
  };
  for (const rule of approvalStoreConformance(later)) test(rule.name, rule.run);
});

const faulty: Record<
  string,
  readonly [change: (inner: InboxStore) => Partial<ApprovalStore>, broken: readonly string[]]
> = {
  'whose take leaves the record': [
    (inner) => ({
      take: (id) => inner.read(id),
    }),
    ['a record that was put can be taken once, unchanged', 'taking one record leaves the others'],
  ],
  'that reads before it removes': [
    (inner) => {
      const kept = new Map<string, JsonObject>();
      return {
        put: (record) => {
          kept.set(record.id, record);
          return inner.put(record);
        },
        take: async (id) => {
          const found = kept.get(id);
          await Promise.resolve();
          kept.delete(id);
          await inner.take(id);
          return found;
        },
      };
    },
    ['of many callers that take a record at once, one gets it'],
  ],
  'that keeps the first record of an id': [
    (inner) => {
      const ids = new Set<string>();
      return {
        put: (record) => {
          if (ids.has(record.id)) return;
          ids.add(record.id);
          return inner.put(record);
        },
      };
    },
    [
      'putting the same id again replaces the record',
      'putting the same id in another session moves it out of the first',
    ],
  ],
  'that merges records of an id': [
    (inner) => ({
      put: async (record) => {
        await inner.put({ ...(await inner.take(record.id)), ...record });
      },
    }),
    ['putting the same id again replaces the record'],
  ],
  'that lists what was replaced': [
    (inner) => {
      const all: JsonObject[] = [];
      return {
        put: (record) => {
          all.push(record);
          return inner.put(record);
        },
        list: (sessionId) => all.filter((record) => record.sessionId === sessionId),
      };
    },
    [
      'putting the same id again replaces the record',
      'putting the same id in another session moves it out of the first',
      'taking one record leaves the others',
    ],
  ],
  'that lists everything': [
    () => {
      const all: JsonObject[] = [];
      return { put: (record) => void all.push(record), list: () => all };
    },
    [
      'a record that was never put does not exist',
      'the records of a session are listed, for every principal, and no others',
    ],
  ],
  'that lists one principal': [
    (inner) => ({
      list: async (sessionId) =>
        (await inner.list(sessionId)).filter(({ principal }) => principal !== 'bob'),
    }),
    ['the records of a session are listed, for every principal, and no others'],
  ],
  'that keeps only what has a token': [
    (inner) => ({ put: (record) => ('token' in record ? inner.put(record) : undefined) }),
    ['the mark that a record was taken is kept and listed, and leaves other records alone'],
  ],
  'that lists only what has a token': [
    (inner) => ({
      list: async (sessionId) =>
        (await inner.list(sessionId)).filter(({ token }) => token !== undefined),
    }),
    ['the mark that a record was taken is kept and listed, and leaves other records alone'],
  ],
  'whose listing removes': [
    (inner) => ({
      list: async (sessionId) => {
        const found = await inner.list(sessionId);
        for (const { id } of found) await inner.take(id as string);
        return found;
      },
    }),
    ['listing removes nothing'],
  ],
  'that keeps records in an object': [
    (inner) => {
      const records: Record<string, JsonObject | undefined> = {};
      return {
        put: (record) => {
          records[record.id] = record;
          return inner.put(record);
        },
        take: async (id) => {
          const found = records[id];
          delete records[id];
          await inner.take(id);
          return found;
        },
      };
    },
    ['a record that was never put does not exist', 'any string is an id'],
  ],
  'that takes ids in any case': [
    (inner) => ({
      put: (record) => inner.put({ ...record, id: record.id.toLowerCase() }),
      take: (id) => inner.take(id.toLowerCase()),
    }),
    ['any string is an id'],
  ],
  'that loses its own names of prototypes': [
    (inner) => ({
      take: async (id) => {
        const found = await inner.take(id);
        return (
          found &&
          (JSON.parse(JSON.stringify(found), (key, value: unknown) =>
            key === '__proto__' ? undefined : value,
          ) as JsonObject)
        );
      },
    }),
    ['a record comes back as the same JSON'],
  ],
  'that refuses large records quietly': [
    (inner) => ({
      put: (record) => (JSON.stringify(record).length > 500_000 ? undefined : inner.put(record)),
    }),
    ['a large record is kept'],
  ],
  'that clears all when some have expired': [
    (inner) => {
      const ids: string[] = [];
      return {
        put: async (record) => {
          if (record.expiresAt < Date.now()) for (const id of ids.splice(0)) await inner.take(id);
          ids.push(record.id);
          await inner.put(record);
        },
      };
    },
    ['expired records do not take others with them'],
  ],
};

describe('the suite detects a faulty store', () => {
  test('every rule has a name of its own', () => {
    const names = approvalStoreConformance(memory).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  for (const [name, [change, broken]] of Object.entries(faulty))
    test(name, async () => {
      const make = (): ApprovalStore => {
        const inner = memory();
        return { ...inner, ...change(inner) };
      };
      const rules = new Map(approvalStoreConformance(make).map((rule) => [rule.name, rule]));
      for (const sentence of broken) {
        expect(rules.get(sentence), sentence).toBeDefined();
        await expect(rules.get(sentence)?.run(), sentence).rejects.toBeInstanceOf(AssertionError);
      }
    });
});
