/** A file's settings and labels for a server's tools, by the server's own names. */

import { globTest } from '../../values/text/glob.ts';
import type { ServerEntry, ToolLabelsEntry } from '../config/server-format.ts';
import { timeoutMsOf } from '../config/time-format.ts';
import { ownHints } from '../config/value-formats.ts';
import type { McpToolLabels } from '../mcp/client/definition.ts';

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

/**
 * The labels of a tool. If several entries match, later ones override earlier ones, member by
 * member.
 */
export function labelsBy({
  labels,
}: ServerEntry): ((name: string) => McpToolLabels | undefined) | undefined {
  if (labels === undefined) return undefined;
  const entries = Object.entries(labels).map(
    ([glob, given]) => [globTest(glob, false), given] as const,
  );
  return (name) => {
    const found = entries.filter(([matches]) => matches(name)).map(([, given]) => given);
    return found.length === 0 ? undefined : merged(found);
  };
}

function merged(found: readonly ToolLabelsEntry[]): McpToolLabels {
  const of = <Key extends keyof ToolLabelsEntry>(key: Key): NonNullable<ToolLabelsEntry[Key]>[] =>
    found.flatMap((one) => (one[key] === undefined ? [] : [one[key]]));
  const record = <V>(parts: readonly Readonly<Record<string, V>>[]): Record<string, V> =>
    Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  const [annotations, origins, roles] = [of('annotations'), of('origins'), of('roles')];
  return {
    annotations:
      annotations.length === 0 ? undefined : Object.assign({}, ...annotations.map(ownHints)),
    origin: of('origin').at(-1),
    origins: origins.length === 0 ? undefined : record(origins),
    roles: roles.length === 0 ? undefined : record(roles),
    timeoutMs: found.map(timeoutMsOf).findLast((ms) => ms !== undefined),
    requiresApproval: of('requiresApproval').at(-1),
  };
}
