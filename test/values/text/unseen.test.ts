import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  parseVisible,
  visibleName,
  visibleText,
} from '../../../src/surfaces/pages/browser/parts/visible.ts';
import { escapeUnseen } from '../../../src/values/text/characters.ts';

const mark = '\u0301';
const written = '\\u0301';

describe('text that a person reads', () => {
  test.each([
    ['a few marks', `a${mark.repeat(10)}b`, `a${mark.repeat(10)}b`],
    ['many marks', `a${mark.repeat(12)}b`, `a${mark.repeat(10)}${written.repeat(2)}b`],
    [
      'marks of several kinds',
      `a${'\u0335\u20d2'.repeat(6)}`,
      `a${'\u0335\u20d2'.repeat(5)}\\u0335\\u20d2`,
    ],
    ['marks beside an emoji', '❤\ufe0f👍🏽', '❤\ufe0f👍🏽'],
    ['a Tibetan stack', 'ཧྐྵྨླྺྼྻྂ', 'ཧྐྵྨླྺྼྻྂ'],
    ['a Thai word', 'ที่นี่', 'ที่นี่'],
  ])('has %s as it should', (_, given, shown) => {
    expect(visibleText(given)).toBe(shown);
    expect(escapeUnseen(given)).toBe(shown.replaceAll('\ufe0f', '\\ufe0f'));
    expect(parseVisible(JSON.stringify({ given }))).toEqual({ given: shown });
  });

  test.each([
    ['to', 'to'],
    ['to whom', 'to whom'],
    ['to ', '"to "'],
    ['', '""'],
    ['"to"', '"\\"to\\""'],
    ['to\u00a0', '"to\u00a0"'],
    ['t\u200bo', 't\\u200bo'],
  ])('has the name %j as it should', (name, shown) => {
    expect(visibleName(name)).toBe(shown);
  });

  test('has no long run of marks and is the same JSON', () => {
    const marks = fc.string({
      unit: fc.constantFrom('a', mark, '\u20d2', '\u200d', '"', '\ufe0f'),
    });
    fc.assert(
      fc.property(marks, (text) => {
        expect(visibleText(text)).not.toMatch(/\p{M}{12}/u);
        const json = escapeUnseen(JSON.stringify(text));
        expect(json).not.toMatch(/\p{M}{11}/u);
        expect(JSON.parse(json)).toBe(text);
      }),
    );
  });
});
