/** Finds globs and labels without effect, which are probably misspelt. */

import { isJsonObject } from '../../values/json/index.ts';
import { mayHold } from '../../values/json-schema/may-hold.ts';
import { globTest } from '../../values/text/glob.ts';
import { nearestNames } from '../../values/text/names.ts';
import type { ServerEntry } from '../config/server-format.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';

/**
 * One line for each key of `labels` that matches no tool, and for each field that a tool named
 * there does not have. A glob may match tools that do not have all of its fields.
 * @param prefix the prefix of the tools' names
 */
export function labelFaults(
  { labels = {} }: ServerEntry,
  { tools, drift }: Pick<ImportedMcpTools, 'tools' | 'drift'>,
  prefix: string,
): readonly string[] {
  const names = [...tools, ...drift].map(({ name }) => name.slice(prefix.length));
  const byName = new Map(tools.map((tool) => [tool.name.slice(prefix.length), tool]));
  return Object.entries(labels).flatMap(([glob, { roles, origins }]) => {
    if (!names.some(globTest(glob, false)))
      return [`\`labels\`: ${matchesNone(glob, names, prefix)}`];
    const tool = byName.get(glob);
    if (tool === undefined) return [];
    return [
      ...unknownFields(roles, tool.parameters).map((path) => ['roles', path] as const),
      ...unknownFields(origins, tool.outputSchema).map((path) => ['origins', path] as const),
    ].map(([field, path]) => `\`labels\`: \`${glob}\` has no field \`${path}\` for \`${field}\``);
  });
}

/**
 * One line for each glob of `tools` that matches no tool.
 * @param names the names that the server has listed, without the prefix
 */
export function toolFaults(
  { tools = [] }: ServerEntry,
  names: readonly string[],
  prefix: string,
): readonly string[] {
  return tools
    .filter((glob) => !names.some(globTest(glob, false)))
    .map((glob) => `\`tools\`: ${matchesNone(glob, names, prefix)}`);
}

function matchesNone(glob: string, names: readonly string[], prefix: string): string {
  const fault = `\`${glob}\` matches none of its tools`;
  const own = glob.slice(prefix.length);
  if (prefix !== '' && glob.startsWith(prefix) && names.some(globTest(own, false)))
    return `${fault}; write \`${own}\`, without the prefix`;
  const [nearest] = nearestNames(glob, names, 1);
  return nearest === undefined ? fault : `${fault}, did you mean \`${nearest}\`?`;
}

function unknownFields(labels: object | undefined, schema: unknown): readonly string[] {
  if (labels === undefined || !isJsonObject(schema)) return [];
  return Object.keys(labels).filter((path) => {
    const segments = path.split('.');
    return mayHold(schema, segments) < segments.length;
  });
}
