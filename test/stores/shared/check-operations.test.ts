/** What no store can carry out is refused with `invalid_operation` before anything is sent. */
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../src/api/store.ts';
import {
  checkDue,
  checkSchedule,
  checkSpace,
  checkStep,
} from '../../../src/stores/shared/check-operations.ts';
import { MisuseError } from '../../../src/values/errors/index.ts';

const shared: Store.Space = { shared: 'calls' };
const session: Store.Space = { session: 's1' };
const lone = 'a\ud800';
const step = (...operations: object[]) => operations as unknown as readonly Store.Operation[];
const refusal = (act: () => void): string => {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(MisuseError);
    expect((error as MisuseError).code).toBe('invalid_operation');
    return (error as MisuseError).message;
  }
  return expect.unreachable('expected a refusal') as never;
};
const set = (more: object = {}) => ({ op: 'set', key: 'k', value: 'v', ...more });
const add = (more: object = {}) => ({ op: 'add', key: 'k', amount: 1n, ...more });

describe('a step that a store can carry out passes', () => {
  test.each<[string, Store.Space, readonly object[]]>([
    [
      'all operations of a session',
      session,
      [
        { op: 'open', expiresAt: 0 },
        { op: 'extend', expiresAt: 8.64e15 },
        { op: 'get', keys: ['k', '__proto__', '\0', '🙂'] },
        set({ version: 0, ttlMs: 1 }),
        set({ expiresAt: 5, value: '' }),
        { op: 'touch', key: 'k', version: 1, ttlMs: 10 ** 13 },
        { op: 'delete', key: 'k', version: 3, required: true },
        { op: 'append', log: 'l', value: 'v', keep: 100_000, after: 0 },
        { op: 'read', log: 'l', after: 0, limit: 0 },
        { op: 'count', key: 'k', limit: 1, windowMs: 1 },
        { op: 'publish', message: '', versionOf: 3 },
        { op: 'drop' },
      ],
    ],
    [
      'all operations of a shared space',
      shared,
      [
        { op: 'list', list: 'l', limit: 1_000, after: { expiresAt: null, key: 'k' }, bytes: 1 },
        set({ lists: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] }),
        add({ max: 0n, windowMs: 1, owner: {}, holder: 'me' }),
        { op: 'sum', key: 'other', amount: 0n },
        { op: 'subtract', key: 'third', amount: 10n ** 34n, place: '1' },
        { op: 'subtract', key: 'third', amount: 1n, place: '2' },
      ],
    ],
    ['1 000 operations', shared, Array.from({ length: 1_000 }, () => set())],
    ['names of 2 000 characters', { shared: 'n'.repeat(2_000) }, [set({ key: 'k'.repeat(2_000) })]],
    ['8 MB of ASCII', shared, [set({ value: 'v'.repeat(8 * 1_024 ** 2) })]],
    ['8 MB of emoji', shared, [set({ value: '🙂'.repeat(2 * 1_024 ** 2) })]],
  ])('%s', (_name, space, operations) => {
    expect(checkStep(space, step(...operations))).toBeUndefined();
  });
});

