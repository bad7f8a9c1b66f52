/** Reads what `host-tools guard` uses of a file, without its tools and modules. */
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { MisuseError } from '../../core.ts';
import { entryFault } from './issues.ts';
import { type RawEntry, readFile, writtenSections } from './read-file.ts';
import { type AuditEntry, auditEntry } from './server-format.ts';
import { type NetworkEntry, networkEntry } from './value-formats.ts';

/** What a file says about a sandbox. */
export interface NetworkOf {
  /** Undefined if the file has no `network`. */
  readonly hosts: readonly string[] | undefined;
  /** The absolute path of the file's audit log. */
  readonly log: string | undefined;
  /** The names of the sections that it has and a sandbox does not use. */
  readonly unused: readonly string[];
}

/** @throws MisuseError `invalid_file` */
export async function networkOf(path: string): Promise<NetworkOf> {
  const file = await readFile(path);
  const { network, audit } = file;
  check(path, 'network', network, networkEntry);
  check(path, 'audit', audit, auditEntry);
  const log = audit?.value as AuditEntry | undefined;
  return {
    hosts: network?.value as NetworkEntry | undefined,
    log: log?.path === undefined ? undefined : resolve(dirname(path), log.path),
    unused: writtenSections(file).filter((name) => name !== 'network' && name !== 'audit'),
  };
}

function check(
  path: string,
  section: string,
  entry: RawEntry | undefined,
  format: z.ZodType,
): void {
  const { error } = format.safeParse(entry?.value);
  if (entry === undefined || error === undefined) return;
  const fault = entryFault(error.issues, entry);
  throw new MisuseError(
    'invalid_file',
    `${path}:${fault.entry.line}:1: ${section}: ${fault.reason}`,
  );
}
