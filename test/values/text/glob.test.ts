import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob, globBudget, globTest } from '../../../src/values/text/glob.ts';

describe('compileGlob', () => {
  test.each<[glob: string, matching: string[], other: string[]]>([
    ['git', ['git'], ['Git', 'git ', 'gitx', 'xgit', '', 'git\n']],
    ['*', ['', 'git', '.shell', 'host/exec', 'a\nb', '\u0000', '🔧'], []],
    ['git*', ['git', 'git_push', 'git\n', 'git/x'], ['Git', 'agit', 'gi']],
    ['*shell', ['shell', '.shell', 'a\nshell', 'host/shell'], ['shell ', 'shells']],
    [
      'host*exec',
      ['hostexec', 'host/exec', 'host\nexec', 'host.exec'],
      ['host/exec2', 'ghost/exec'],
    ],
    ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['acb', 'ab', 'ac']],
    ['a*b*b', ['abb', 'axbxb'], ['ab', 'b', 'axb']],
    ['*ab*ba*', ['abba', 'xabxbax'], ['aba', 'baab']],
    ['*ab*ab', ['abab', 'abxab'], ['ab', 'xab']],
    ['aa*aa', ['aaaa', 'aaaaa'], ['aaa', 'aa']],
    ['?', ['a', '\n', '/', '.', '🔧', '\ud83d'], ['', 'ab', '🔧🔧']],
    ['a?b', ['a\nb', 'a/b', 'a🔧b'], ['ab', 'axxb']],
    ['??', ['ab', '🔧🔧', '🔧a'], ['🔧', 'a', 'abc']],
    ['*?', ['a', 'ab', '🔧'], ['']],
    ['?*?', ['ab', 'abc'], ['a', '🔧']],
    ['**', ['', 'x'], []],
    ['', [''], ['a']],
    ['a.b', ['a.b'], ['axb']],
    ['[ab]', ['[ab]'], ['a', 'b']],
    ['{a,b}', ['{a,b}'], ['a']],
    ['!a', ['!a'], ['b']],
    ['\\*', ['\\', '\\x'], ['*']],
    ['(a|b)+$', ['(a|b)+$'], ['a']],
    ['é', ['é'], ['e\u0301']],
    ['🔧*', ['🔧', '🔧x'], ['\ud83dx']],
    ['*\udd27', ['\udd27', 'a\udd27'], ['🔧']],
    ['\ud83d*', ['\ud83d', '\ud83dx'], ['🔧']],
  ])('%j', (glob, matching, other) => {
    const matches = compileGlob(glob);
    for (const text of matching) expect(matches(text), JSON.stringify(text)).toBe(true);
    for (const text of other) expect(matches(text), JSON.stringify(text)).toBe(false);
  });

  test('agrees with the regular expression of the same meaning', () => {
    const glob = fc.string({
      unit: fc.constantFrom('a', 'b', '*', '?', '\n', '🔧', '.'),
      maxLength: 8,
    });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '🔧', '.'), maxLength: 10 });
    fc.assert(
      fc.property(glob, text, (source, value) => {
        const pattern = source.replaceAll('.', '\\.').replaceAll('?', '.').replace(/\*+/g, '.*');
        expect(compileGlob(source)(value)).toBe(new RegExp(`^(?:${pattern})$`, 'su').test(value));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([`${'*a'.repeat(20)}*b`, `${'*a?'.repeat(20)}b`, `${'a*'.repeat(40)}b`])(
    'no glob backtracks: %s',
    (glob) => {
      const tally = { steps: 0 };
      expect(compileGlob(glob)('a'.repeat(200_000), tally)).toBe(false);
      expect(tally.steps).toBeLessThanOrEqual(600_000);
    },
  );

  test(
    'a text that is not large is always told for sure, and a large one that was made for its ' +
      'glob is not',
    () => {
      const hostile = compileGlob(`*${'a'.repeat(500)}b*`);
      expect(hostile('a'.repeat(19_000))).toBe(false);
      expect(hostile('a'.repeat(20_000))).toBe('over_budget');
      expect(hostile(`${'-'.repeat(20_000)}${'a'.repeat(500)}b`)).toBe(true);
    },
  );

  test.each([
    ['one with a `?`', `*?${'a'.repeat(500)}b`, 'a'.repeat(900_000)],
    ['one with `*` alone', `*bb${'ab'.repeat(250)}*c`, 'ab'.repeat(450_000)],
    [
      'one with a lone surrogate',
      `*\ud83d${'a'.repeat(500)}*`,
      `\ud83d${'a'.repeat(499)}\ud83d`.repeat(1_800),
    ],
    ['one with many parts', `*${`${'a'.repeat(20)}?b*`.repeat(40)}`, 'a'.repeat(900_000)],
  ])('steps stay within the budget of the text, whatever the glob: %s', (_, glob, text) => {
    const tally = { steps: 0 };
    const answer = compileGlob(glob)(text, tally);
    expect(tally.steps).toBeLessThanOrEqual(globBudget(text.length) + 1);
    expect(answer === 'over_budget' || tally.steps < globBudget(text.length)).toBe(true);
  });

  test('a text that takes more steps than its budget is not decided here', () => {
    expect(compileGlob(`*?${'a'.repeat(500)}b`)('a'.repeat(900_000))).toBe('over_budget');
  });

  test('the budget decides nothing for texts that were not made for it', () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20_000);
    expect(compileGlob('*lazy ?at*')(text)).toBe(false);
    expect(compileGlob('*lazy ?og. *')(text)).toBe(true);
    expect(compileGlob('The *lazy dog. ')(text)).toBe(true);
    expect(compileGlob('*a?b*')('a'.repeat(200))).toBe(false);
    expect(compileGlob(`*${'a'.repeat(90)}?b`)('a'.repeat(200))).toBe(false);
  });
});

