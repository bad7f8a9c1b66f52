/** Files that hold nothing but rules, quotas and an audit log, as the files of most hooks do. */
import type { Quota, Rule } from '../../index.ts';
import { type RawEntry, readFile } from './read-file.ts';
import type { AuditEntry } from './server-format.ts';

/** The values of a file, as written. */
export interface RulesOnly {
  readonly rules: readonly Rule[];
  readonly quotas: readonly Quota[];
  readonly audit?: AuditEntry | undefined;
}

/**
 * Reads a file that has loaded before, so that its values are known to be valid.
 * @returns undefined if it has other sections
 * @throws MisuseError as `loadHostTools` does
 */
export async function rulesOnly(path: string): Promise<RulesOnly | undefined> {
  const { rules, quotas, audit, network: _, ...others } = await readFile(path);
  const { path: __, ...rest } = others;
  const isOther = Object.values(rest).some((one) => one !== undefined && !isEmpty(one));
  const valuesOf = (entries: readonly RawEntry[]) => entries.map(({ value }) => value);
  return isOther
    ? undefined
    : {
        rules: valuesOf(rules) as readonly Rule[],
        quotas: valuesOf(quotas) as readonly Quota[],
        ...(audit === undefined ? {} : { audit: audit.value as AuditEntry }),
      };
}

function isEmpty(section: readonly RawEntry[] | RawEntry): boolean {
  return Array.isArray(section) && section.length === 0;
}
