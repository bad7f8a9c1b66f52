/** Defines profiles: checks them against the tools and updates the profiles that extend them. */

import type { Profile } from '../../api/profile.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { deepFreeze } from '../../values/json/index.ts';
import { shortened } from '../../values/text/characters.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';
import type { Conditioned } from '../rules/conditioned.ts';
import { checkLineage, type KnownProfile, parentsOf } from '../rules/lineage.ts';
import { type ProfileTool, type ResolvedProfile, resolveProfile } from '../rules/profile.ts';
import type { CompiledRule } from '../rules/rule.ts';
import { keepUse } from '../rules/rule-use.ts';
import { checkKnobs } from './check-knobs.ts';
import type { RegistryState } from './registry-state.ts';

/** Most characters of a name that a message shows. */
export const maxShown = 200;

/** @throws MisuseError `unknown_tool`, `unknown_knob`, `unknown_profile`, `invalid_option`. */
export function defineProfile(registry: RegistryState, profile: Profile): void {
  const { profiles } = registry;
  const resolved = resolveProfile(profile, (id) => profiles.get(id)?.resolved, registry);
  checkProfileTools(resolved, registry);
  keepUse(profiles.get(resolved.id)?.resolved.rules, resolved.rules);
  const given = deepFreeze(structuredClone(profile));
  checkLineage(given, profiles);
  reviewProfile(registry, resolved);
  if ([...profiles.values()].some((one) => parentsOf(one.given).includes(resolved.id)))
    setWithHeirs(registry, { given, resolved });
  else profiles.set(resolved.id, { given, resolved });
  registry.sessions.limitsRate ||= resolved.limits.callsPerMinute !== undefined;
  registry.changed('profile');
}

/** Reviews what the profile adds to its parents. */
function reviewProfile(registry: RegistryState, profile: ResolvedProfile): void {
  const { id, tools, rules } = profile;
  const { conditioned, review } = registry.ports;
  if (review === undefined) return;
  // A tool that is not registered yet may have what a rule for all tools looks for.
  const isWhole = [...tools.keys()].every((name) => registry.catalogue.tools.has(name));
  const isOwn = ({ layer, names }: CompiledRule | Conditioned): boolean =>
    layer === `profile:${id}` && (isWhole || names !== undefined);
  const others = conditioned.flatMap((conditionedIn) => conditionedIn(profile));
  review.added([...rules, ...others].filter(isOwn));
}

/**
 * Sets a profile and updates its heirs. If an heir is invalid with the new parent, nothing changes.
 */
function setWithHeirs(registry: RegistryState, profile: KnownProfile): void {
  const { profiles } = registry;
  const before = new Map(profiles);
  const { id } = profile.resolved;
  profiles.set(id, profile);
  try {
    resolveHeirs(registry, id);
  } catch (error) {
    profiles.clear();
    for (const [known, entry] of before) profiles.set(known, entry);
    throw error;
  }
}

/** Resolves every profile that extends a changed one again, parents before heirs. */
function resolveHeirs(registry: RegistryState, changed: string): void {
  const { profiles } = registry;
  const settled = new Map<string, boolean>([[changed, true]]);
  // True for a descendant of the changed profile. Its parents are settled first, so that it is not
  // resolved with an old parent.
  const settle = (id: string): boolean => {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const { given, resolved: before } = profiles.get(id) as KnownProfile;
    // `filter` instead of `some`, because every parent must be settled.
    const touched = parentsOf(given).filter(settle).length > 0;
    if (touched) {
      const resolved = resolveProfile(given, (parent) => profiles.get(parent)?.resolved, registry);
      keepUse(before.rules, resolved.rules);
      profiles.set(id, { given, resolved });
    }
    settled.set(id, touched);
    return touched;
  };
  for (const id of [...profiles.keys()]) settle(id);
}

function checkProfileTools(profile: ResolvedProfile, registry: RegistryState): void {
  for (const tool of profile.tools.values()) {
    const entry = registry.catalogue.names.pick(tool.name, tool.range);
    if (entry !== undefined) {
      checkKnobs(profile.id, entry, tool.knobs);
      for (const part of registry.ports.profiles.tools) part.check(profile.id, entry, tool);
    } else if (!tool.optional) throw unknownTool(profile, tool, registry);
  }
}

function unknownTool(
  { id }: ResolvedProfile,
  { name, range }: ProfileTool,
  { catalogue: { names, tools } }: RegistryState,
): MisuseError {
  const problem =
    names.misfit?.(name, range) ??
    `\`tools\` to name registered tools, got \`${shortened(name, maxShown)}\`.` +
      didYouMean(nearestNames(name, tools.keys()));
  return new MisuseError(
    'unknown_tool',
    `Profile \`${id}\`: expected ${problem} Register it first, or mark it \`optional\`.`,
  );
}
