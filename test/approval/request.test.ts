import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, readPrompt } from '../../src/approval/request.ts';

describe('an answer', () => {
  test.each([
    ['allow_once', true, false],
    ['allow_always', true, true],
    ['reject_once', false, false],
    ['reject_always', false, true],
  ] as const)('%s is read as a text and as an object', (decision, allowed, always) => {
    expect(readAnswer(decision)).toMatchObject({ allowed, always });
    expect(readAnswer({ decision })).toMatchObject({ allowed, always });
  });

  test.each<[what: string, answer: unknown]>([
    ['a grant with a misspelt bound', { decision: 'allow_always', grant: { match: 'tool', expiresMs: 1 } }],
    ['misspelt arguments, beside which the first ones would run', { decision: 'allow_once', inputs: {} }],
    ['a misspelt grant, beside which the answer would have no bounds', { decision: 'allow_always', grants: { uses: 1 } }],
    ['yes', 'yes'],
    ['allow', 'allow'],
    ['Allow now', 'Allow now'],
    ['disallow_once', 'disallow_once'],
    ['another case', 'Allow_Once'],
    ['white space around it', ' allow_once '],
    ['a choice inside a text', 'please allow_once'],
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a number', 1],
    ['a list that reads like a choice', ['allow_once']],
    ['a String object', new String('allow_once')],
    ['an object without a decision', {}],
    ['a decision of another kind', { decision: true }],
    ['a list as decision', { decision: ['allow_once'] }],
    ['what only an approval of older runtimes has', { allowed: true, approved: true, granted: true }],
    ['a key of every object', 'constructor'],
    ['__proto__', '__proto__'],
    ['an input that is a list', { decision: 'allow_once', input: [] }],
    ['an input that is a text', { decision: 'allow_once', input: '{}' }],
    ['an input that is null', { decision: 'allow_once', input: null }],
    ['a grant that is a text', { decision: 'allow_always', grant: 'tool' }],
    ['a grant for another match', { decision: 'allow_always', grant: { match: 'all' } }],
    ['a grant of no use', { decision: 'allow_always', grant: { uses: 0 } }],
    ['a grant of half a use', { decision: 'allow_always', grant: { uses: 1.5 } }],
    ['a grant that has ended', { decision: 'allow_always', grant: { expiresInMs: 0 } }],
    ['a grant that ends at no number', { decision: 'allow_always', grant: { expiresInMs: Number.NaN } }],
    ['a grant that never ends', { decision: 'allow_always', grant: { expiresInMs: Number.POSITIVE_INFINITY } }],
    ['a grant of uses as text', { decision: 'allow_always', grant: { uses: '3' } }],
  ])('%s is none', (_, answer) => {
    expect(readAnswer(answer)).toBeUndefined();
  });

  test('no other text is ever one', () => {
    const choices = new Set(['allow_once', 'allow_always', 'reject_once', 'reject_always']);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.constantFrom(...choices).chain((choice) => fc.string().map((more) => choice + more)),
        ),
        (text) => {
          expect(readAnswer(text) !== undefined).toBe(choices.has(text));
        },
      ),
    );
  });

  test('an inherited decision counts as little as a made-up one', () => {
    expect(readAnswer(Object.create({ decision: 'allow_once' }))).toBeUndefined();
  });

  test('a grant counts only with an answer for always', () => {
    expect(readAnswer({ decision: 'allow_once', grant: { match: 'tool' } })?.grant).toBeUndefined();
    expect(readAnswer({ decision: 'allow_always', grant: { match: 'tool', uses: 3, expiresInMs: 10 } })?.grant).toEqual({
      match: 'tool',
      uses: 3,
      expiresInMs: 10,
    });
    expect(readAnswer('allow_always')?.grant).toEqual({ match: 'input', uses: undefined, expiresInMs: undefined });
  });

  test('who answered and what was said are texts or nothing', () => {
    expect(readAnswer({ decision: 'reject_once', by: 'ann', message: 'not today' })).toMatchObject({ by: 'ann', message: 'not today' });
    expect(readAnswer({ decision: 'reject_once', by: { name: 'ann' }, message: 1 })).toMatchObject({ by: undefined, message: undefined });
  });
});

test('a prompt with a misspelt member is none', () => {
  expect(readPrompt({ title: 'Delete?', risk: 'high' })).toEqual({ title: 'Delete?', risk: 'high' });
  expect(readPrompt({ title: 'Delete?', rsik: 'high' })).toBeUndefined();
});
