/** What a hook needs from this folder. It loads files once, and its start must be fast. */
import type { Quota, Rule } from '../../core.ts';
import { type RawEntry, readFile, writtenSections } from './read-file.ts';
import type { AuditEntry } from './server-format.ts';

export { loadHostTools } from './load-host-tools.ts';
export { setFileHost } from './loaded-files.ts';

// Files that hold nothing but rules, quotas and an audit log, as the files of most hooks do.

/** The values of a file, as written. */
export interface RulesOnly {
  readonly rules: readonly Rule[];
  readonly quotas: readonly Quota[];
  readonly audit?: AuditEntry | undefined;
}

/** `network` is for `guard`, and changes nothing for a hook. */
const ofHooks: ReadonlySet<string> = new Set(['rules', 'quotas', 'audit', 'network']);

/**
 * Reads a file that has loaded before, so that its values are known to be valid.
 * @returns undefined if it has other sections
 * @throws MisuseError as `loadHostTools` does
 */
export async function rulesOnly(path: string): Promise<RulesOnly | undefined> {
  const file = await readFile(path);
  const { rules, quotas, audit } = file;
  const isOther = writtenSections(file).some((name) => !ofHooks.has(name));
  const valuesOf = (entries: readonly RawEntry[]) => entries.map(({ value }) => value);
  return isOther
    ? undefined
    : {
        rules: valuesOf(rules) as readonly Rule[],
        quotas: valuesOf(quotas) as readonly Quota[],
        ...(audit === undefined ? {} : { audit: audit.value as AuditEntry }),
      };
}
