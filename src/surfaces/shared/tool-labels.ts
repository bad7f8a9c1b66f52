/** The host's labels for the tools of an import. */
import type { ToolAnnotations } from '../../core.ts';
import { globTest } from '../../values/text/glob.ts';
import type { FieldLabels } from './pins.ts';

/**
 * The host's labels for a tool from outside. Unlike the tool's own description, they may loosen
 * checks. Absent members leave the cautious assumptions as they are.
 */
export interface ToolLabels extends FieldLabels {
  /** Replaces the hints that it names. */
  readonly annotations?: ToolAnnotations | undefined;
  /** The origin of the text of its output. */
  readonly origin?: 'trusted' | 'untrusted' | undefined;
  /** Milliseconds that a call may run. */
  readonly timeoutMs?: number | undefined;
  /** Whether a reviewer must approve each call. */
  readonly requiresApproval?: boolean | undefined;
  /** Whether a call over MCP may, or must, be a task. */
  readonly task?: 'optional' | 'required' | undefined;
}

/**
 * The labels of a tool, by globs of names. If several match, later ones override earlier ones,
 * member by member.
 */
export function labelsByGlob(
  labels: Readonly<Record<string, ToolLabels>>,
): (name: string) => ToolLabels | undefined {
  const entries = Object.entries(labels).map(
    ([glob, given]) => [globTest(glob, false), given] as const,
  );
  return (name) => {
    const found = entries.filter(([matches]) => matches(name)).map(([, given]) => given);
    return found.length === 0 ? undefined : merged(found);
  };
}

/** The labels that concern fields of the input and the output. */
export function fieldLabels(labels: ToolLabels | undefined): FieldLabels | undefined {
  if (labels?.origins === undefined && labels?.roles === undefined) return undefined;
  return Object.freeze({ origins: labels.origins, roles: labels.roles });
}

/**
 * The annotations of a tool: what the host says counts, and so does what follows from it. A tool
 * that only reads destroys nothing, and one that destroys does not only read.
 */
export function labelled(said: ToolAnnotations, given: ToolAnnotations = {}): ToolAnnotations {
  return {
    ...said,
    ...(given.readOnly === true && said.destructive === true ? { destructive: false } : {}),
    ...(given.destructive === true && said.readOnly === true ? { readOnly: false } : {}),
    ...given,
  };
}

function merged(found: readonly ToolLabels[]): ToolLabels {
  const of = <Key extends keyof ToolLabels>(key: Key): NonNullable<ToolLabels[Key]>[] =>
    found.flatMap((one) => (one[key] === undefined ? [] : [one[key]]));
  const record = <V>(parts: readonly Readonly<Record<string, V>>[]): Record<string, V> =>
    Object.fromEntries(parts.flatMap((part) => Object.entries(part)));
  const [annotations, origins, roles] = [of('annotations'), of('origins'), of('roles')];
  return {
    annotations: annotations.length === 0 ? undefined : Object.assign({}, ...annotations),
    origin: of('origin').at(-1),
    origins: origins.length === 0 ? undefined : record(origins),
    roles: roles.length === 0 ? undefined : record(roles),
    timeoutMs: of('timeoutMs').at(-1),
    requiresApproval: of('requiresApproval').at(-1),
    task: of('task').at(-1),
  };
}
