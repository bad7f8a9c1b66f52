import { describe, expect, test } from 'vitest';
import { isPortablePattern } from '../../../src/values/text/portable-pattern.ts';

describe('a pattern that every engine runs', () => {
  test.each([
    '^[a-z]+$',
    '^(?:a|b){1,3}?$',
    '^[A-Za-z0-9._%+-]+@[\\w.-]+\\.[a-z]{2,}$',
    '[\\w\\-.]',
    '[-\\w]',
    '[^-\\d]',
    '\\bword\\b',
    'a\\/b\\-c',
    '\\x41\\t\\n\\0',
    // Escaped, or in a class: no lookaround and no backreference.
    '\\(?=a',
    '\\\\(?:=)',
    '[(?=]',
    '[a\\]b](?:c)',
    '^$|^(?:[0-9a-zA-Z+/]{4})*$',
  ])('%s', (source) => {
    expect(isPortablePattern(source)).toBe(true);
    expect(() => new RegExp(source)).not.toThrow();
  });
});

describe('a pattern that some engines refuse', () => {
  test.each([
    ['lookahead', '^(?=a)b'],
    ['negative lookahead', '^(?!a)b'],
    ['lookbehind', '(?<=a)b'],
    ['negative lookbehind', 'b(?<!a)$'],
    ['a lookahead behind an escaped backslash', '\\\\(?=a)'],
    ['a lookahead behind a class', '[)](?=a)'],
    ['a backreference', '(a)\\1'],
    ['a named backreference', '(?<a>b)\\k<a>'],
    ['a named group', '(?<a>b)'],
    ['the named group of other languages', '(?P<a>b)'],
    ['flags', '(?i)a'],
    ['a Unicode property', '^\\p{L}+$'],
    ['its complement, in a class', '[^\\P{Lu}]'],
    ['a code point', '\\u{1F600}'],
    ['a code unit', '\\u00e9'],
    ['a control character', '\\cM'],
    ['anchors of other languages', '\\Aa\\Z'],
    ['a backspace', '[\\b]'],
    ['an empty class', '[]'],
    ['its complement', '[^]'],
    ['a class as the start of a range', '[\\w-.]'],
    ['a class as the end of a range', '[a-\\d]'],
  ])('%s', (_what, source) => {
    expect(isPortablePattern(source)).toBe(false);
  });
});
