/** The reader of TOML, as far as a configuration has it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readToml } from '../../src/cli/gateway/read-toml.ts';

test.each<[string, unknown]>([
  ['', {}],
  ['a = 1 # one\r\nb = "x # y"\r\n', { a: 1, b: 'x # y' }],
  ['a.b.c = true\na.d = false', { a: { b: { c: true }, d: false } }],
  [
    '[a]\nx = 1\n[a.b]\nx = 2\n[ c . "d.e" ]\nx = 3',
    { a: { x: 1, b: { x: 2 } }, c: { 'd.e': { x: 3 } } },
  ],
  ['[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 3', { a: [{ x: 1 }, { x: 2, b: { y: 3 } }] }],
  ['a = [1, [2, "x"], # c\n  { b = 3 },\n]', { a: [1, [2, 'x'], { b: 3 }] }],
  ['a = { b.c = 1, "d" = [] }', { a: { b: { c: 1 }, d: [] } }],
  ["a = 'C:\\x'\nb = '''\n'y' \\n'''", { a: 'C:\\x', b: "'y' \\n" }],
  ['a = "\\t\\"\\\\\\u00e9\\U0001F600"', { a: '\t"\\é😀' }],
  ['a = """\none \\\n   two""""', { a: 'one two"' }],
  ['a = 1_000\nb = 0xFF\nc = -1.5e3\nd = +2\ne = 0b11', { a: 1000, b: 255, c: -1500, d: 2, e: 3 }],
  ['a = 1979-05-27T07:32:00Z\nb = inf', { a: '1979-05-27T07:32:00Z', b: 'inf' }],
  ['"" = 1\n1 = 2', { '': 1, 1: 2 }],
])('%j is read', (text, value) => {
  expect(readToml(text)).toEqual(value);
});

test('names of the prototype are names', () => {
  const read = readToml('[__proto__]\na = 1\n[constructor]\nb = 2') as object;
  expect(Object.keys(read)).toEqual(['__proto__', 'constructor']);
  expect(({} as { a?: number }).a).toBeUndefined();
});

test.each([
  ['a', 'line 1: expected `=`'],
  ['a = 1\na = 2', 'line 2: `a` is there already'],
  ['[a]\n[a]', 'line 2: `a` is there already'],
  ['a = 1\n[a]', 'line 2: `a` is there already'],
  ['a = 1\na.b = 2', 'line 2: `a` is no table'],
  ['a = "x', 'line 1: expected a value'],
  ['a = "\\q"', 'line 1: expected a known escape'],
  ['a = [1', 'line 1: expected `,` or `]`'],
  ['a = {b = 1', 'line 1: expected `,` or `}`'],
  ['a = 1 b = 2', 'line 1: expected a value'],
  ['a = "x" b', 'line 1: expected the end of the line'],
  ['a = 012', 'line 1: expected a value'],
  ['[a', 'line 1: expected `]`'],
  [`a = ${'['.repeat(100)}`, 'line 1: it is nested too deeply'],
])('%j is refused', (text, said) => {
  expect(() => readToml(text)).toThrow(said);
});

test('whatever the text is, it is read or refused', () => {
  const piece = fc.constantFrom(
    ...[
      '[',
      ']',
      '[[',
      ']]',
      '{',
      '}',
      '=',
      '.',
      ',',
      '"',
      "'",
      '"""',
      "'''",
      '#',
      '\n',
      ' ',
      'a',
      '1',
      '\\',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      try {
        expect(typeof readToml(pieces.join(''))).toBe('object');
      } catch (error) {
        expect((error as Error).message).toMatch(/^line \d+: /);
      }
    }),
  );
});

test('tables of texts, numbers and lists come back', () => {
  const key = fc.string({ unit: 'grapheme-ascii', maxLength: 8 });
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
  );
  fc.assert(
    fc.property(fc.dictionary(key, fc.dictionary(key, value)), (tables) => {
      const quoted = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');
      const text = Object.entries(tables).map(([name, table]) => [
        `[${quoted(name)}]`,
        ...Object.entries(table).map(([one, item]) => `${quoted(one)} = ${JSON.stringify(item)}`),
      ]);
      expect(readToml(text.flat().join('\n'))).toEqual(tables);
    }),
  );
});
