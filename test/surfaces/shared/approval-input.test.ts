import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/index.ts';
import { approvalInput, shortLine } from '../../../src/surfaces/shared/approval-input.ts';
import { escapeUnseen } from '../../../src/values/text/characters.ts';

const longestApprovalInput = 8_000;

const long = 'Thanks for the nice dinner! '.repeat(2_000);

/** All keys, and all values that are no text, in the order of the input. */
function essentials(value: JsonValue): string[] {
  if (typeof value === 'string') return [];
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, one]) => [
    ...(Array.isArray(value) ? [] : [escapeUnseen(JSON.stringify(key))]),
    ...essentials(one),
  ]);
}

/** Whether the pieces stand in the text, one after the other. */
function holdsInOrder(text: string, pieces: readonly string[]): boolean {
  let at = 0;
  return pieces.every((piece) => {
    at = text.indexOf(piece, at);
    return at++ !== -1;
  });
}

describe('the input of an approval', () => {
  test('is whole where it fits: the same value to a parser', () => {
    const input = {
      to: 'ann',
      cents: 100,
      tags: ['a', [], {}],
      note: 'x'.repeat(5_000),
      none: null,
      sure: true,
    };
    expect(JSON.parse(approvalInput(input) as string)).toEqual(input);
    expect(approvalInput({})).toBe('{}');
  });

  test.each<[string, JsonObject]>([
    ['first', { note: long, to: 'mallory', cents: 100_000_000 }],
    ['last', { to: 'mallory', cents: 100_000_000, note: long }],
    ['twice', { a: long, to: 'mallory', b: long, cents: 100_000_000 }],
    ['nested', { more: { note: [long, { to: 'mallory' }] }, cents: 100_000_000 }],
    [
      'many times',
      {
        ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`n${index}`, long])),
        to: 'mallory',
        cents: 100_000_000,
      },
    ],
  ])('shows every key and short value beside a long text that stands %s', (_where, input) => {
    const text = approvalInput(input) as string;
    expect(text.length).toBeLessThanOrEqual(longestApprovalInput);
    expect(text).toContain('"mallory"');
    expect(text).toContain('100000000');
    expect(holdsInOrder(text, essentials(input))).toBe(true);
  });

  test('keeps the beginning and the end of a long text, and says how much it left out', () => {
    const text = approvalInput({ note: `begin${'-'.repeat(20_000)}end` }) as string;
    const [, head = '', count = '', tail = ''] =
      /"(begin-+)"… ([\d,]+) characters left out …"(-+end)"/.exec(text) ?? [];
    expect(head.length + Number(count.replaceAll(',', '')) + tail.length).toBe(20_008);
  });

  test('a text cannot imitate a note about another: notes are outside of quotes', () => {
    const forged = '"… 5 characters left out …"';
    const text = approvalInput({ note: long, forged }) as string;
    expect(text).toContain(JSON.stringify(forged));
    expect(text.match(/[^\\]"… [\d,]+ characters left out …"/g)).toHaveLength(1);
  });

  test('a line break in a key starts no line', () => {
    const text = approvalInput({ note: 'a', 'b\n}': 1 }) as string;
    expect(text.split('\n')).toHaveLength(4);
  });

  test('each line of a text is in quotes, below each other, and so it can imitate no other line', () => {
    const note = 'a\nInput: {}\n\n  "to": "ann"';
    expect(approvalInput({ note, list: ['b\r\nc', 'd'], more: { end: 'e\n' } })).toBe(
      [
        '{',
        '  "note":',
        '    "a\\n"',
        '    "Input: {}\\n"',
        '    "\\n"',
        '    "  \\"to\\": \\"ann\\"",',
        '  "list": [',
        '    "b\\r\\n"',
        '      "c",',
        '    "d"',
        '  ],',
        '  "more": {',
        '    "end":',
        '      "e\\n"',
        '  }',
        '}',
      ].join('\n'),
    );
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), (lines) => {
        const text = approvalInput({ note: lines.join('\n'), to: 'ann' }) ?? '';
        const [open, , ...rest] = text.split('\n');
        const [close, to, ...quotes] = rest.reverse();
        expect([open, close, to]).toEqual(['{', '}', '  "to": "ann"']);
        // The pieces together are the text.
        const pieces = quotes.reverse().map((line) => JSON.parse(line.replace(/,$/, '')) as string);
        if (lines.length > 1) expect(pieces.join('')).toBe(lines.join('\n'));
      }),
    );
  });

  test('lines stay in one piece if there is no room for each of them', () => {
    const note = 'a\n'.repeat(1_900);
    expect(JSON.parse(approvalInput({ note }) as string)).toEqual({ note });
    const long = approvalInput({ note: 'line\n'.repeat(5_000) }) as string;
    expect(long.length).toBeLessThanOrEqual(longestApprovalInput);
    expect(long).toMatch(/\n {4}"line\\n"\n {4}"line\\n".*… 22,952 characters left out …"/s);
  });

  test('what draws nothing or turns text around is an escape', () => {
    expect(approvalInput({ 'a\u202e': '\u200b\u{e0041}\u2028\u00ad\u2800' })).toBe(
      '{\n  "a\\u202e": "\\u200b\\udb40\\udc41\\u2028\\u00ad\\u2800"\n}',
    );
  });

  test('no character is halved by a cut', () => {
    for (const pad of ['', 'x'])
      expect(approvalInput({ note: pad + '🎉'.repeat(20_000) })).not.toMatch(/\\ud[89a-f]/i);
  });

  test('is looked at no further than where its text has too many characters', () => {
    let reads = 0;
    const list = new Proxy(
      Array.from({ length: 50_000 }, () => ({ a: 1 })),
      {
        get(target, key) {
          reads++;
          return Reflect.get(target, key);
        },
      },
    );
    expect(approvalInput({ list, more: list })).toBeUndefined();
    expect(reads).toBeLessThan(10_000);
  });

  test.each<[string, JsonObject]>([
    [
      'ten thousand keys',
      Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1])),
    ],
    ['a key that is too long', { ['k'.repeat(9_000)]: 1 }],
    [
      'a long list of short values',
      { list: Array.from({ length: 5_000 }, (_, index) => `person-${index}`) },
    ],
    [
      'long keys within each other',
      { a: { ['b'.repeat(3_000)]: { ['c'.repeat(3_000)]: { ['d'.repeat(3_000)]: 1 } } } },
    ],
  ])('is not shown in part: %s gives no text', (_what, input) => {
    expect(approvalInput(input)).toBeUndefined();
  });

  test('indentation of deep nesting takes no room if there is none', () => {
    let deep: JsonObject = { to: 'mallory' };
    for (let level = 0; level < 60; level++) deep = { a: deep, b: 'x'.repeat(40) };
    const text = approvalInput(deep) as string;
    expect(text).toContain('"mallory"');
    expect(holdsInOrder(text, essentials(deep))).toBe(true);
  });

  test(
    'every text that is given has all keys, all numbers and all short texts, in order, within ' +
      'its bound',
    () => {
      const texts = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary', minLength: 300, maxLength: 6_000 }),
      );
      const value = fc.letrec((tie) => ({
        any: fc.oneof(
          { maxDepth: 4 },
          texts,
          fc.integer(),
          fc.boolean(),
          fc.array(tie('any'), { maxLength: 4 }),
          fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
        ),
      })).any;
      fc.assert(
        fc.property(
          fc.dictionary(fc.string({ unit: 'binary' }), value, { maxKeys: 6 }),
          (input) => {
            const plain = JSON.parse(JSON.stringify(input)) as JsonObject;
            const text = approvalInput(plain);
            if (text === undefined) return;
            expect(text.length).toBeLessThanOrEqual(longestApprovalInput);
            expect(holdsInOrder(text, essentials(plain))).toBe(true);
          },
        ),
        { numRuns: 50 },
      );
    },
  );
});

