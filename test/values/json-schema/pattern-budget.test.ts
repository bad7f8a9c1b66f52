import { describe, expect, test } from 'vitest';
import { untrustedLimits } from '../../../src/values/json-schema/gate.ts';
import { walkSchema } from '../../../src/values/json-schema/json-schema-check.ts';
import {
  isNativePattern,
  type PatternBudget,
  type SharedPatterns,
} from '../../../src/values/json-schema/pattern-budget.ts';
import { compilePattern } from '../../../src/values/text/regex.ts';

const budget = (more: Partial<PatternBudget> = {}): PatternBudget => ({
  trusted: false,
  limits: { patterns: 3, patternSize: 10_000 },
  native: new Map(),
  size: 0,
  ...more,
});
const sizeOf = (source: string): number => compilePattern(source, { trusted: false }).size;

describe('the patterns of one schema', () => {
  test('have a limit, and a repeated one does not count', () => {
    const one = budget();
    for (const source of ['a', 'b', 'a', 'c', 'c', 'b']) isNativePattern(source, one);
    expect(() => isNativePattern('d', one)).toThrow('More than 3 different patterns');
    expect(isNativePattern('a', one)).toBe(false);
  });

  test('are so large at most, all together', () => {
    const size = sizeOf('^a+$') + sizeOf('b?');
    for (const [patternSize, says] of [
      [size, undefined],
      [size - 1, /too complex altogether/],
    ] as const) {
      const schema = { allOf: [{ pattern: '^a+$' }, { pattern: 'b?' }] };
      const walk = () =>
        walkSchema(schema, { trusted: false, limits: { ...untrustedLimits, patternSize } });
      if (says === undefined) expect(walk).not.toThrow();
      else expect(walk).toThrow(says);
    }
  });

  test.each([
    ['\\p{L}\\p{N}', 200],
    ['\\P{L}', 100],
    ['(?i)[a-z][0-9]', 3_000],
    ['(?s:(?mi)[a-z])', 1_500],
    ['[a-z][0-9]', 0],
    ['(?s)[a-z]', 0],
  ])('%s counts %d more than its size, for what it takes to compile', (source, more) => {
    const one = budget();
    isNativePattern(source, one);
    expect(one.size - sizeOf(source)).toBe(more);
  });

  test(
    "of the host count by their size alone, and one beyond the linear engine is the host's " +
      'affair',
    () => {
      const one = budget({
        trusted: true,
        limits: { patterns: 3, patternSize: Number.POSITIVE_INFINITY },
      });
      expect([isNativePattern('\\p{L}', one), isNativePattern('(?!x)', one)]).toEqual([
        false,
        true,
      ]);
      expect(isNativePattern('(?!x)', one)).toBe(true);
      expect(one.size).toBe(sizeOf('\\p{L}'));
    },
  );
});

describe('the patterns of several schemas that come together', () => {
  test('draw on what all of them may cost, and none is compiled once that is overdrawn', () => {
    const size = sizeOf('^a+$');
    const shared: SharedPatterns = { left: 2 * size };
    isNativePattern('^a+$', budget({ shared }));
    isNativePattern('^a+$', budget({ shared }));
    expect(shared.left).toBe(0);
    const together = /patterns of all schemas that came together/;
    expect(() => isNativePattern('^a+$', budget({ shared }))).toThrow(together);
    expect(shared.left).toBe(-size);
    for (const source of ['(', '\\p{L}'])
      expect(() => isNativePattern(source, budget({ shared }))).toThrow(together);
    expect(shared.left).toBe(-size);
  });
});
