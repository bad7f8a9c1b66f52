/** Mutants that behave as the source does, or differ in speed alone: no test can notice them, so they do not count. */
import type { Mutant } from './mutants.ts';

interface Equivalent {
  readonly file: string;
  /** The line as it stands in the source, without what is before and after it. */
  readonly line: string;
  readonly was: string;
  readonly becomes: string;
  readonly why: string;
}

const known: readonly Equivalent[] = [];

export function isEquivalent(mutant: Mutant, text: string): boolean {
  const line = text.split('\n')[mutant.line - 1]?.trim();
  return known.some(({ file, line: where, was, becomes }) => file === mutant.file && where === line && was === mutant.was && becomes === mutant.becomes);
}
