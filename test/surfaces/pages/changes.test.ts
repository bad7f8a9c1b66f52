import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/index.ts';
import { changesOf } from '../../../src/surfaces/pages/browser/approvals/changes.ts';

const shown = (before: unknown, after: unknown): string[] =>
  changesOf({ x: before } as JsonObject, { x: after } as JsonObject).flatMap(({ lines }) =>
    lines.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => `${kind} ${text}`),
  );

describe('the changes of an edit', () => {
  test.each<[what: string, before: unknown, after: unknown, lines: string[]]>([
    ['a type', '1', 1, ['gone "1"', 'new 1']],
    ['a space at the end of a line', 'a\nb', 'a \nb', ['gone a', 'new a ']],
    ['line breaks', 'a\nb', 'a\r\nb', ['gone "a\\nb"', 'new "a\\r\\nb"']],
    ['an order', [1, 2], [2, 1], ['gone   1,', 'gone   2', 'new   2,', 'new   1']],
    ['an escape', 'a\n\u202eb', 'a\n\\u202eb', ['gone "a\\n\\u202eb"', 'new "a\\n\\\\u202eb"']],
    ['text to an object', 'a\nb', { a: 1 }, ['gone "a\\nb"', 'new {', 'new   "a": 1', 'new }']],
  ])('show that %s changes', (_, before, after, lines) => {
    expect(shown(before, after)).toEqual(lines);
  });

  test('are never without a line', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\n', '\r', '\u202e', '\\u202e', '"', ' '),
    });
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(shown(before, after).length > 0).toBe(before !== after);
      }),
    );
  });
});
