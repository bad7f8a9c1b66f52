import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RegistryParts } from '../../../src/core/registry/define-part.ts';
import { SingleNames } from '../../../src/core/registry/name-table.ts';
import { parseRange } from '../../../src/values/text/versions.ts';

/** Without the part, what looks like a range is refused. */
function looksLikeRange(text: string): boolean {
  try {
    return new SingleNames(new Map(), new RegistryParts([])).rangeIn('git', text) !== undefined;
  } catch {
    return true;
  }
}

const word = fc.constantFrom(
  '0',
  '1',
  '12',
  'x',
  '*',
  '1.2',
  '1.x',
  '1.2.3',
  '1.2.3-rc.1',
  '2.0.0+b',
);
const operator = fc.constantFrom('', '^', '~', '=', '>=', '<', '> ', '<=  ');
const joint = fc.constantFrom(' ', '  ', ' - ', ' || ', '||', '\t');
const text = fc
  .array(fc.tuple(operator, word, joint), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flat().slice(0, -1).join(''));

test('every range of versions looks like one, so that none is taken for a name', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (given) => {
      if (parseRange(given) !== undefined) expect(looksLikeRange(given)).toBe(true);
    }),
  );
});

test.each(['', ' ', 'latest', 'v2', '2nd', '1.2.3.4', 'host', '^', 'x'.repeat(300)])(
  '%j is the end of a name',
  (given) => {
    expect([looksLikeRange(given), parseRange(given)]).toEqual([false, undefined]);
  },
);
