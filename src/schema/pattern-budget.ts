/**
 * What the patterns of one schema may cost together: each is compiled once, at the check, so a
 * flood of them must be stopped.
 */
import { MisuseError } from '../errors.ts';
import { compilePattern } from '../text/regex.ts';

export interface PatternLimits {
  /** Different patterns. */
  readonly patterns: number;
  /** Instructions of all patterns together, by which compiling and matching are paid for. */
  readonly patternSize: number;
}

/** What the patterns of schemas that come together may cost, beside what those of each may. */
export interface SharedPatterns {
  /** Instructions that are left; below 0, no pattern is taken any more. */
  left: number;
}

export interface PatternBudget {
  /** The host's own patterns: one beyond the linear engine is taken. */
  readonly trusted: boolean;
  readonly limits: PatternLimits;
  /** Patterns met so far; true where only the native engine can run one. */
  readonly native: Map<string, boolean>;
  size: number;
  /** Of all schemas together, where several come from one place. */
  readonly shared?: SharedPatterns | undefined;
}

/**
 * Compiles a pattern unless it was met before, and answers whether only the native engine can run
 * it.
 * @throws MisuseError `invalid_schema` when it is no pattern, or the patterns are too many or too
 * complex
 */
export function isNativePattern(source: string, budget: PatternBudget): boolean {
  const { native, limits, trusted } = budget;
  const known = native.get(source);
  if (known !== undefined) return known;
  if (native.size >= limits.patterns)
    throw new MisuseError('invalid_schema', `More than ${limits.patterns} different patterns`);
  // Before it is compiled: that would be paid for by nobody.
  if (budget.shared !== undefined && budget.shared.left < 0) throw overdrawn();
  if (limits.patternSize !== Number.POSITIVE_INFINITY) spend(slowClasses(source), budget);
  const compiled = compilePattern(source, { trusted });
  spend(compiled.size, budget);
  native.set(source, compiled.native);
  return compiled.native;
}

function spend(size: number, budget: PatternBudget): void {
  budget.size += size;
  if (budget.shared !== undefined) budget.shared.left -= size;
  if (budget.size > budget.limits.patternSize)
    throw new MisuseError(
      'invalid_schema',
      'The patterns are too complex altogether; use smaller repeat counts and fewer character ' +
        'classes',
    );
  if (budget.shared !== undefined && budget.shared.left < 0) throw overdrawn();
}

function overdrawn(): MisuseError {
  return new MisuseError(
    'invalid_schema',
    'The patterns of all schemas that came together are too complex; use fewer and smaller ones',
  );
}

/**
 * Some classes are one instruction, but take as long to compile as hundreds: Unicode properties,
 * and any class without regard to case.
 */
function slowClasses(source: string): number {
  const caseless = /\(\?[a-z]*i/.test(source);
  return (
    100 * (source.split(/\\p/i).length - 1) +
    (caseless ? 1_500 * (source.split('[').length - 1) : 0)
  );
}
