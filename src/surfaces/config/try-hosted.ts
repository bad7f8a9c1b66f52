/** Asks the host of a file whether it can use the file's parts. */
import type { HostToolRegistry } from '../../core.ts';
import { type HostedPart, type HostedParts, noHost } from './file-host.ts';
import { loadedFiles } from './loaded-files.ts';
import { type OpenApiEntry, prefixOfApi } from './openapi-format.ts';
import type { PreparedFile } from './prepared-file.ts';
import type { RawEntry } from './read-file.ts';
import type { FileSection } from './report.ts';
import type { ServerEntry } from './server-format.ts';
import { type SingleSection, type SingleValues, singleSections } from './single-sections.ts';

/**
 * Whether an entry of this section that does not load prevents its file from loading. Without a
 * host, no server starts in any case.
 */
export function isOpen(registry: HostToolRegistry<never>, section: FileSection): boolean {
  if (section === 'rules' || section === 'quotas') return true;
  const isHosted = section !== 'tools' && section !== 'profiles';
  return isHosted && loadedFiles(registry).host !== undefined;
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

/** Asks the host about servers and single values. */
export function tryHosted(
  registry: HostToolRegistry<never>,
  file: PreparedFile,
  again: boolean,
  fail: Fail,
): { readonly hosted: HostedParts; readonly prefixes: readonly string[] } {
  const { host } = loadedFiles(registry);
  const { path } = file;
  const taken = new Map<string, ServerEntry>();
  for (const prepared of file.servers) {
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
  const values: Partial<Record<SingleSection, unknown>> = {};
  for (const section of singleSections) {
    const prepared = file[section];
    if (prepared === undefined) continue;
    const unused = host === undefined ? noHost(section) : undefined;
    const reason =
      unused ??
      ('reason' in prepared
        ? prepared.reason
        : host?.problem(path, { section, value: prepared.value } as HostedPart, again));
    if (reason !== undefined) fail(section, prepared.entry, undefined, reason);
    if ('value' in prepared) values[section] = prepared.value;
  }
  return {
    hosted: { path, servers: taken, ...(values as Partial<SingleValues>) },
    prefixes: [
      ...[...taken].map(([name, { prefix = `${name}.` }]) => prefix),
      ...Object.entries((values.openapi as OpenApiEntry | undefined) ?? {}).map(([name, api]) =>
        prefixOfApi(name, api),
      ),
    ],
  };
}
