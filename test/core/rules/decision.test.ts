import { describe, expect, test } from 'vitest';
import { allow, ask, deny, isReason, readDecision } from '../../../src/core/rules/decision.ts';

describe('a reason', () => {
  test.each(['a', 'z', 'a0', 'a9', 'a_', 'not_now_9', 'a'.repeat(128)])('may be %j', (text) => {
    expect(isReason(text)).toBe(true);
  });

  // The characters beside each range that is allowed, and what is no text.
  test.each([
    ...[
      '',
      '0',
      '9',
      '_',
      '_a',
      '`',
      '{',
      'A',
      'a/',
      'a:',
      'a^',
      'a`',
      'a{',
      'aA',
      'a-b',
      'a b',
      'a\n',
      '\u00e9',
    ],
    ...['a'.repeat(129), undefined, null, 7, ['a']],
  ])('may not be %j', (value) => {
    expect(isReason(value)).toBe(false);
  });
});

describe('what a gate answers', () => {
  test.each([
    [allow(), { effect: 'allow' }],
    [{ effect: 'allow', reason: 'Not Read' }, { effect: 'allow' }],
    [ask(), { effect: 'ask' }],
    [ask('Sure?'), { effect: 'ask', prompt: 'Sure?' }],
    [{ effect: 'ask', prompt: undefined }, { effect: 'ask' }],
    [deny('not_now'), { effect: 'deny', reason: 'not_now' }],
    [deny('not_now', 'Wait.'), { effect: 'deny', reason: 'not_now', message: 'Wait.' }],
    [
      { effect: 'deny', reason: 'not_now', message: 7 },
      { effect: 'deny', reason: 'not_now' },
    ],
  ])('%j is read as %j', (value, decision) => {
    expect(readDecision(value)).toStrictEqual(decision);
  });

  test.each<[what: string, value: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'allow'],
    ['a function, whatever it has', Object.assign(() => {}, { effect: 'allow' })],
    ['an effect that nobody knows', { effect: 'permit' }],
    ['an inherited effect', Object.create({ effect: 'allow' })],
    ['an ask in no words', { effect: 'ask', prompt: 7 }],
    ['an ask with null for words', { effect: 'ask', prompt: null }],
    ['a denial without a reason', { effect: 'deny' }],
    [
      'a denial with an inherited reason',
      Object.assign(Object.create({ reason: 'not_now' }), { effect: 'deny' }),
    ],
  ])('%s is no decision', (_, value) => {
    expect(readDecision(value)).toBe('nonsense');
  });
});
