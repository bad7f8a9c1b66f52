import { describe, expect, test } from 'vitest';
import { groupsOf } from '../../../src/surfaces/pages/browser/approvals/groups.ts';

let n = 0;
const ask = (callId: string, requestedAt: number, more: object = {}) => ({
  n: ++n,
  asked: { callId, requestedAt, sessionId: 's', principal: 'ann', ...more },
});
const parent = (callId: string, tool = 'pay_all') => ({ parent: { callId, tool } });
const told = (entries: ReturnType<typeof ask>[]) =>
  groupsOf(entries).map(({ words, members }) => [
    words,
    ...members.map(({ asked }) => asked.callId),
  ]);

describe('questions that belong together', () => {
  test('are those of one program, however late, in its order', () => {
    expect(
      told([
        ask('p/10', 0, parent('p')),
        ask('other', 1),
        ask('p/9', 0, parent('p')),
        ask('p/11', 60_000, parent('p')),
        ask('q/1', 2, parent('q', 'tidy')),
      ]),
    ).toEqual([
      ['calls of pay_all', 'p/9', 'p/10', 'p/11'],
      ['calls asked together in s', 'other'],
      ['calls of tidy', 'q/1'],
    ]);
  });

  test('are those that one session asks at the same time', () => {
    expect(told([ask('a', 0), ask('b', 2_000), ask('c', 4_000), ask('d', 6_001)])).toEqual([
      ['calls asked together in s', 'a', 'b', 'c'],
      ['calls asked together in s', 'd'],
    ]);
  });

  test('are never of two sessions, or for two people', () => {
    expect(
      told([
        ask('a', 0),
        ask('b', 0, { sessionId: 't' }),
        ask('c', 0, { principal: 'bob' }),
        ask('d', 0, { sessionId: 't', ...parent('p') }),
        ask('e', 0, parent('p')),
      ]).map(([, ...ids]) => ids),
    ).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
  });
});
