import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readString, scanJson } from '../../../src/values/redaction/json-scan.ts';

describe('the scanner', () => {
  const silent = { open() {}, close() {}, key() {}, element() {}, leaf() {} };

  test('takes exactly what JSON.parse takes', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      '\\n',
      '1',
      '-',
      '0',
      '.5',
      'e1',
      'true',
      'null',
      'nul',
      ' ',
      '\n',
      '\u00a0',
      '\u0001',
    );
    const parses = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
          fc.json(),
        ),
        (text) => {
          expect(scanJson(text, silent)).toBe(parses(text));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  /** What it tells of a text, piece by piece; `!` where the text is no JSON from there on. */
  function pieces(text: string): string {
    const told: string[] = [];
    const isJson = scanJson(text, {
      open: (isArray, start) => void told.push(`${isArray ? '[' : '{'}${start}`),
      close: (end) => void told.push(`${end}`),
      key: (start, end) => void told.push(`key ${text.slice(start, end)}`),
      element: () => void told.push('-'),
      leaf: (start, end) => void told.push(text.slice(start, end)),
    });
    return [...told, ...(isJson ? [] : ['!'])].join(' ');
  }

  test.each<[text: string, told: string]>([
    ['1', '1'],
    [' \t\r\n"a" ', '"a"'],
    ['{}', '{0 2'],
    ['[ ]', '[0 3'],
    ['{"a":1}', '{0 key "a" 1 7'],
    [
      '{ "a" : [ 1 , "b" , {} ] , "c" : null }',
      '{0 key "a" [8 - 1 - "b" - {20 22 24 key "c" null 39',
    ],
    ['[[],[1],[]]', '[0 - [1 3 - [4 - 1 7 - [8 10 11'],
    ['{"a":{"b":[]}} ', '{0 key "a" {5 key "b" [10 12 13 14'],
    ['"\\u00e9\\""', '"\\u00e9\\""'],
    // As far as it is JSON.
    ['', '!'],
    [' ', '!'],
    ['{"a":1', '{0 key "a" 1 !'],
    ['"a', '!'],
    ['["a', '[0 - !'],
    ['{"a"}', '{0 !'],
    ['{"a" 1}', '{0 !'],
    ['{"a', '{0 !'],
    ['{a:1}', '{0 !'],
    ['{1:1}', '{0 !'],
    ['{,}', '{0 !'],
    ['{"a":1,}', '{0 key "a" 1 !'],
    ['[1,]', '[0 - 1 - !'],
    ['[1 2]', '[0 - 1 !'],
    ['[1}', '[0 - 1 !'],
    ['{"a":1]', '{0 key "a" 1 !'],
    ['1 2', '1 !'],
    ['{}}', '{0 2 !'],
    ['"a\nb"', '!'],
    ['"a\u001fb"', '!'],
    ['"a b"', '"a b"'],
    ['"\\', '!'],
    ['"\\x"', '!'],
    ['"\\u12"', '!'],
    ['"\\u12g4"', '!'],
    ['\u00a01', '!'],
    ['\u000b1', '!'],
    ['\u000c1', '!'],
    ['01', '0 !'],
    ['-', '!'],
    ['1.5e+10', '1.5e+10'],
    ['tru', '!'],
  ])('tells of %j piece by piece', (text, told) => {
    expect(pieces(text)).toBe(told);
  });

  test.each([
    ['"abc"', 'abc'],
    ['""', ''],
    ['"a\\n\\u0041\\""', 'a\nA"'],
  ])('reads the string %s', (literal, text) => {
    expect(readString(`[${literal}]`, 1, 1 + literal.length)).toBe(text);
  });
});
