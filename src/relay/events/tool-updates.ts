/**
 * Changes of tools as the logs keep them: names only, folded where many are waiting, and told with
 * the definitions of the moment.
 */
import type { JsonObject } from '../../index.ts';
import type { RelayedDefinition, ToolsDocument, ToolsRecord } from '../ports/documents.ts';
import type { ToolsChange } from '../tools/registration.ts';
import { tightening } from '../tools/relayed-tool.ts';

/** The reason of a registration's change. */
export const registrationReason = 'plugin-registration';

/** Most bytes of the names of one record. */
const maxNameBytes = 65_536;

/**
 * The record of a change. Names of more than 64 KB together are not kept: it then says `all`.
 * @param at epoch milliseconds
 */
export function toToolsRecord(
  { added, removed, modified }: ToolsChange,
  reason: string,
  at: number,
): ToolsRecord {
  let bytes = 0;
  for (const names of [added, removed, modified])
    for (const name of names) bytes += Buffer.byteLength(name);
  return bytes > maxNameBytes
    ? everything(reason, at)
    : { kind: 'tools', added, removed, modified, reason, at };
}

/** True for a change of no name. */
export function isEmptyChange({ added, removed, modified }: ToolsChange): boolean {
  return added.length + removed.length + modified.length === 0;
}

/**
 * What consecutive changes come to, oldest first: what was added and removed again is not in it.
 * Reason and time are the last one's. @param records at least one
 */
export function foldUpdates(records: readonly ToolsRecord[]): ToolsRecord {
  const last = records.at(-1);
  if (last === undefined)
    return { kind: 'tools', added: [], removed: [], modified: [], reason: 'update', at: 0 };
  if (records.some(({ all }) => all)) return everything(last.reason, last.at);
  const net = new Map<string, keyof ToolsChange>();
  for (const { added, removed, modified } of records) {
    for (const name of removed) {
      if (net.get(name) === 'added') net.delete(name);
      else net.set(name, 'removed');
    }
    // It was there before, whatever was done to it since.
    for (const name of added)
      net.set(name, net.has(name) && net.get(name) !== 'added' ? 'modified' : 'added');
    for (const name of modified) if (net.get(name) !== 'added') net.set(name, 'modified');
  }
  const named = (kind: keyof ToolsChange): string[] =>
    [...net].flatMap(([name, one]) => (one === kind ? name : []));
  return toToolsRecord(
    { added: named('added'), removed: named('removed'), modified: named('modified') },
    last.reason,
    last.at,
  );
}

/** The record of changes that nobody knows one by one: all there is. */
export function everything(reason: string, at: number): ToolsRecord {
  return { kind: 'tools', added: [], removed: [], modified: [], reason, at, all: true };
}

/**
 * The data of the event `tool-availability-update`. Definitions are those of now, and the last ones
 * of names that are gone since, of which a later record tells; what went long ago is left out.
 * Where the record says `all`, `added` is everything there is, and `resync: true` says that nothing
 * else stands.
 */
export function describeUpdate(
  code: string,
  record: ToolsRecord,
  document: ToolsDocument | undefined,
): JsonObject {
  const { added, removed, modified, reason, at, all } = record;
  const there = document?.definitions ?? [];
  const tools = new Map([...(document?.gone ?? []), ...there].map((one) => [one.name, one]));
  const look = (names: readonly string[]): JsonObject[] =>
    names.flatMap((name) => tools.get(name) ?? []).map(shownDefinition);
  const updates = all
    ? { added: there.map(shownDefinition), removed: [], modified: [] }
    : { added: look(added), removed: [...removed], modified: look(modified) };
  return {
    sessionCode: code,
    updates,
    timestamp: new Date(at).toISOString(),
    reason,
    ...(all ? { resync: true } : {}),
  };
}

/**
 * A definition as both sides are told of it: what gates see of its annotations, and nothing that
 * the relay keeps for itself.
 */
export function shownDefinition({
  name,
  description,
  parameters,
  outputSchema,
  title,
  annotations,
}: RelayedDefinition): JsonObject {
  const shown = { ...tightening(annotations) };
  return {
    name,
    description,
    parameters,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(title === undefined ? {} : { title }),
    ...(Object.keys(shown).length === 0 ? {} : { annotations: shown }),
  };
}
