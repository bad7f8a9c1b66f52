/** Makes profiles from the entries of `profiles`, parents first. */
import type { Profile } from '../../core.ts';
import { nearestNames } from '../../values/text/names.ts';
import { entryFault, shortened } from './issues.ts';
import { atNamedPart, maxDepth } from './places.ts';
import { isMapEntry, type ProfileEntry, profileEntry } from './profile-format.ts';
import type { RawEntry } from './read-file.ts';
import { timeoutMsOf } from './value-formats.ts';

/** The outcome of an entry: a profile, or the reason why there is none. */
export type PreparedProfile = { readonly entry: RawEntry; readonly id: string } & (
  | { readonly profile: Profile }
  | { readonly reason: string }
);

/**
 * Reads the entries, and sorts them so that each comes after those that it extends. Longer than 60
 * lines, since the steps of the walk share its stack and its results.
 * @param prefixes Names that begin like this belong to servers, which may bring them at any time.
 * @param known Ids of profiles that are already defined and not entries of this file.
 */
export function prepareProfiles(
  entries: readonly RawEntry[],
  prefixes: readonly string[],
  known: readonly string[],
): readonly PreparedProfile[] {
  const outside = new Set(known);
  const own = new Map(entries.map((entry) => [entry.key as string, prepare(entry, prefixes)]));
  const sorted: PreparedProfile[] = [];
  /**
   * The length of each profile's longest chain of parents; Infinity for one that cannot be loaded.
   */
  const settled = new Map<string, number>();
  /**
   * The chain from a profile to the parent that is being visited. It is a list instead of
   * recursion, because a chain may be too long for the call stack.
   */
  const path: Visit[] = [];
  const enter = (prepared: PreparedProfile): void => {
    if ('reason' in prepared)
      path.push({ prepared, parents: [], reason: prepared.reason, depth: 0 });
    else
      path.push({
        prepared,
        parents: [...parentsOf(prepared.profile)],
        reason: undefined,
        depth: 0,
      });
  };
  const leave = ({ prepared, reason, depth }: Visit): void => {
    const { entry, id } = prepared;
    const fault =
      reason ??
      (depth > maxDepth ? `\`extends\` leads through more than ${maxDepth} profiles` : undefined);
    settled.set(id, fault === undefined ? depth : Number.POSITIVE_INFINITY);
    if (fault === undefined || 'reason' in prepared) sorted.push(prepared);
    else sorted.push({ entry: atNamedPart(entry, fault), id, reason: fault });
  };
  const step = (visit: Visit): void => {
    const parent = visit.parents[0];
    if (parent === undefined) {
      path.pop();
      leave(visit);
      return;
    }
    const heir = own.get(parent);
    const above = path.findIndex(({ prepared }) => prepared.id === parent);
    if (heir !== undefined && above === -1 && !settled.has(parent)) {
      enter(heir);
      return;
    }
    visit.parents.shift();
    if (heir === undefined) {
      const others = [...own.keys(), ...known].filter((id) => id !== visit.prepared.id);
      if (!outside.has(parent)) visit.reason ??= unknownParent(parent, others);
    } else if (above !== -1) {
      visit.reason ??=
        `\`extends\` leads back to itself: ` +
        `${[...path.slice(above).map(({ prepared }) => prepared.id), parent].join(' → ')}`;
    } else {
      const depth = settled.get(parent) as number;
      if (depth === Number.POSITIVE_INFINITY)
        visit.reason ??= `it extends \`${parent}\`, which cannot be loaded`;
      visit.depth = Math.max(visit.depth, depth + 1);
    }
  };
  for (const prepared of own.values()) {
    if (settled.has(prepared.id)) continue;
    enter(prepared);
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) step(visit);
  }
  return sorted;
}

interface Visit {
  readonly prepared: PreparedProfile;
  /** The parents that are still to be visited. */
  readonly parents: string[];
  reason: string | undefined;
  depth: number;
}

/** The ids of the profiles that a profile extends. */
export function parentsOf({ extends: parents = [] }: Profile): readonly string[] {
  return typeof parents === 'string' ? [parents] : parents;
}

function unknownParent(parent: string, ids: Iterable<string>): string {
  const [nearest] = nearestNames(parent, ids, 1);
  return (
    `\`extends\`: there is no profile ` +
    `\`${shortened(parent)}\`${nearest === undefined ? '' : `, did you mean \`${nearest}\`?`}`
  );
}

function prepare(entry: RawEntry, prefixes: readonly string[]): PreparedProfile {
  const id = entry.key as string;
  const checked = profileEntry.safeParse(entry.value);
  if (!checked.success) return { id, ...entryFault(checked.error.issues, entry) };
  // Uses the entry as written, because the checked copy may lack keys such as `__proto__`.
  const { tools, ...rest } = entry.value as ProfileEntry;
  if (tools === undefined && rest.extends === undefined)
    return {
      entry,
      id,
      reason:
        'expected `tools`, a list of tools or a map of names to knobs; only a profile that ' +
        'extends another can omit it',
    };
  const list = Array.isArray(tools)
    ? tools
    : Object.entries(tools ?? {}).map(([name, given]) =>
        given === null ? name : isMapEntry(given) ? { ...given, name } : { name, knobs: given },
      );
  const settled = list.map(inMilliseconds).map(lateTool(prefixes));
  return { entry, id, profile: { id, ...rest, tools: settled } as Profile };
}

/** A tool of a profile in a file. */
interface ToolOfFile {
  readonly name: string;
  readonly optional?: boolean | undefined;
  readonly timeout?: string | undefined;
}

/** A tool as code has it, with its time limit as `timeoutMs`. */
function inMilliseconds(tool: string | ToolOfFile): string | ToolOfFile {
  if (typeof tool === 'string' || tool.timeout === undefined) return tool;
  const { timeout, ...rest } = tool;
  return { ...rest, ...{ timeoutMs: timeoutMsOf({ timeout }) } };
}

/** A tool of a server may be missing when the profile is defined, and come later. */
function lateTool(prefixes: readonly string[]) {
  return (tool: string | ToolOfFile) => {
    const named = typeof tool === 'string' ? { name: tool } : tool;
    return prefixes.some((prefix) => prefix !== '' && named.name.startsWith(prefix))
      ? { optional: true, ...named }
      : tool;
  };
}
