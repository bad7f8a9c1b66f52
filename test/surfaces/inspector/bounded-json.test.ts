import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { boundedCopy, boundedJson } from '../../../src/surfaces/inspector/bounded-json.ts';
import type { JsonValue } from '../../../src/values/json/index.ts';

describe('boundedJson', () => {
  test('writes what fits as JSON does', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(boundedJson(value as JsonValue, 2 * text.length + 100))).toEqual(
          JSON.parse(text),
        );
      }),
    );
  });

  test('is JSON of a bounded length, whatever it is given', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), (value, most) => {
        const text = boundedJson(value as JsonValue, most);
        JSON.parse(text);
        // Escapes, and the words that say what is left out, come on top.
        expect(text.length).toBeLessThan(6 * most + 600);
      }),
    );
  });

  test('knows whether it has the whole value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(60), (value, most) => {
        const { json, whole } = boundedCopy(value as JsonValue, most);
        expect(whole).toBe(json === JSON.stringify(value));
      }),
    );
    expect(boundedCopy('\ud800', 100)).toEqual({ json: '"\ufffd"', whole: false });
  });

  test('says how much is left out', () => {
    expect(boundedJson('x'.repeat(100), 10)).toBe('"xxxxxxxxxx… (90 more characters)"');
    expect(boundedJson([1, 2, 3, 4, 5, 6, 7, 8], 8)).toBe('[1,2,3,"… (5 more)"]');
    expect(boundedJson({ a: 'xxxxx', b: 1 }, 8)).toBe(
      '{"a":"xxx… (2 more characters)","…":"(more members)"}',
    );
  });

  test('does not follow what is very deep, and takes no time for what is very long', () => {
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 10_000; depth++) deep = [deep];
    expect(boundedJson(deep, 10_000)).toContain('deeper values are left out');
    let read = 0;
    const long = new Proxy(
      Array.from({ length: 1_000_000 }, (_, at) => at),
      {
        get: (target, key) => {
          read++;
          return Reflect.get(target, key);
        },
      },
    );
    boundedJson(long, 16_384);
    expect(read).toBeLessThan(20_000);
  });
});