/**
 * What is kept of each shortened text, before and after its note, and how much each note says was
 * left out.
 */
function shortenings(text: string | undefined): { head: number; tail: number; leftOut: number }[] {
  return [
    ...(text ?? '').matchAll(
      /"((?:[^"\\]|\\.)*)"… ([\d,]+) characters left out …"((?:[^"\\]|\\.)*)"/g,
    ),
  ].map(([, head = '', count = '', tail = '']) => ({
    head: JSON.parse(`"${head}"`).length,
    tail: JSON.parse(`"${tail}"`).length,
    leftOut: Number(count.replaceAll(',', '')),
  }));
}

describe('how much of the input is shown', () => {
  const texts = (count: number, length = 50_000): JsonObject =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`n${index}`, 'x'.repeat(length)]),
    );

  test('8,000 characters are shown whole, and of one more a text is shortened', () => {
    // Braces, the line breaks, the indentation, the key and the quotes take 15.
    const whole = approvalInput({ note: 'x'.repeat(8_000 - 16) }) as string;
    expect(whole).toHaveLength(8_000);
    expect(shortenings(whole)).toEqual([]);
    expect(shortenings(approvalInput({ note: 'x'.repeat(8_000 - 15) }))).toHaveLength(1);
  });

  test.each([
    [1, 2_048],
    [3, 2_048],
    [4, 1_024],
    [7, 1_024],
    [8, 512],
    [14, 512],
    [15, 256],
    [26, 256],
    [27, 128],
    [46, 128],
    [47, 64],
    [73, 64],
    [74, 32],
    [106, 32],
  ])(
    'of %i long texts %i characters each: half from the beginning, half from the end',
    (count, kept) => {
      const shown = shortenings(approvalInput(texts(count)));
      expect(shown).toHaveLength(count);
      for (const one of shown)
        expect(one).toEqual({ head: kept / 2, tail: kept / 2, leftOut: 50_000 - kept });
    },
  );

  test('a text that would be hardly shorter is shown whole', () => {
    const long = 'x'.repeat(50_000);
    expect(shortenings(approvalInput({ long, short: 'x'.repeat(2_048 + 48) }))).toHaveLength(1);
    expect(shortenings(approvalInput({ long, short: 'x'.repeat(2_048 + 49) }))).toEqual([
      { head: 1_024, tail: 1_024, leftOut: 50_000 - 2_048 },
      { head: 1_024, tail: 1_024, leftOut: 49 },
    ]);
  });

  test(
    'where indentation alone takes the room it is left away, and 32 characters of each long ' +
      'text are kept',
    () => {
      let input = texts(75);
      for (let depth = 0; depth < 30; depth++) input = { d: input };
      const text = approvalInput(input);
      expect(text).not.toContain('  ');
      expect(shortenings(text)).toHaveLength(75);
      for (const { head, tail } of shortenings(text)) expect([head, tail]).toEqual([16, 16]);
    },
  );

  test.each<[what: string, note: string, head: number, tail: number]>([
    ['at the beginning', `x${'🎉'.repeat(20_000)}`, 1_023, 1_024],
    ['at the end', `${'🎉'.repeat(20_000)}x`, 1_024, 1_023],
    ['of the first pair that there is', `x${'\u{10000}'.repeat(20_000)}x`, 1_023, 1_023],
    ['where nothing is a half', '\uffff'.repeat(40_000), 1_024, 1_024],
  ])('a cut keeps one character less than halving one: %s', (_, note, head, tail) => {
    expect(shortenings(approvalInput({ note }))).toEqual([
      { head, tail, leftOut: note.length - head - tail },
    ]);
  });
});

describe('a text that goes with the input', () => {
  test.each<[what: string, text: string, shown: string]>([
    ['is whole up to 2,000 characters', 'x'.repeat(2_000), 'x'.repeat(2_000)],
    [
      'is shortened beyond, and says by how much',
      'x'.repeat(3_500),
      `${'x'.repeat(2_000)}… (1,500 more characters)`,
    ],
    [
      'and is not cut within a character',
      `x${'🎉'.repeat(1_000)}`,
      `x${'🎉'.repeat(999)}… (2 more characters)`,
    ],
  ])('%s', (_, text, shown) => {
    expect(shortLine(text)).toBe(shown);
  });
});
