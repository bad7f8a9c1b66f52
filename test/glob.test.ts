import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileGlob } from '../src/glob.ts';

describe('compileGlob', () => {
  test.each<[glob: string, matching: string[], other: string[]]>([
    ['git', ['git'], ['Git', 'git ', 'gitx', 'xgit', '', 'git\n']],
    ['*', ['', 'git', '.shell', 'host/exec', 'a\nb', '\u0000', '🔧'], []],
    ['git*', ['git', 'git_push', 'git\n', 'git/x'], ['Git', 'agit', 'gi']],
    ['*shell', ['shell', '.shell', 'a\nshell', 'host/shell'], ['shell ', 'shells']],
    ['host*exec', ['hostexec', 'host/exec', 'host\nexec', 'host.exec'], ['host/exec2', 'ghost/exec']],
    ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['acb', 'ab', 'ac']],
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
    const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '\n', '🔧', '.'), maxLength: 8 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '🔧', '.'), maxLength: 10 });
    fc.assert(
      fc.property(glob, text, (source, value) => {
        const pattern = source.replaceAll('.', '\\.').replaceAll('?', '.').replace(/\*+/g, '.*');
        expect(compileGlob(source)(value)).toBe(new RegExp(`^(?:${pattern})$`, 'su').test(value));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([`${'*a'.repeat(20)}*b`, `${'*a?'.repeat(20)}b`, `${'a*'.repeat(40)}b`])('no glob backtracks: %s', (glob) => {
    const matches = compileGlob(glob);
    const start = performance.now();
    expect(matches('a'.repeat(200_000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(2000);
  });
});
