import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentedLength } from '../../../src/values/text/indented-length.ts';

test('it is the length of the text that is not written', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const expected = JSON.stringify(value, undefined, 1).length;
      expect(indentedLength(JSON.stringify(value), Number.POSITIVE_INFINITY)).toBe(expected);
    }),
  );
});

test('it counts no further than it is asked to', () => {
  const compact = JSON.stringify(new Array(1_000).fill([[[1]]]));
  const exact = indentedLength(compact, Number.POSITIVE_INFINITY);
  const stopped = indentedLength(compact, 9_000);
  expect(exact).toBeGreaterThan(10_000);
  expect(stopped).toBeGreaterThan(9_000);
  expect(stopped).toBeLessThan(9_010);
});
