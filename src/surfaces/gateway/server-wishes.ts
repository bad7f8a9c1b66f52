/** A file's settings and labels for a server's tools, by the server's own names. */

import { isJsonObject } from '../../values/json/index.ts';
import { mayHold } from '../../values/json-schema/may-hold.ts';
import { globTest } from '../../values/text/glob.ts';
import { nearestNames } from '../../values/text/names.ts';
import type { ServerEntry, ToolLabelsEntry } from '../config/server-format.ts';
import { ownHints, timeoutMsOf } from '../config/value-formats.ts';
import type { ImportedMcpTools } from '../mcp/client/imported-tools.ts';
import { labelsByGlob, type ToolLabels } from '../shared/tool-labels.ts';

/** Whether clients get these from the server. */
export function exposes({ expose }: ServerEntry, kind: 'tools' | 'prompts' | 'resources'): boolean {
  return expose === undefined ? kind === 'tools' : expose.includes(kind);
}

/** Whether a tool is used: any of the globs matches. Undefined if every tool is. */
export function takesBy({ tools }: ServerEntry): ((name: string) => boolean) | undefined {
  if (tools === undefined) return undefined;
  const tests = tools.map((glob) => globTest(glob, false));
  return (name) => tests.some((matches) => matches(name));
}

/** The labels of a tool, from all entries that match. */
export function labelsBy({
  labels,
}: ServerEntry): ((name: string) => ToolLabels | undefined) | undefined {
  if (labels === undefined) return undefined;
  return labelsByGlob(
    Object.fromEntries(Object.entries(labels).map(([glob, given]) => [glob, labelsOf(given)])),
  );
}

/** What a file says about tools, as imports take it. */
export function labelsOf(given: ToolLabelsEntry): ToolLabels {
  const { annotations, origin, origins, roles, requiresApproval, task } = given;
  return {
    annotations: annotations === undefined ? undefined : ownHints(annotations),
    origin,
    origins,
    roles,
    timeoutMs: timeoutMsOf(given),
    requiresApproval,
    task,
  };
}

// Finds globs and labels without effect, which are probably misspelt.

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