describe('a step that no store can carry out is refused, and the message says why', () => {
  const year = 365 * 86_400_000;
  test.each<[string, Store.Space, readonly object[], RegExp]>([
    ['no operation', shared, [], /1 to 1000 operations, got 0/],
    ['1 001', shared, Array.from({ length: 1_001 }, () => set()), /got 1001/],
    ['an unknown one', shared, [{ op: 'swap' }], /`swap`\): expected a known operation/],
    ['an empty name', shared, [set({ key: '' })], /`key`: expected a string of 1 to 2000.*got 0/],
    ['a long name', shared, [set({ key: 'k'.repeat(2_001) })], /got 2001/],
    ['no name', shared, [set({ key: undefined })], /got undefined/],
    ['half a character in a name', shared, [set({ key: lone })], /`key`: expected no lone surr/],
    ['half a character in a value', shared, [set({ value: lone })], /`value`: expected no lone/],
    ['a value that is no string', shared, [set({ value: 3 })], /`value`: expected a string, got n/],
    ['a long value', shared, [set({ value: 'v'.repeat(8_388_609) })], /at most 8388608 bytes/],
    ['a long value of few characters', shared, [set({ value: '€'.repeat(2_796_203) })], /at most/],
    ['both ends', shared, [set({ ttlMs: 1, expiresAt: 1 })], /at most one of `ttlMs` and/],
    ['a negative version', shared, [set({ version: -1 })], /`version`: expected a whole number/],
    ['half a version', shared, [{ op: 'delete', key: 'k', version: 0.5 }], /`version`/],
    ['no time to live', shared, [set({ ttlMs: 0 })], /`ttlMs`: expected a whole number from 1/],
    ['an endless time to live', shared, [set({ ttlMs: 318 * year })], /`ttlMs`/],
    ['an end that is no date', shared, [set({ expiresAt: 8.64e15 + 1 })], /`expiresAt`/],
    [
      'nine lists',
      shared,
      [set({ lists: [...'abcdefghi'] })],
      /`lists`: expected at most 8, got 9/,
    ],
    ['a list twice', shared, [set({ lists: ['a', 'a'] })], /each of `lists` once/],
    ['an empty list', shared, [set({ lists: [''] })], /`lists`: expected a string/],
    ['touch without a version', shared, [{ op: 'touch', key: 'k', ttlMs: 1 }], /`version`/],
    ['a list of none', shared, [{ op: 'list', list: 'l', limit: 0 }], /`limit`.*from 1 to 1000/],
    ['a list of too many', shared, [{ op: 'list', list: 'l', limit: 1_001 }], /`limit`/],
    ['a list of no bytes', shared, [{ op: 'list', list: 'l', limit: 1, bytes: 0 }], /`bytes`/],
    [
      'a list after nothing',
      shared,
      [{ op: 'list', list: 'l', limit: 1, after: { expiresAt: 1, key: '' } }],
      /`after.key`/,
    ],
    ['keeping no entry', shared, [{ op: 'append', log: 'l', value: '', keep: 0 }], /`keep`/],
    ['reading too many', shared, [{ op: 'read', log: 'l', after: 0, limit: 1_001 }], /`limit`/],
    ['counting to 0', shared, [{ op: 'count', key: 'k', limit: 0, windowMs: 1 }], /`limit`/],
    [
      'counting for ever',
      shared,
      [{ op: 'count', key: 'k', limit: 1, windowMs: 1e14 }],
      /windowMs/,
    ],
    ['a number as amount', shared, [add({ amount: 1 })], /`amount`: expected a bigint from 0/],
    ['a negative amount', shared, [add({ amount: -1n })], /`amount`/],
    ['a huge amount', shared, [add({ amount: 10n ** 34n + 1n })], /`amount`/],
    ['a huge maximum', shared, [add({ max: 10n ** 34n + 1n })], /`max`/],
    ['half a window', shared, [add({ windowMs: 0.5 })], /`windowMs`/],
    ['an owner that is none', shared, [add({ owner: 'me' })], /`owner`: expected an object/],
    ['no place', shared, [{ op: 'subtract', key: 'k', amount: 1n, place: '' }], /`place`/],
    [
      'a sum twice',
      shared,
      [add(), add()],
      /operation 1 \(`add`\): expected its key to occur once/,
    ],
    ['a sum read and added to', shared, [add(), { ...add(), op: 'sum' }], /occur once/],
    [
      'a sum taken from and added to',
      shared,
      [{ op: 'subtract', key: 'k', amount: 1n, place: '1' }, add()],
      /occur once/,
    ],
    ['a version of itself', shared, [{ op: 'publish', message: '', versionOf: 0 }], /`versionOf`/],
    [
      'a version of no set',
      shared,
      [add(), { op: 'publish', message: '', versionOf: 0 }],
      /earlier/,
    ],
    [
      'a version below 0',
      shared,
      [set(), { op: 'publish', message: '', versionOf: -1 }],
      /earlier/,
    ],
    ['a message that is none', shared, [{ op: 'publish' }], /`message`/],
    ['drop before another', session, [{ op: 'drop' }, set()], /to be the last operation/],
    ['1 001 keys', shared, [{ op: 'get', keys: Array(1_001).fill('k') }], /at most 1000, got 1001/],
    [
      '1 001 keys of two operations',
      shared,
      [
        { op: 'get', keys: Array(501).fill('k') },
        { op: 'list', list: 'l', limit: 500 },
      ],
      /got 1001 and 0/,
    ],
    [
      '1 001 entries of two logs',
      shared,
      ['a', 'b'].map((log, index) => ({ op: 'read', log, after: 0, limit: 500 + index })),
      /got 0 and 1001/,
    ],
    ...['open', 'extend', 'drop'].map((op): [string, Store.Space, readonly object[], RegExp] => [
      `${op} in a shared space`,
      shared,
      [{ op, expiresAt: 1 }],
      /only in sessions/,
    ]),
    ...[
      { op: 'list', list: 'l', limit: 1 },
      add(),
      { ...add(), op: 'sum' },
      {
        op: 'subtract',
        key: 'k',
        amount: 1n,
        place: '1',
      },
    ].map((operation): [string, Store.Space, readonly object[], RegExp] => [
      `${operation.op} in a session`,
      session,
      [operation],
      /only in shared spaces/,
    ]),
    ['lists in a session', session, [set({ lists: ['l'] })], /`lists` only in shared spaces/],
  ])('%s', (_name, space, operations, message) => {
    expect(refusal(() => checkStep(space, step(...operations)))).toMatch(message);
  });

  test.each<[string, object]>([
    ['none', {}],
    ['both', { shared: 'a', session: 'b' }],
    ['an empty one', { shared: '' }],
    ['half a character', { session: lone }],
    ['a number', { session: 3 }],
  ])('a space that is none: %s', (_name, space) => {
    refusal(() => checkSpace(space as Store.Space));
    refusal(() => checkStep(space as Store.Space, step(set())));
  });

  test('no value is shown', () => {
    expect(refusal(() => checkStep(shared, step(set({ value: `secret${lone}` }))))).not.toMatch(
      /secret/,
    );
  });
});

describe('due items', () => {
  const item = { owner: 'o', key: 'k' };
  test('what a store can schedule passes', () => {
    checkSchedule([item], 0);
    checkSchedule([], 10 ** 13, Array(1_000).fill(item));
    checkDue(1, 0);
    checkDue(1_000, 10 ** 13);
  });

  test.each<[string, () => void, RegExp]>([
    ['a delay below 0', () => checkSchedule([item], -1), /`delayMs`/],
    ['half a delay', () => checkSchedule([item], 0.5), /`delayMs`/],
    ['1 001 items', () => checkSchedule(Array(1_001).fill(item), 0), /`items`: expected at most/],
    ['1 001 done', () => checkSchedule([], 0, Array(1_001).fill(item)), /`done`: expected at most/],
    ['no owner', () => checkSchedule([{ owner: '', key: 'k' }], 0), /`owner`/],
    ['no key', () => checkSchedule([], 0, [{ owner: 'o', key: '' }]), /`key`/],
    ['none due', () => checkDue(0, 0), /`limit`/],
    ['too many due', () => checkDue(1_001, 0), /`limit`/],
    ['due again in the past', () => checkDue(1, -1), /`delayMs`/],
  ])('%s is refused', (_name, act, message) => {
    expect(refusal(act)).toMatch(message);
  });
});
