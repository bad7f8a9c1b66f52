/** Reads the rules of a file and nothing else of it. */

import { compileRules } from '../../assembly/compile.ts';
import { MisuseError, type Rule } from '../../core.ts';
import { ownPlace } from './dry-run.ts';
import { causeText } from './import-module.ts';
import { oneLine } from './issues.ts';
import { atNamedPart } from './places.ts';
import { type PreparedRule, prepareRule } from './prepared-file.ts';
import { readFile } from './read-file.ts';
import type { FileSection } from './report.ts';

/** The rules of a file. */
export interface FileRules {
  readonly rules: readonly Rule[];
  /** The other sections that the file has. */
  readonly others: readonly FileSection[];
}

/**
 * Reads all rules of a file. Its modules are not imported.
 * @param path An absolute path.
 * @throws MisuseError `invalid_file`, with file and line, if the file or any of its rules is
 * malformed; `missing_dependency`
 */
export async function readRules(path: string): Promise<FileRules> {
  const file = await readFile(path);
  const rules = file.rules.map((entry) => {
    const prepared = prepareRule(entry);
    const reason = reasonOf(prepared);
    if ('rule' in prepared && reason === undefined) return prepared.rule;
    const place = 'reason' in prepared ? prepared.entry : atNamedPart(entry, reason ?? '');
    throw new MisuseError(
      'invalid_file',
      `${path}:${place.line}: rules[${entry.index}]: ${oneLine(reason ?? '')}`,
    );
  });
  const sections = ['tools', 'profiles', 'quotas'] as const;
  return { rules, others: sections.filter((section) => file[section].length > 0) };
}

/** Why an entry is no rule; undefined if it is one. */
function reasonOf(prepared: PreparedRule): string | undefined {
  if ('reason' in prepared) return prepared.reason;
  try {
    compileRules([prepared.rule], 'registry');
    return undefined;
  } catch (error) {
    return causeText(error).replace(ownPlace, '');
  }
}
