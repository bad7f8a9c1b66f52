/** What files have loaded into which registry, so that loading one again replaces exactly that. */
import type { AnyTool, HostToolRegistry, Profile } from '../index.ts';
import { registryStateOf } from '../surface-port.ts';
import type { ModuleVersions } from './import-module.ts';

/**
 * A tool that a file brought. It is still the file's for as long as the registry holds this
 * definition.
 */
export interface LoadedTool {
  readonly definition: AnyTool;
  readonly identity: string;
}

/**
 * A profile that a file brought. It is still the file's for as long as the registry holds this
 * object.
 */
export interface LoadedProfile {
  readonly given: Profile;
  readonly identity: string;
}

/** The rules of a file, which are added and taken away together. */
export interface LoadedRules {
  readonly identity: string;
  readonly remove: () => void;
}

/** What one file has loaded. */
export interface LoadedFile {
  readonly tools: ReadonlyMap<string, LoadedTool>;
  readonly profiles: ReadonlyMap<string, LoadedProfile>;
  readonly rules: LoadedRules | undefined;
}

/** All files of one registry. */
export interface LoadedFiles {
  /** By absolute path. */
  readonly files: Map<string, LoadedFile>;
  readonly versions: ModuleVersions;
}

const byRegistry = new WeakMap<HostToolRegistry<never>, LoadedFiles>();

/** What stands before a registry, and the registry. */
const standIns = new WeakMap<HostToolRegistry<never>, HostToolRegistry<never>>();

/** Says that what is loaded into one registry is loaded into another, which it only stands for. */
export function standFor(
  standIn: HostToolRegistry<never>,
  registry: HostToolRegistry<never>,
): void {
  standIns.set(standIn, behind(registry));
}

/** The registry itself, whatever stands before it. */
export function behind(given: HostToolRegistry<never>): HostToolRegistry<never> {
  return standIns.get(given) ?? given;
}

/** Tells the registry's logger what a module or a listener of the host threw. */
export function tellFault(
  given: HostToolRegistry<never>,
  thrown: unknown,
  where: object,
  message: string,
): void {
  registryStateOf(behind(given)).hostFault(thrown, { ...where, source: 'config' }, message);
}

/** What is remembered of a registry, for as long as the registry lives. */
export function loadedFiles(given: HostToolRegistry<never>): LoadedFiles {
  const registry = behind(given);
  let known = byRegistry.get(registry);
  if (known === undefined) {
    known = { files: new Map(), versions: new Map() };
    byRegistry.set(registry, known);
  }
  return known;
}

/** A file that has loaded nothing. */
export const nothingLoaded: LoadedFile = Object.freeze({
  tools: new Map(),
  profiles: new Map(),
  rules: undefined,
});
