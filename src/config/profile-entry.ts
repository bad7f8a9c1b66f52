/** Making profiles from the entries of `profiles`, parents first. */
import type { Profile } from '../index.ts';
import { nearestNames } from '../internal.ts';
import { type ProfileEntry, profileEntry } from './format.ts';
import { explainIssues } from './issues.ts';
import type { RawEntry } from './read-file.ts';

/** What an entry gave: a profile, or why there is none. */
export type PreparedProfile = { readonly entry: RawEntry; readonly id: string } & ({ readonly profile: Profile } | { readonly reason: string });

/**
 * Reads the entries, and sorts them so that each stands behind those that it extends.
 * @param known Whether a profile that the file does not have is defined.
 */
export function prepareProfiles(entries: readonly RawEntry[], known: (id: string) => boolean): readonly PreparedProfile[] {
  const own = new Map(entries.map((entry) => [entry.key as string, prepare(entry)]));
  const sorted: PreparedProfile[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const failed = new Set<string>();
  const path: string[] = [];
  const visit = (prepared: PreparedProfile): void => {
    const { entry, id } = prepared;
    state.set(id, 'open');
    path.push(id);
    let reason: string | undefined;
    if ('profile' in prepared) {
      for (const parent of parentsOf(prepared.profile)) {
        const heir = own.get(parent);
        if (heir === undefined) {
          if (!known(parent)) reason ??= unknownParent(parent, own.keys());
        } else if (state.get(parent) === 'open') {
          reason ??= `\`extends\` leads back to itself: ${[...path.slice(path.indexOf(parent)), parent].join(' → ')}`;
        } else {
          if (!state.has(parent)) visit(heir);
          if (failed.has(parent)) reason ??= `it extends \`${parent}\`, which cannot be loaded`;
        }
      }
    } else reason = prepared.reason;
    path.pop();
    state.set(id, 'done');
    if (reason !== undefined) failed.add(id);
    sorted.push(reason === undefined ? prepared : { entry, id, reason });
  };
  for (const prepared of own.values()) if (!state.has(prepared.id)) visit(prepared);
  return sorted;
}

/** The profiles that one starts from. */
export function parentsOf({ extends: parents = [] }: Profile): readonly string[] {
  return typeof parents === 'string' ? [parents] : parents;
}

function unknownParent(parent: string, ids: Iterable<string>): string {
  const [nearest] = nearestNames(parent, ids, 1);
  return `\`extends\`: there is no profile \`${parent}\`${nearest === undefined ? '' : `, did you mean \`${nearest}\`?`}`;
}

function prepare(entry: RawEntry): PreparedProfile {
  const id = entry.key as string;
  const checked = profileEntry.safeParse(entry.value);
  if (!checked.success) return { entry, id, reason: explainIssues(checked.error.issues, entry.value) };
  // As it was written: what was checked is a copy that may lack keys such as `__proto__`.
  const { tools, ...rest } = entry.value as ProfileEntry;
  if (tools === undefined && rest.extends === undefined)
    return { entry, id, reason: 'expected `tools`, a list of tools or a map of names to knobs; only a profile that extends another may leave it out' };
  const list = Array.isArray(tools) ? tools : Object.entries(tools ?? {}).map(([name, knobs]) => (knobs === null ? name : { name, knobs }));
  return { entry, id, profile: { id, ...rest, tools: list } as Profile };
}
