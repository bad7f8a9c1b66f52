import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathMatches, placesOf } from '../../examples/coding-agent/find.ts';
import { applyHunks, parsePatch } from '../../examples/coding-agent/patch.ts';

const patchOf = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const update = (text: string, ...lines: string[]) => {
  const [section] = parsePatch(patchOf('*** Update File: f', ...lines));
  return section?.kind === 'Update' ? applyHunks(text, section.hunks) : undefined;
};

describe('a patch', () => {
  test('has one section a file', () => {
    expect(
      parsePatch(
        `\n${patchOf('*** Add File: a b.txt', '+x', '+', '*** Delete File: c', '*** Update File: d', '@@ f()', ' same', '-old', '', '+new')}\n`,
      ),
    ).toEqual([
      { kind: 'Add', path: 'a b.txt', content: 'x\n\n' },
      { kind: 'Delete', path: 'c' },
      {
        kind: 'Update',
        path: 'd',
        hunks: [{ beyond: 'f()', old: ['same', 'old', ''], new: ['same', '', 'new'] }],
      },
    ]);
  });
  test.each([
    ['', 'starts with'],
    ['*** Begin Patch', 'starts with'],
    [patchOf(), 'no section'],
    [patchOf('x'), 'line 2'],
    [patchOf('*** Add File: a', 'x'), 'line 3'],
    [patchOf('*** Delete File: a', '+x'), 'line 3'],
    [patchOf('*** Update File: a'), 'hunks'],
    [patchOf('*** Update File: a', '+x'), 'line 3'],
    [patchOf('*** Update File: a', '@@', ' x', '*** Move to: b'), 'line 5'],
    [patchOf('*** Add File: a', '+x', '*** Delete File: a'), 'two sections'],
    [patchOf('*** Update File: a', '@@', '-x', '*** Delete File: ./a'), 'two sections'],
    [patchOf('*** Add File: a/b/c', '+x', '*** Add File: a', '+x'), 'a/b/c is below a'],
    [patchOf('*** Add File: '), 'line 2'],
    [patchOf('*** Update File: a', ...Array.from({ length: 201 }, () => '@@')), 'hunks'],
  ])('%j is none', (patch, message) => {
    expect(() => parsePatch(patch)).toThrow(message);
  });
});

describe('hunks', () => {
  const text = 'a {\n  x\n}\nb {\n  x\n}\n';
  test.each([
    [['@@', ' b {', '-  x', '+  y'], 'a {\n  x\n}\nb {\n  y\n}\n'],
    [['@@ b {', '-  x', '+  y'], 'a {\n  x\n}\nb {\n  y\n}\n'],
    [['@@', ' a {', '+  w', '@@', ' b {', '+  w'], 'a {\n  w\n  x\n}\nb {\n  w\n  x\n}\n'],
    [['@@', '-a {', '-  x', '-}'], 'b {\n  x\n}\n'],
  ])('%j', (lines, expected) => {
    expect(update(text, ...lines)).toBe(expected);
  });
  test.each([
    [['@@', '-  x'], 'more than one place'],
    [['@@', '- x'], 'nowhere'],
    [['@@', '+only new'], 'nowhere'],
    [['@@ c {', '-  x'], 'no line reads c {'],
    [['@@', ' b {', '+y', '@@', ' a {', '+y'], 'hunk 2 fits nowhere'],
  ])('%j is refused: %s', (lines, message) => {
    expect(() => update(text, ...lines)).toThrow(message);
  });
});

test('the places of a text are those that a plain search finds', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(
      letters,
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }),
      (text, wanted) => {
        expect(placesOf(text, wanted)).toEqual(
          [...text].flatMap((_, at) => (text.startsWith(wanted, at) ? [at] : [])),
        );
      },
    ),
  );
  expect(placesOf('abc', '')).toEqual([]);
});

test('a hostile text is searched in one pass', () => {
  const text = 'a'.repeat(400_000);
  expect(placesOf(text, `b${'a'.repeat(200_000)}`)).toEqual([]);
  expect(placesOf(text, `${'a'.repeat(200_000)}b`)).toEqual([]);
});

test.each([
  ['*.js', 'a.js', true],
  ['*.js', 'src/a.js', false],
  ['**/*.js', 'a.js', true],
  ['**/*.js', 'src/deep/a.js', true],
  ['src/**', 'src/deep/a.js', true],
  ['src/**', 'source/a.js', false],
  ['src/**/b/*', 'src/a/b/c', true],
  ['**/b/**/b/*', 'b/x/b/c', true],
  ['**/b/**/b/*', 'b/x/c', false],
  ['?.js', 'ü.js', true],
  ['?.js', '😀.js', true],
  ['?.js', '.js', false],
  ['a*b*c', 'axxbxxbc', true],
  ['[a-z].js', 'a.js', false],
  ['', 'a', false],
  [`${'*a'.repeat(100)}b`, 'a'.repeat(250), false],
])('%s matches %s: %s', (pattern, path, expected) => {
  expect(pathMatches(pattern, path)).toBe(expected);
});
