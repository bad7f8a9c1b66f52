import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPrompt } from '../../../src/core/approval/read-prompt.ts';
import { approvalChoices, readAnswer } from '../../../src/core/approval/request.ts';

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

  test('has every member, said or not, and a grant where it is for always', () => {
    const unsaid = { by: undefined, roles: undefined, message: undefined, input: undefined };
    const grant = { match: 'input', uses: undefined, expiresInMs: undefined };
    for (const given of [
      'allow_once',
      { decision: 'allow_once' },
      { decision: 'allow_once', by: undefined, input: undefined, grant: undefined },
    ])
      expect(readAnswer(given)).toStrictEqual({
        allowed: true,
        always: false,
        ...unsaid,
        grant: undefined,
      });
    for (const given of [
      'reject_always',
      { decision: 'reject_always' },
      { decision: 'reject_always', grant: {} },
    ])
      expect(readAnswer(given)).toStrictEqual({ allowed: false, always: true, ...unsaid, grant });
  });

  test('is one of four, and no one can add a fifth', () => {
    expect(approvalChoices).toEqual(['allow_once', 'allow_always', 'reject_once', 'reject_always']);
    expect(approvalChoices).toSatisfy(Object.isFrozen);
  });

  test('bounds a grant by one use, or one millisecond, or less of that', () => {
    for (const grant of [{ uses: 1 }, { expiresInMs: 1 }, { expiresInMs: 0.5 }])
      expect(readAnswer({ decision: 'allow_always', grant })?.grant).toMatchObject({
        match: 'input',
        ...grant,
      });
  });

  test.each<[what: string, answer: unknown]>([
    ['a grant that is null', { decision: 'allow_always', grant: null }],
    [
      'a senseless grant, also where it would not count',
      { decision: 'allow_once', grant: { uses: 0 } },
    ],
    [
      'a grant with a misspelt bound',
      { decision: 'allow_always', grant: { match: 'tool', expiresMs: 1 } },
    ],
    [
      'misspelt arguments, beside which the first ones would run',
      { decision: 'allow_once', inputs: {} },
    ],
    ['arguments under the word of others', { decision: 'allow_once', args: {} }],
    [
      'a misspelt grant, beside which the answer would have no bounds',
      { decision: 'allow_always', grants: { uses: 1 } },
    ],
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
    ['a function, whatever it has', Object.assign(() => {}, { decision: 'allow_once' })],
    ['a decision of another kind', { decision: true }],
    ['a list as decision', { decision: ['allow_once'] }],
    [
      'what only an approval of older runtimes has',
      { allowed: true, approved: true, granted: true },
    ],
    ['a key of every object', 'constructor'],
    ['__proto__', '__proto__'],
    ['an input that is a list', { decision: 'allow_once', input: [] }],
    ['an input that is a text', { decision: 'allow_once', input: '{}' }],
    ['an input that is null', { decision: 'allow_once', input: null }],
    ['a grant that is a number', { decision: 'allow_always', grant: 7 }],
    ['a grant that is true', { decision: 'allow_always', grant: true }],
    ['a grant that is an empty text', { decision: 'allow_always', grant: '' }],
    ['a grant that is a function', { decision: 'allow_always', grant: () => {} }],
    ['a grant that is a text', { decision: 'allow_always', grant: 'tool' }],
    ['a grant for another match', { decision: 'allow_always', grant: { match: 'all' } }],
    ['a grant of no use', { decision: 'allow_always', grant: { uses: 0 } }],
    ['a grant of half a use', { decision: 'allow_always', grant: { uses: 1.5 } }],
    ['a grant that has ended', { decision: 'allow_always', grant: { expiresInMs: 0 } }],
    [
      'a grant that ends at no number',
      { decision: 'allow_always', grant: { expiresInMs: Number.NaN } },
    ],
    [
      'a grant that never ends',
      { decision: 'allow_always', grant: { expiresInMs: Number.POSITIVE_INFINITY } },
    ],
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
    expect(
      readAnswer({ decision: 'allow_always', grant: { match: 'tool', uses: 3, expiresInMs: 10 } })
        ?.grant,
    ).toEqual({
      match: 'tool',
      uses: 3,
      expiresInMs: 10,
    });
    expect(readAnswer('allow_always')?.grant).toEqual({
      match: 'input',
      uses: undefined,
      expiresInMs: undefined,
    });
  });

  describe('with another input', () => {
    const read = (input: unknown, maxInputChars?: number): unknown =>
      readAnswer({ decision: 'allow_once', input } as never, maxInputChars)?.input;
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

    test('has a copy of it, and says whether its names are safe', () => {
      const input = { a: [1] };
      expect(read(input)).toEqual({ value: { a: [1] }, unsafe: false });
      expect((read(input) as { value: object }).value).not.toBe(input);
      expect(read(JSON.parse('{"__proto__":1}'))).toMatchObject({ unsafe: true });
    });

    test.each<
      [what: string, most: number, input: (size: number) => unknown, maxInputChars?: number]
    >([
      ['64 levels', 64, (size) => ({ a: nested(size - 1) })],
      [
        '50 000 values, itself and its parts counted',
        50_000,
        (size) => ({ a: Array.from({ length: size - 2 }, () => 1) }),
      ],
      ['1 048 576 characters of JSON', 1_048_576, (size) => ({ a: 'x'.repeat(size - 8) })],
      ['as many characters of JSON as are said', 100, (size) => ({ a: 'x'.repeat(size - 8) }), 100],
    ])('may give %s, and no more', (_, most, input, maxInputChars) => {
      expect(read(input(most), maxInputChars)).toEqual({ value: input(most), unsafe: false });
      expect(read(input(most + 1), maxInputChars)).toBe('unreadable');
    });

    test('that JSON cannot hold has one that is unreadable', () => {
      for (const input of [{ a: 1n }, { a: () => 1 }, new Date(0)])
        expect(read(input)).toBe('unreadable');
    });
  });

  test('who answered and what was said are texts or nothing', () => {
    expect(readAnswer({ decision: 'reject_once', by: 'ann', message: 'not today' })).toMatchObject({
      by: 'ann',
      message: 'not today',
    });
    expect(readAnswer({ decision: 'reject_once', by: { name: 'ann' }, message: 1 })).toMatchObject({
      by: undefined,
      message: undefined,
    });
  });
});

