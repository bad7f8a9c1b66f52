import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../../src/values/text/regex.ts';

describe('patterns mean what ECMAScript says', () => {
  const texts = [
    'a',
    'é',
    'α',
    '\u00a0',
    '\u2003',
    '\ufeff',
    '1',
    '[',
    ']',
    'x@y',
    '\r',
    '\n',
    '\u2028',
    '-',
    '😀',
    'ab]',
    '_',
    'A',
    '',
    ' ',
    'a1-b2',
    '\u000b',
    'Ω',
  ];
  const sources = [
    '^a',
    '^.$',
    '^..$',
    '[^]',
    '[]',
    '\\s',
    '\\S',
    '[\\S]',
    '[^\\S]',
    '[^\\s]$',
    '^\\S+@\\S+$',
    '\\p{Letter}',
    '\\p{Lu}',
    '\\P{L}',
    '[\\p{L}\\d]',
    '\\p{Script=Greek}',
    '\\p{gc=Uppercase_Letter}',
    '^\\u{1F600}$',
    '^\\u0061$',
    '\\x61',
    '\\cM',
    '[\\]]',
    '[\\[a]',
    '[[a]',
    '\\bb',
    '^\\w+$',
    '\\d',
    '^[a-z0-9]+(-[a-z0-9]+)*$',
    '(?<year>1)',
    '^(?:a|b)?$',
    '\\/|@',
    '^$',
    'a{1,2}',
  ];
  test.each(sources)('%s', (source) => {
    const { matcher, native } = compilePattern(source, { trusted: false });
    const reference = new RegExp(source, 'u');
    expect(native).toBe(false);
    expect(texts.filter((text) => matcher.test(text))).toEqual(
      texts.filter((text) => reference.test(text)),
    );
  });

  test('white space, dots and classes agree with the native engine on any text', () => {
    const pairs = ['^\\s*$', '^\\S*$', '^.*$', '^[^a\\s]*$', '^[\\w\\S]*$'].map(
      (source) =>
        [compilePattern(source, { trusted: false }).matcher, new RegExp(source, 'u')] as const,
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 6 }), (text) => {
        for (const [ours, theirs] of pairs) expect(ours.test(text)).toBe(theirs.test(text));
      }),
    );
  });
});

describe('what is no ECMAScript, or cannot run in linear time, is refused from outside', () => {
  test.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)b',
    '(a)\\1',
    '\\Aa',
    'a\\z',
    '\\Qa\\E',
    '[[:alpha:]]',
    '\\pL',
    '(',
    'a**',
    'a\\',
  ])('%s', (source) => {
    expect(() => compilePattern(source, { trusted: false })).toThrow(
      expect.objectContaining({ name: 'MisuseError', code: 'invalid_schema' }),
    );
  });
  test('more than 512 characters', () => {
    expect(() => compilePattern('a'.repeat(513), { trusted: false })).toThrow(
      /513 characters; at most 512/,
    );
    expect(compilePattern('a'.repeat(513), { trusted: true }).native).toBe(false);
  });
});

test("the host's own lookahead runs on the native engine", () => {
  const { matcher, native } = compilePattern('^.(?!b)', { trusted: true });
  expect([native, matcher.test('aa'), matcher.test('ab')]).toEqual([true, true, false]);
});
