/**
 * Mutants that behave as the source does, or differ in speed alone: no test can notice them, so
 * they do not count. `equivalent.json` lists them by file.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Mutant } from './mutants.ts';

interface Equivalent {
  /** The line as it stands in the source, without the space before and after it. */
  readonly line: string;
  readonly was: string;
  readonly becomes: string;
  /** Why no test can tell it from the source. */
  readonly why: string;
}

const list = readFileSync(resolve(import.meta.dirname, 'equivalent.json'), 'utf8');
const known = new Map(Object.entries(JSON.parse(list) as Record<string, readonly Equivalent[]>));
const met = new Set<Equivalent>();

export function isEquivalent(mutant: Mutant, text: string): boolean {
  const line = text.split('\n')[mutant.line - 1]?.trim();
  const found = known
    .get(mutant.file)
    ?.find((one) => one.line === line && one.was === mutant.was && one.becomes === mutant.becomes);
  if (found !== undefined) met.add(found);
  return found !== undefined;
}

/** The entries of these files that named no mutant: the source has moved away from under them. */
export function unmatched(files: readonly string[]): string[] {
  const listed = files.flatMap((file) => (known.get(file) ?? []).map((one) => ({ file, one })));
  const gone = listed.filter(({ one }) => !met.has(one));
  return gone.map(({ file, one }) => `${file}: ${one.line} (${one.was} -> ${one.becomes})`);
}
