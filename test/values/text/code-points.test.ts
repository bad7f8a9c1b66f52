import fc from 'fast-check';
import { expect, test } from 'vitest';
import { between, head, tail, wellFormed } from '../../../src/values/text/characters.ts';

const texts = fc.string({ unit: 'binary' });

test('no cut leaves half a character', () => {
  fc.assert(
    fc.property(texts, fc.nat(30), fc.nat(30), (text, one, other) => {
      const [start, end] = [
        between(text, Math.min(one, other)),
        between(text, Math.max(one, other)),
      ];
      for (const part of [text.slice(start, end), head(text, end), tail(text, one)])
        expect(wellFormed(part)).toBe(part);
    }),
  );
});

test('a place between two characters is kept, and one within a character is its beginning', () => {
  expect([0, 1, 2, 3, 4, 5, 9].map((at) => between('a😀b😀', at))).toEqual([0, 1, 1, 3, 4, 4, 9]);
});
