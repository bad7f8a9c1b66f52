/**
 * The budget of a schema's patterns. Each pattern is compiled once, at the check, so their number
 * and size must be bounded.
 */
import { isMisuseError, MisuseError } from '../errors/index.ts';
import { compilePattern } from '../text/regex.ts';

export interface PatternLimits {
  /** Maximum number of different patterns. */
  readonly patterns: number;
  /**
   * Maximum instructions of all patterns together. The cost of compiling and matching is measured
   * in instructions.
   */
  readonly patternSize: number;
}

/**
 * The budget that the patterns of several schemas share, in addition to the limits of each schema.
 */
export interface SharedPatterns {
  /** Instructions that are left. Below 0, all further patterns are refused. */
  left: number;
}

export interface PatternBudget {
  /** True for the host's own patterns: those that the linear engine cannot run are accepted. */
  readonly trusted: boolean;
  readonly limits: PatternLimits;
  /**
   * The patterns so far. True for a pattern that only the native engine can run; the error for one
   * that was refused.
   */
  readonly native: Map<string, boolean | MisuseError>;
  size: number;
  /** The shared budget, if several schemas come from one source. */
  readonly shared?: SharedPatterns | undefined;
}

/**
 * Compiles a pattern unless it was compiled before. Returns whether only the native engine can run
 * it.
 * @throws MisuseError `invalid_schema` when it is not a valid pattern, or when the patterns are too
 * many or too complex
 */
export function isNativePattern(source: string, budget: PatternBudget): boolean {
  const { native, limits, trusted } = budget;
  let known = native.get(source);
  if (known === undefined) {
    if (native.size >= limits.patterns)
      throw new MisuseError('invalid_schema', `More than ${limits.patterns} different patterns`);
    // The budget is checked before compiling, because compiling another pattern would exceed it
    // further.
    spend(0, budget);
    if (limits.patternSize !== Number.POSITIVE_INFINITY) spend(slowClasses(source), budget);
    try {
      const compiled = compilePattern(source, { trusted });
      spend(compiled.size, budget);
      known = compiled.native;
    } catch (error) {
      if (!isMisuseError(error)) throw error;
      known = error;
      // Reading a pattern takes time even if it cannot be compiled.
      if (budget.shared === undefined || budget.shared.left >= 0) charge(source.length, budget);
    }
    native.set(source, known);
  }
  if (typeof known !== 'boolean') throw known;
  return known;
}

function charge(size: number, budget: PatternBudget): void {
  budget.size += size;
  if (budget.shared !== undefined) budget.shared.left -= size;
}

function spend(size: number, budget: PatternBudget): void {
  charge(size, budget);
  if (budget.size > budget.limits.patternSize)
    throw new MisuseError(
      'invalid_schema',
      'The patterns are too complex altogether; use smaller repeat counts and fewer character ' +
        'classes',
    );
  if (budget.shared !== undefined && budget.shared.left < 0)
    throw new MisuseError(
      'invalid_schema',
      'The patterns of all schemas that came together are too complex; use fewer and smaller ones',
    );
}

/**
 * The instructions to add for classes that are one instruction but take as long to compile as
 * hundreds: Unicode properties, and all classes of a case-insensitive pattern.
 */
function slowClasses(source: string): number {
  const caseless = /\(\?[a-z]*i/.test(source);
  return (
    100 * (source.split(/\\p/i).length - 1) +
    (caseless ? 1_500 * (source.split('[').length - 1) : 0)
  );
}
