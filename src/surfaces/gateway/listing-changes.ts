/** Says what differs between two listings of a server. */
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';

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
