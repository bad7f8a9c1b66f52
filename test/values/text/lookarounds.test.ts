import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitLookarounds } from '../../../src/values/text/lookarounds.ts';
import { compilePattern } from '../../../src/values/text/regex.ts';

/** Texts of a few pieces, so that most of a pattern's alternatives occur. */
const texts = (pieces: readonly string[], most: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength: most }).map((parts) => parts.join(''));

function agrees(source: string, some: fc.Arbitrary<string>): void {
  const { matcher, native } = compilePattern(source, { trusted: false });
  expect(native).toBe(false);
  const reference = new RegExp(source, 'u');
  fc.assert(
    fc.property(some, (text) => {
      expect(matcher.test(text), JSON.stringify(text)).toBe(reference.test(text));
    }),
  );
}

describe('patterns of widespread libraries run in linear time and mean the same', () => {
  const label = ['a', 'B', '9', '-', '_', 'ab-c', 'x'.repeat(60), 'é', ' ', '\n'];
  test.each<readonly [what: string, source: string, pieces: readonly string[]]>([
    [
      'an e-mail address of zod 4.0 to 4.5',
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      [...label, '.', '..', '@', "'", '+', 'example.com', 'kim'],
    ],
    [
      'a duration of zod 4',
      '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$',
      ['P', 'T', '1', '20', 'W', 'Y', 'M', 'D', 'H', 'S', '.', ',', '3Y', '4M', '5D', '6H', '7S'],
    ],
    [
      'a host name of zod 4',
      '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
      [...label, '.', `${'x'.repeat(50)}.`],
    ],
    [
      'a domain of zod 4.5',
      '^(?=.{1,253}$)([a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63}$',
      [...label, '.', `${'x'.repeat(50)}.`],
    ],
    [
      'a decimal of pydantic',
      '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$',
      ['+', '-', '.', '0', '00', '12', 'a', '\n'],
    ],
    ['a password', '^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{4,}$', ['a', 'A', '1', '-', '\n', '😀']],
    ['a text that is not blank', '^(?!\\s*$).+', [' ', '\t', '\n', 'a', '\u2028', '\u00a0']],
    ['a label without hyphens at its ends', '^(?!-)[a-z-]{1,5}(?<!-)$', ['a', '-', 'b', '.']],
    ['a name without reserved words', '^(?!con|nul)[a-z]+$', ['con', 'nul', 'a', 'c', 'o', 'n']],
  ])('%s', (_what, source, pieces) => {
    agrees(source, texts(pieces, 8));
  });
});

test('any pattern that can be split means the same as before', () => {
  const part = fc.constantFrom(
    ...['a', 'b', '.', '[ab]', 'a*', 'b+', '(?:ab)?', '.*', 'a|b', '(a|bb)', '[^)a]', '\\(', '\\$'],
    ...['[(?=]', '$', '^', 'a{1,2}', ''],
  );
  const body = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(''));
  const ahead = fc
    .tuple(fc.constantFrom('(?=', '(?!'), body)
    .map(([open, inner]) => `${open}${inner})`);
  const behind = fc
    .tuple(fc.constantFrom('(?<=', '(?<!'), body)
    .map(([open, inner]) => `${open}${inner})`);
  const source = fc
    .tuple(
      fc.constantFrom('^', ''),
      fc.array(ahead, { maxLength: 2 }),
      body,
      fc.array(behind, { maxLength: 2 }),
      fc.constantFrom('$', '\\$', '', '+'),
    )
    .map(
      ([start, first, middle, last, end]) => start + first.join('') + middle + last.join('') + end,
    );
  let split = 0;
  fc.assert(
    fc.property(source, texts(['a', 'b', '(', '$', '\n', '?', '='], 6), (pattern, text) => {
      const parts = splitLookarounds(pattern);
      if (parts === undefined) return;
      let reference: RegExp;
      try {
        reference = new RegExp(pattern, 'u');
      } catch {
        // The pattern is no regular expression, whatever its parts are.
        return;
      }
      split++;
      const matches = (one: string): boolean => new RegExp(one, 'u').test(text);
      expect(parts.all.every(matches) && !parts.none.some(matches)).toBe(reference.test(text));
    }),
    { numRuns: 2_000 },
  );
  expect(split).toBeGreaterThan(20);
});

describe('a pattern is not split', () => {
  test.each([
    ['without a lookaround', '^a(?:b)$'],
    ['if an alternative is outside of groups', '^(?!a)b|c$'],
    ['if its lookaround is elsewhere', 'a(?=b)c'],
    ['if its lookahead is at the beginning but not after `^`', '(?!a)b'],
    ['if its lookbehind is at the end but not before `$`', 'a(?<!b)'],
    ['if the `$` is escaped', 'a(?<!b)\\$'],
    ['if a lookahead is repeated', '^(?=a)*b'],
    ['if a parenthesis is open', '^(?=a)(b'],
  ])('%s: %s', (_why, source) => {
    expect(splitLookarounds(source)).toBeUndefined();
  });
});