describe('a prompt', () => {
  test.each([
    { title: 'Sure?' },
    { title: 'Sure?', message: 'It is gone then.' },
    { title: 'Sure?', message: '' },
    { title: 'Sure?', risk: 'low' },
    { title: 'Sure?', risk: 'medium' },
    { title: 'Sure?', message: 'It is gone then.', risk: 'high' },
  ])('%j is read as it is, and frozen', (prompt) => {
    const read = readPrompt(prompt);
    expect(read).toStrictEqual(prompt);
    expect(read).not.toBe(prompt);
    expect(read).toSatisfy(Object.isFrozen);
  });

  test('gives nothing of what else it holds, and no member for what it leaves undefined', () => {
    expect(
      readPrompt({ title: 'Sure?', message: undefined, risk: undefined, tool: 'other' }),
    ).toStrictEqual({ title: 'Sure?' });
  });

  test.each<[what: string, prompt: unknown]>([
    ['a text', 'Sure?'],
    ['nothing', undefined],
    ['null', null],
    ['no title', { message: 'Sure?' }],
    ['an empty title', { title: '' }],
    ['a title that is no text', { title: 7 }],
    ['a message that is no text', { title: 'Sure?', message: null }],
    ['another risk', { title: 'Sure?', risk: 'none' }],
    ['a function, whatever it has', Object.assign(() => {}, { title: 'Sure?' })],
    ['an inherited title', Object.create({ title: 'Sure?' })],
    ['a misspelt member', { title: 'Sure?', rsik: 'high' }],
  ])('%s is none', (_, prompt) => {
    expect(readPrompt(prompt)).toBeUndefined();
  });
});
