/**
 * Makes and folds changes of tools. The logs keep only names, and the events carry the current
 * definitions. Many waiting changes are folded into one.
 */
import type { HostTool, JsonObject } from '../../../core.ts';
import type { RelayedDefinition, ToolsDocument, ToolsRecord } from '../ports/documents.ts';
import type { ToolsChange } from '../tools/next-document.ts';
import { tightening } from '../tools/relayed-tool.ts';

/** The reason of a change that a registration makes. */
export const registrationReason = 'plugin-registration';

/** The most bytes of the names in one record. */
const maxNameBytes = 65_536;

/**
 * Makes the record of a change. If its names take more than 64 KB together, they are left out and
 * the record says `all`.
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

/** True for a change that names no tool. */
export function isEmptyChange({ added, removed, modified }: ToolsChange): boolean {
  return added.length + removed.length + modified.length === 0;
}

/**
 * Folds consecutive changes, oldest first, into one. A tool that was added and removed again is
 * left out. Reason and time are those of the last change.
 * @param records at least one
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
    // A tool that existed before these changes counts as modified when it is added again.
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

/** Makes a record that covers any change, for when the individual changes are not known. */
export function everything(reason: string, at: number): ToolsRecord {
  return { kind: 'tools', added: [], removed: [], modified: [], reason, at, all: true };
}

/**
 * Makes the data of the event `tool-availability-update`. It carries the current definitions. A
 * tool that has since been removed appears with its last definition, because a later record reports
 * its removal; one that was removed long ago is left out. If the record says `all`, `added` holds
 * all tools, and `resync: true` means that these are all tools of the session.
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
 * Makes the form of a definition that both sides get. It has the annotations that the checks use,
 * and no members that only the relay needs.
 */
export function shownDefinition(definition: RelayedDefinition): JsonObject {
  const { annotations, constraints } = definition;
  const shown = shownTool({ ...definition, annotations: tightening(annotations) });
  return constraints === undefined ? shown : { ...shown, constraints };
}

/** The members of a tool that clients see. */
export type ShownTool = Pick<
  HostTool,
  'name' | 'description' | 'parameters' | 'outputSchema' | 'title' | 'annotations'
>;

/** Makes the JSON of a tool, without absent members and without empty annotations. */
export function shownTool({
  name,
  description,
  parameters,
  outputSchema,
  title,
  annotations,
}: ShownTool): JsonObject {
  return {
    name,
    description,
    parameters: parameters as JsonObject,
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
    ...(title === undefined ? {} : { title }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations: { ...annotations } }),
  };
}
