/** Tries the servers and the audit log of a file: asks the host whether it can take them. */
import type { HostToolRegistry } from '../index.ts';
import { type HostedParts, noHost } from './file-host.ts';
import { loadedFiles } from './loaded-files.ts';
import type { PreparedFile } from './prepared-file.ts';
import type { RawEntry } from './read-file.ts';
import type { FileSection } from './report.ts';
import type { ServerEntry } from './server-format.ts';

/**
 * Whether an entry of this section that does not load prevents its file from loading. Without a host
 * no server starts in any case.
 */
export function isOpen(registry: HostToolRegistry<never>, section: FileSection): boolean {
  if (section === 'rules' || section === 'quotas') return true;
  return (
    (section === 'mcpServers' || section === 'audit') && loadedFiles(registry).host !== undefined
  );
}

/** Notes that an entry does not load. */
export type Fail = (
  section: FileSection,
  entry: RawEntry,
  name: string | undefined,
  reason: string,
) => void;

/** Asks the host about servers and the audit log. */
export function tryHosted(
  registry: HostToolRegistry<never>,
  { path, servers, audit }: PreparedFile,
  again: boolean,
  fail: Fail,
): { readonly hosted: HostedParts; readonly prefixes: readonly string[] } {
  const { host } = loadedFiles(registry);
  const taken = new Map<string, ServerEntry>();
  for (const prepared of servers) {
    const { name } = prepared;
    const reason =
      host === undefined
        ? noHost('mcpServers')
        : 'reason' in prepared
          ? prepared.reason
          : host.problem(path, { section: 'mcpServers', name, server: prepared.server }, again);
    if (reason !== undefined) fail('mcpServers', prepared.entry, name.slice(0, 256), reason);
    else if ('server' in prepared) taken.set(name, prepared.server);
  }
  if (audit !== undefined) {
    const reason =
      host === undefined
        ? noHost('audit')
        : 'reason' in audit
          ? audit.reason
          : host.problem(path, { section: 'audit', audit: audit.audit }, again);
    if (reason !== undefined) fail('audit', audit.entry, undefined, reason);
  }
  const log = audit !== undefined && 'audit' in audit ? audit.audit : undefined;
  return {
    hosted: { path, servers: taken, audit: log },
    prefixes: [...taken].map(([name, { prefix = `${name}.` }]) => prefix),
  };
}