describe('a step is one look at a sign and a character', () => {
  test.each<[glob: string, text: string, answer: boolean, steps: number]>([
    ['?', '', false, 0],
    ['?', 'a', true, 1],
    ['?', 'ab', false, 2],
    ['a?c', 'abc', true, 3],
    ['x?', 'ab', false, 1],
    ['?x', '\u{1f527}x', true, 2],
    // What ends with a star is decided where that star is met, or with the text.
    ['?*', 'a', true, 1],
    ['?*', 'a'.repeat(1_000), true, 2],
    // Two stars are one.
    ['*?', 'ab', true, 4],
    ['**?', 'ab', true, 4],
    ['*?b', 'aab', true, 5],
    ['a*?c', 'abcc', true, 7],
  ])('%j against %j', (glob, text, answer, steps) => {
    const tally = { steps: 0 };
    expect([compileGlob(glob)(text, tally), tally.steps]).toEqual([answer, steps]);
  });

  test('they add up in a tally, and a search by the engine counts none', () => {
    const tally = { steps: 5 };
    compileGlob('?')('a', tally);
    compileGlob('*a*')('a', tally);
    expect(tally.steps).toBe(6);
  });

  test(
    'there are 10 000 for any text, and eight for each of its characters; what takes one more ' +
      'is not decided',
    () => {
      expect([globBudget(0), globBudget(1), globBudget(1_000)]).toEqual([10_000, 10_008, 18_000]);
      const glob = compileGlob(`*?${'a'.repeat(70)}b`);
      const [last, over] = [{ steps: 0 }, { steps: 0 }];
      expect([glob('a'.repeat(235), last), last.steps]).toEqual([false, globBudget(235)]);
      expect([glob('a'.repeat(236), over), over.steps]).toEqual([
        'over_budget',
        globBudget(236) + 1,
      ]);
    },
  );

  test('the engine searches where both lengths multiplied are ten million at most', () => {
    const glob = compileGlob(`*${'a'.repeat(497)}b*`);
    expect([glob('a'.repeat(20_000)), glob('a'.repeat(20_001))]).toEqual([false, 'over_budget']);
  });
});

test.each([true, false])(
  'who needs a yes or a no says what a text over the budget counts as: %s',
  (overBudget) => {
    const matches = globTest(`*?${'a'.repeat(70)}b`, overBudget);
    expect([
      matches('a'.repeat(71)),
      matches(`a${'a'.repeat(70)}b`),
      matches('a'.repeat(236)),
    ]).toEqual([false, true, overBudget]);
  },
);
