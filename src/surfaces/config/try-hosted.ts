/** Asks the host of a file whether it can use the file's parts. */
import type { HostToolRegistry } from '../../core.ts';
import { type HostedPart, type HostedParts, noHost } from './file-host.ts';
import { loadedFiles } from './loaded-files.ts';
import type { PreparedFile, PreparedOne } from './prepared-file.ts';
import type { RawEntry } from './read-file.ts';
import type { FileSection } from './report.ts';
import type { ServerEntry } from './server-format.ts';

/**
 * Whether an entry of this section that does not load prevents its file from loading. Without a
 * host, no server starts in any case.
 */
export function isOpen(registry: HostToolRegistry<never>, section: FileSection): boolean {
  if (section === 'rules' || section === 'quotas') return true;
  return (
    ['mcpServers', 'audit', 'approvals', 'network'].includes(section) &&
    loadedFiles(registry).host !== undefined
  );
}

/** Gives the host time for what it cannot take at once. */
export async function hostReady(
  registry: HostToolRegistry<never>,
  { path, audit }: PreparedFile,
): Promise<void> {
  if (audit !== undefined && 'value' in audit)
    await loadedFiles(registry).host?.ready?.(path, audit.value);
}

/** Records that an entry does not load. */
export type Fail = (
  section: FileSection,
  entry: RawEntry,
  name: string | undefined,
  reason: string,
) => void;

/** Asks the host about servers, the audit log, approvals and the network. */
export function tryHosted(
  registry: HostToolRegistry<never>,
  { path, servers, audit, approvals, network }: PreparedFile,
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
  return {
    hosted: {
      path,
      servers: taken,
      audit: tryOne(audit, 'audit', (value) => ({ section: 'audit', audit: value })),
      approvals: tryOne(approvals, 'approvals', (value) => ({
        section: 'approvals',
        approvals: value,
      })),
      network: tryOne(network, 'network', (value) => ({ section: 'network', network: value })),
    },
    prefixes: [...taken].map(([name, { prefix = `${name}.` }]) => prefix),
  };

  function tryOne<Value>(
    prepared: PreparedOne<Value> | undefined,
    section: 'audit' | 'approvals' | 'network',
    partOf: (value: Value) => HostedPart,
  ): Value | undefined {
    if (prepared === undefined) return undefined;
    const reason =
      host === undefined
        ? noHost(section)
        : 'reason' in prepared
          ? prepared.reason
          : host.problem(path, partOf(prepared.value), again);
    if (reason !== undefined) fail(section, prepared.entry, undefined, reason);
    return 'value' in prepared ? prepared.value : undefined;
  }
}
