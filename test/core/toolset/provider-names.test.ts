import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ProviderNameOptions,
  toProviderNames,
} from '../../../src/core/toolset/provider-names.ts';

const usual = /^[A-Za-z0-9_-]{1,64}$/;
const gemini = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex');
/** Tool name to provider name, as a plain object. */
const shown = (names: readonly string[], options?: ProviderNameOptions): Record<string, string> =>
  Object.fromEntries(toProviderNames(names, options).toProvider);
const misuse = expect.objectContaining({ name: 'MisuseError', code: 'invalid_option' });

describe('toProviderNames', () => {
  test('a legal name keeps itself', () => {
    expect(shown(['read_file', 'A-1', 'x'.repeat(64), 'constructor', 'toString'])).toEqual({
      read_file: 'read_file',
      'A-1': 'A-1',
      ['x'.repeat(64)]: 'x'.repeat(64),
      constructor: 'constructor',
      toString: 'toString',
    });
  });

  test.each([
    ['a dot', 'math.gcd', 'math_gcd'],
    ['a space and a slash', 'git log/all', 'git_log_all'],
    ['a letter of another script', 'größe', 'gr__e'],
    ['a character outside of the basic plane is one character', 'a😀b', 'a_b'],
    ['nothing but illegal characters', '日本', '__'],
    ['one character too many', 'x'.repeat(65), 'x'.repeat(64)],
    ['both', `${'é'.repeat(70)}`, '_'.repeat(64)],
  ])(
    'in an illegal name each illegal character becomes `_`, and it is cut to length: %s',
    (_, name, expected) => {
      expect(shown([name])).toEqual({ [name]: expected });
    },
  );

  test('a changed name that meets a legal one takes a hash suffix; the legal one stays', () => {
    expect(shown(['math.gcd', 'math_gcd'])).toEqual({
      'math.gcd': `math_gcd_${hashOf('math.gcd').slice(0, 8)}`,
      math_gcd: 'math_gcd',
    });
  });

  test('of changed names that meet, all take a hash suffix', () => {
    expect(shown(['a.b', 'a b', 'a/b'])).toEqual(
      Object.fromEntries(
        ['a.b', 'a b', 'a/b'].map((name) => [name, `a_b_${hashOf(name).slice(0, 8)}`]),
      ),
    );
  });

  test('a suffix fits, because the text before it is cut', () => {
    const [first, second] = [`${'x'.repeat(64)}1`, `${'x'.repeat(64)}2`];
    expect(shown([first, second])).toEqual({
      [first]: `${'x'.repeat(55)}_${hashOf(first).slice(0, 8)}`,
      [second]: `${'x'.repeat(55)}_${hashOf(second).slice(0, 8)}`,
    });
  });

  test('a suffix grows until no other name has it', () => {
    const squatter = `math_gcd_${hashOf('math.gcd').slice(0, 8)}`;
    expect(shown(['math.gcd', 'math_gcd', squatter])['math.gcd']).toBe(
      `math_gcd_${hashOf('math.gcd').slice(0, 9)}`,
    );
    const longer = `math_gcd_${hashOf('math.gcd').slice(0, 9)}`;
    expect(shown([longer, 'math.gcd', squatter, 'math_gcd'])['math.gcd']).toBe(
      `math_gcd_${hashOf('math.gcd').slice(0, 10)}`,
    );
  });

  test('a repeated name is one entry; both maps are in the order given', () => {
    const { toProvider, toTool } = toProviderNames(['b', 'a.', 'b']);
    expect([...toProvider]).toEqual([
      ['b', 'b'],
      ['a.', 'a_'],
    ]);
    expect([...toTool]).toEqual([
      ['b', 'b'],
      ['a_', 'a.'],
    ]);
    expect(toProviderNames([])).toEqual({ toProvider: new Map(), toTool: new Map() });
  });

  test.each<[string, string, ProviderNameOptions, string]>([
    ['what is legal under it stays, dots too', 'math.gcd', { pattern: gemini }, 'math.gcd'],
    ['what is illegal under it does not', 'math gcd.x', { pattern: gemini }, 'math_gcd.x'],
    ['a letter first', '9lives', { pattern: gemini }, '_9lives'],
    [
      'a letter first, with a limit',
      `.${'x'.repeat(80)}`,
      { pattern: gemini },
      `_.${'x'.repeat(62)}`,
    ],
    ['no `_` first', '9 lives', { pattern: /^[a-z][a-z0-9_]*$/ }, 'tool_9_lives'],
    ['no `_` at all', 'a b', { pattern: /^[a-z-]+$/ }, 'a-b'],
    ['nothing but letters', 'a b', { pattern: /^[a-z]+$/ }, 'axb'],
    ['its own length', 'abc.defghij', { pattern: /^[a-z_]{1,6}$/ }, 'abc_de'],
    ['no `_` last', 'abc.', { pattern: /^[a-z_]*[a-z]$/ }, 'abc'],
    ['longer than usual', 'x'.repeat(100), { pattern: /^[a-z.]{1,128}$/ }, 'x'.repeat(100)],
    [
      'longer than usual, and changed',
      'X'.repeat(100),
      { pattern: /^[a-z_.]{1,128}$/ },
      '_'.repeat(64),
    ],
    ['letters of all scripts', '日本 語', { pattern: /^[\p{L}_]+$/u }, '日本_語'],
    ['ignoring case', 'READ.me', { pattern: /^[a-z_]+$/i }, 'READ_me'],
    [
      'with `maxLength`, cut by whole characters',
      '𝒳𝒳𝒳𝒳',
      { pattern: /^\p{L}+$/u, maxLength: 5 },
      '𝒳𝒳',
    ],
    [
      'with `maxLength`, what is too long is not legal',
      'abcdef',
      { pattern: gemini, maxLength: 4 },
      'abcd',
    ],
  ])('a pattern of the host: %s', (_, name, options, expected) => {
    expect(shown([name], options)).toEqual({ [name]: expected });
  });

  test('`maxLength` alone keeps the usual characters', () => {
    expect(shown(['abcdefgh', 'a.b'], { maxLength: 3 })).toEqual({ abcdefgh: 'abc', 'a.b': 'a_b' });
    expect(shown(['x'.repeat(70)], { maxLength: 128 })).toEqual({
      ['x'.repeat(70)]: 'x'.repeat(64),
    });
  });

  test('a short `maxLength` shortens the suffix', () => {
    const names = toProviderNames(['ab.', 'ab/', 'ab '], { maxLength: 4 });
    expect(new Set(names.toTool.keys()).size).toBe(3);
    for (const alias of names.toTool.keys()) expect(alias).toMatch(/^a_[0-9a-f]{2}$/);
  });

  test.each([/^[a-z_.]{1,64}$/g, /[a-z_]{1,64}$/y])(
    "the place that %s keeps is the host's: neither read nor moved",
    (pattern) => {
      pattern.lastIndex = 3;
      const first = shown(['abcdef', 'a b', 'xyz', 'abcdeg'], { pattern });
      expect(pattern.lastIndex).toBe(3);
      pattern.lastIndex = 0;
      expect(shown(['abcdef', 'a b', 'xyz', 'abcdeg'], { pattern })).toEqual(first);
      expect(first).toMatchObject({ abcdef: 'abcdef', 'a b': 'a_b', xyz: 'xyz' });
    },
  );

  test.each<[string, unknown, unknown]>([
    ['an empty name', [''], {}],
    ['a lone surrogate', ['a\ud800'], {}],
    ['a lone surrogate, the other half', ['\udc00b'], {}],
    ['a name that is no string', [1], {}],
    ['no array', 'abc', {}],
    ['null', null, {}],
    ['options that are none', ['a'], null],
    ['a pattern that is a text', ['a'], { pattern: '^a$' }],
    ['a length of 0', ['a'], { maxLength: 0 }],
    ['a negative length', ['a'], { maxLength: -1 }],
    ['a broken length', ['a'], { maxLength: 1.5 }],
    ['no number', ['a'], { maxLength: Number.NaN }],
    ['no end', ['a'], { maxLength: Number.POSITIVE_INFINITY }],
    ['more than any name has', ['a'], { maxLength: 1_025 }],
    ['a pattern that nothing matches', ['a'], { pattern: /^(?!)$/ }],
    ['a pattern that wants another beginning', ['a b'], { pattern: /^fn:[a-z]+$/ }],
    ['no room for two names', ['a.', 'a/'], { maxLength: 2 }],
    ['no room for a suffix in the pattern', ['a.', 'a/'], { pattern: /^[a-z]+$/, maxLength: 2 }],
  ])('`invalid_option`: %s', (_, names, options) => {
    expect(() => toProviderNames(names as string[], options as ProviderNameOptions)).toThrow(
      misuse,
    );
  });

  test('the error names the tool and the pattern', () => {
    expect(() => toProviderNames(['a b'], { pattern: /^fn:[a-z]+$/ })).toThrow(
      /"a b".*\/\^fn:\[a-z\]\+\$\//,
    );
  });

  const piece = fc.constantFrom(
    'a',
    'b',
    'A',
    '1',
    '_',
    '-',
    '.',
    ' ',
    '/',
    'é',
    '日',
    '😀',
    hashOf('a.b').slice(0, 8),
  );
  const name = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }),
    fc.constantFrom(
      'a.b',
      'a_b',
      `a_b_${hashOf('a.b').slice(0, 8)}`,
      `a_b_${hashOf('a.b').slice(0, 9)}`,
      `${'x'.repeat(64)}.`,
      `${'x'.repeat(64)}/`,
    ),
  );
  const options = fc.constantFrom<ProviderNameOptions>(
    {},
    { maxLength: 24 },
    { pattern: gemini },
    { pattern: /^[A-Za-z0-9_.-]{1,128}$/, maxLength: 128 },
  );
  const given = fc
    .array(name, { maxLength: 30 })
    .chain((names) =>
      fc.tuple(
        fc.constant(names),
        fc.shuffledSubarray(names, { minLength: names.length }),
        options,
      ),
    );

  test(
    'property: every name is legal, legal names are fixed, the way back is exact, and the order ' +
      'of the names is nothing',
    () => {
      fc.assert(
        fc.property(given, ([names, shuffled, chosen]) => {
          const before = [...names];
          const { toProvider, toTool } = toProviderNames(names, chosen);
          expect(names).toEqual(before);
          expect([...toProvider.keys()]).toEqual([...new Set(names)]);
          expect(toTool.size).toBe(toProvider.size);
          const { pattern = usual, maxLength = 64 } = chosen;
          for (const [tool, alias] of toProvider) {
            expect(alias).toMatch(pattern);
            expect(alias.length).toBeLessThanOrEqual(maxLength);
            expect(toTool.get(alias)).toBe(tool);
            if (pattern.test(tool) && tool.length <= maxLength) expect(alias).toBe(tool);
          }
          const again = toProviderNames([...shuffled, ...names], chosen);
          expect(new Map([...again.toProvider].sort())).toEqual(new Map([...toProvider].sort()));
        }),
      );
    },
  );

  test('property: adding a name that meets no other changes no other', () => {
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (names) => {
        const before = toProviderNames(names).toProvider;
        const after = toProviderNames([...names, 'quite.different']).toProvider;
        for (const [tool, alias] of before)
          if (tool !== 'quite.different') expect(after.get(tool)).toBe(alias);
      }),
    );
  });

  test('real names: dotted ones and similar ones all map to unique names and back', () => {
    const lines = readFileSync(
      new URL('../../data/bfcl-sample-tools.jsonl', import.meta.url),
      'utf8',
    )
      .trim()
      .split('\n');
    const real = [...new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name))];
    const dotted = real.filter((one) => one.includes('.'));
    expect(dotted.length).toBeGreaterThan(50);
    const names = [...real, ...dotted.map((one) => one.replaceAll('.', '_'))];
    const { toProvider, toTool } = toProviderNames(names);
    expect(toTool.size).toBe(new Set(names).size);
    for (const [tool, alias] of toProvider) {
      expect(alias).toMatch(usual);
      expect(toTool.get(alias)).toBe(tool);
      if (dotted.includes(tool)) expect(alias).toMatch(/_[0-9a-f]{8}$/);
    }
    for (const one of dotted)
      expect(toProviderNames(real, { pattern: gemini }).toProvider.get(one)).toBe(one);
  });

  test('ten thousand names that meet in pairs all get names of their own', () => {
    const names = Array.from(
      { length: 10_000 },
      (_, index) => `tool.${index % 2 === 0 ? '.' : '/'}${index >> 1}`,
    );
    expect(toProviderNames(names).toTool.size).toBe(10_000);
  });
});
