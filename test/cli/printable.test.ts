import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { columns, headline, jsonText, printable } from '../../src/cli/printable.ts';
import { wellFormedJson } from '../../src/values/json/index.ts';
import { controlsIn } from './cli-run.ts';

/** Text with many of the characters that matter. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      '\u001b',
      '\u009b',
      '\r',
      '\n',
      '\u202e',
      '\u2028',
      '\u200b',
      '\ud800',
      '\u{e0041}',
    ),
  ),
});

describe('printable', () => {
  test('leaves nothing that a terminal would obey, and no line break', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = printable(text);
        expect(controlsIn(shown)).toEqual([]);
        expect(shown).not.toMatch(/[\n\p{Cs}]/u);
      }),
    );
  });

  test.each([
    ['plain text, ümlauts, 漢字 and 🎉', 'plain text, ümlauts, 漢字 and 🎉'],
    ['a\tb\r\nc', 'a\\tb\\r\\nc'],
    ['\u001b[2J\u009b2J\u0000', '\\u{1b}[2J\\u{9b}2J\\u{0}'],
    ['abc\u202edef', 'abc\\u{202e}def'],
    ['⚠\ufe0f', '⚠\ufe0f'],
    ['\ud83d', '\\u{d83d}'],
  ])('%j is shown as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});

describe('JSON', () => {
  test('is the value with whole characters, and nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(
        fc.dictionary(hostile, fc.oneof(hostile, fc.integer(), fc.array(hostile))),
        fc.constantFrom(0, 2),
        (value, indent) => {
          const text = jsonText(value, indent);
          expect(controlsIn(text)).toEqual([]);
          const parsed: unknown = JSON.parse(text);
          expect(parsed).toEqual(wellFormedJson(JSON.parse(JSON.stringify(value))));
          if (indent === 0) expect(text).not.toContain('\n');
        },
      ),
    );
  });
});

test('a headline is the first line that says something, cut', () => {
  expect(headline('\n  Reads a file.\nThen more.')).toBe('Reads a file.');
  expect(headline('x'.repeat(200))).toBe(`${'x'.repeat(99)}…`);
  expect(headline('')).toBe('');
});

test('columns are padded to their widest cell, without blanks at the end', () => {
  expect(
    columns(
      [
        ['a', 'b'],
        ['long', 'c', 'd'],
        ['e', ''],
      ],
      '  ',
    ),
  ).toEqual(['  a     b', '  long  c  d', '  e']);
});
