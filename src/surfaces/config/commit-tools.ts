/** Replaces the tools that a file had loaded with those that it has now. */
import { registryStateOf } from '../../core/registry/state-of.ts';
import type { AnyTool, HostToolRegistry, Profile } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import { behind, type LoadedTool } from './loaded-files.ts';

type Tools = ReadonlyMap<string, LoadedTool>;

/** By this key a file knows its tools. No name contains a line break. */
export function toolKey({ name, version = '' }: AnyTool): string {
  return `${name}\n${version}`;
}

/** The registered definitions of a name, in all versions. */
export function definitionsOf(registry: HostToolRegistry<never>, name: string): readonly AnyTool[] {
  const { names } = registryStateOf(behind(registry)).catalogue;
  return names.of(name).map(({ definition }) => definition);
}

/**
 * Changes the registry. Each step adds the function that undoes it. A tool of which only the
 * version differs is replaced, so that it keeps its place.
 */
export function commitTools(
  registry: HostToolRegistry<never>,
  before: Tools,
  tools: Tools,
  undo: (() => void)[],
): void {
  const added = new Map<string, AnyTool[]>();
  for (const [key, { definition }] of tools) {
    if (before.has(key)) continue;
    const list = added.get(definition.name);
    if (list === undefined) added.set(definition.name, [definition]);
    else list.push(definition);
  }
  const changed: [old: AnyTool, now: AnyTool][] = [];
  // Old tools are removed first, because a new name may conflict with an old one.
  for (const [key, { definition: old }] of before) {
    const now = tools.get(key)?.definition ?? added.get(old.name)?.shift();
    if (now === undefined) {
      registry.unregister(old);
      undo.push(() => registry.register(old));
    } else if (now !== old) changed.push([old, now]);
  }
  for (const [old, now] of changed) {
    replaceTool(registry, old, now);
    undo.push(() => replaceTool(registry, now, old));
  }
  const rest = [...added.values()].flat();
  if (rest.length === 0) return;
  const registrations = registry.registerAll(rest);
  undo.push(() => {
    for (const registration of registrations) registration.unregister();
  });
}

/** Replaces a definition with another of the same name, perhaps in another version. */
export function replaceTool(registry: HostToolRegistry<never>, old: AnyTool, now: AnyTool): void {
  registry.registerOrReplace(now);
  if (definitionsOf(registry, old.name).includes(old)) registry.unregister(old);
}

// What loading needs of a registry beyond its public methods: reading all profiles, removing
// profiles, and announcing several changes at once.

/** The profiles as given, by id. */
export function profilesOf(registry: HostToolRegistry<never>): ReadonlyMap<string, Profile> {
  return inspectRegistry(behind(registry)).profiles;
}

/** Removes profiles. New sessions cannot choose them; a session that has one keeps it unchanged. */
export function removeProfiles(registry: HostToolRegistry<never>, ids: readonly string[]): void {
  if (ids.length === 0) return;
  const state = registryStateOf(behind(registry));
  for (const id of ids) state.profiles.delete(id);
  state.changed('profile');
}

/**
 * Announces everything that `change` does to sessions and listeners at once, so that they never see
 * the registry half changed.
 */
export function together<T>(registry: HostToolRegistry<never>, change: () => T): T {
  return inspectRegistry(behind(registry)).change(change);
}
