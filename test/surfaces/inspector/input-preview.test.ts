import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { previewOf } from '../../../src/surfaces/inspector/bounded-json.ts';
import type { JsonValue } from '../../../src/values/json/index.ts';

describe('the preview of arguments', () => {
  test.each<[JsonValue, string]>([
    [{}, ''],
    [null, ''],
    [{ path: '/etc/passwd', lines: 20 }, 'path: /etc/passwd, lines: 20'],
    [{ a: '', b: null, c: false }, 'a: "", b: null, c: false'],
    [{ body: 'Dear Eve,\n\n\tyour order' }, 'body: Dear Eve, your order'],
    [{ to: ['a', 'b'], deep: { x: 1 } }, 'to: ["a","b"], deep: {"x":1}'],
    [{ 'a\u202eb': 'c\u0007d' }, 'a\\u202eb: c\\u0007d'],
    [{ pin: '[redacted]' }, 'pin: [redacted]'],
    ['a text', 'a text'],
    [[1, 2], '[1,2]'],
    [{ text: 'x'.repeat(500) }, `text: ${'x'.repeat(113)}…`],
    [{ text: `${'x'.repeat(112)}😀😀` }, `text: ${'x'.repeat(112)}\ufffd…`],
  ])('of %j', (input, preview) => {
    expect(previewOf(input)).toBe(preview);
  });

  test('is one line of at most 120 characters, whatever the input is', () => {
    const json = fc.jsonValue({ noUnicodeString: false }).map((value) => value as JsonValue);
    fc.assert(
      fc.property(json, fc.string({ unit: 'binary' }), (value, name) => {
        const preview = previewOf({ [name]: value, more: [value] });
        expect(preview.length).toBeLessThanOrEqual(120);
        expect(preview).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/u);
      }),
    );
  });

  test('of a huge input looks only at its beginning', () => {
    const read: string[] = [];
    const huge = new Proxy(Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [at, at])), {
      get(target, name, receiver) {
        read.push(String(name));
        return Reflect.get(target, name, receiver) as JsonValue;
      },
    });
    expect(previewOf(huge)).toMatch(/^0: 0, 1: 1, .*…$/);
    expect(read.length).toBeLessThan(30);
  });
});
