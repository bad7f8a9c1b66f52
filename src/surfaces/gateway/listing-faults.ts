/**
 * Says which tools of a listing are left out, which parts of schemas are not checked, and which
 * parts of a server's entry have no effect on it.
 */
import type { ServerEntry } from '../config/server-format.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';
import type { ServerStatus } from './server-status.ts';
import { exposes, labelFaults, toolFaults } from './server-wishes.ts';

/** Most tools that are named because of their schemas. */
const maxNamed = 10;

/**
 * One line for each tool that is left out, and one about parts of schemas that only the server
 * checks.
 */
export function listingFaults(
  failed: ServerStatus['failed'],
  warnings: ImportedMcpTools['warnings'],
): readonly string[] {
  const lines = failed.map(({ name, reason }) => `\`${name}\` is left out: ${reason}`);
  if (warnings.length === 0) return lines;
  const names = [...new Set(warnings.map(({ name }) => `\`${name}\``))];
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return [
    ...lines,
    'only the server checks parts of the schemas of ' +
      `${names.slice(0, maxNamed).join(', ')}${more}. \`host-tools list\` names the parts`,
  ];
}

/**
 * One line for each glob, label and field of a server's entry that has no effect.
 * @param names the names that the server has listed, without the prefix
 */
export function entryFaults(
  entry: ServerEntry,
  imported: Pick<ImportedMcpTools, 'tools' | 'drift'>,
  names: readonly string[],
  prefix: string,
): readonly string[] {
  return [
    ...(exposes(entry, 'tools') ? toolFaults(entry, names, prefix) : []),
    ...labelFaults(entry, imported, prefix),
  ];
}

/**
 * One line for each tool that is new, has changed or is gone.
 * @param before fingerprints by name, as are those of `now`
 */
export function listingChanges(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
  imported: Pick<ImportedMcpTools, 'found'>,
): readonly string[] {
  const taken = [...now]
    .filter(([tool, print]) => before.get(tool) !== print)
    .map(([tool]) => `\`${tool}\` ${before.has(tool) ? 'has changed' : 'is new'}, and is taken`);
  const lost = [...before.keys()]
    .filter((tool) => !now.has(tool))
    .map((tool) =>
      imported.found(tool) === undefined
        ? `\`${tool}\` is gone`
        : `\`${tool}\` differs from its pin, and is withheld`,
    );
  return [...taken, ...lost];
}
