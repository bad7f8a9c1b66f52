/** Words that are spelt nearly alike. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  differenceBetween,
  differenceOf,
  lettersOf,
  mayBeSimilar,
} from '../../../src/parts/discovery/words.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '1'), maxLength: 8 });

/** The definition, without any limit. */
function distance(left: string, right: string): number {
  if (left === '') return right.length;
  if (right === '') return left.length;
  if (left[0] === right[0]) return distance(left.slice(1), right.slice(1));
  return (
    1 +
    Math.min(
      distance(left.slice(1), right),
      distance(left, right.slice(1)),
      distance(left.slice(1), right.slice(1)),
    )
  );
}

describe('differenceBetween', () => {
  test.each([
    ['weather', 'weather', 0],
    ['weather', 'waether', 2],
    ['weather', 'wether', 1],
    ['weather', 'wthr', undefined],
    ['weather', 'leather', 1],
  ])('%s and %s', (left, right, difference) => {
    expect(differenceBetween(left, right, 2)).toBe(difference);
  });

  test('is the number of letters to change, up to the limit', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 3 }), (left, right, most) => {
        const exact = distance(left, right);
        expect(differenceBetween(left, right, most)).toBe(exact <= most ? exact : undefined);
      }),
    );
  });

  test('the letter sets of similar words never rule them out', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 3 }), (left, right, most) => {
        if (distance(left, right) <= most)
          expect(mayBeSimilar(lettersOf(left), lettersOf(right), most)).toBe(true);
      }),
    );
  });
});

test('short words and long ones have no similar words', () => {
  expect(['abc', 'abcd', 'abcdef', 'x'.repeat(25)].map(differenceOf)).toEqual([0, 1, 2, 0]);
});
