/** Checks that the profiles, overrides and selection of a workflow name only known tools. */

import type { Overrides } from '../../api/session-options.ts';
import { checkNames } from '../../core/toolset/effective.ts';
import { unknownProfile } from '../../core/toolset/unknown-profile.ts';
import { MisuseError } from '../../values/errors/index.ts';
import type { WorkflowState } from './workflow-state.ts';

/**
 * @throws MisuseError for an unknown name in the profiles, the selection or an override, and for a
 * name that two tools have
 */
export function checkInventory({
  tools,
  profiles,
  profile,
  overrides,
}: Pick<WorkflowState, 'tools' | 'profiles' | 'profile' | 'overrides'>): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name))
      throw new MisuseError(
        'duplicate_name',
        `\`tools\`: expected every name once, got \`${name}\` twice.`,
      );
    names.add(name);
  }
  for (const [id, list] of Object.entries(profiles)) checkNames(list, names, `profiles.${id}`);
  checkOverrides(overrides, names, 'session');
  if (profile !== null) checkProfile(profile, profiles);
}

/** @throws MisuseError `unknown_tool` */
export function checkOverrides(
  overrides: Overrides | null,
  names: ReadonlySet<string>,
  scope: 'session' | 'run',
): void {
  for (const list of ['enable', 'disable', 'force'] as const)
    checkNames(overrides?.[list], names, `overrides.${scope}.${list}`);
}

/** @throws MisuseError `unknown_profile`, which names the known profiles */
export function checkProfile(id: string, profiles: WorkflowState['profiles']): void {
  if (Object.hasOwn(profiles, id)) return;
  // Sorted, so that the message does not depend on the order of keys, which JSON may change.
  throw unknownProfile(
    '`profile`: expected the id',
    id,
    Object.keys(profiles).sort(),
    'send `tool_registry_set` with `profiles` first',
  );
}
