/**
 * Records what each file has loaded into each registry, so that loading a file again replaces
 * exactly that.
 */

import type { AnyTool, HostToolRegistry, Profile, Quota, Rule } from '../../core.ts';
import { inspectRegistry } from '../../extend.ts';
import type { FileHost } from './file-host.ts';
import type { ModuleVersions } from './import-module.ts';

/**
 * A tool that a file loaded. It belongs to the file as long as the registry has this definition.
 */
export interface LoadedTool {
  readonly definition: AnyTool;
  readonly identity: string;
}

/** A profile that a file loaded. It belongs to the file as long as the registry has this object. */
export interface LoadedProfile {
  readonly given: Profile;
  readonly identity: string;
}

/** The rules of a file, which are added and removed together. */
export interface LoadedRules {
  readonly identity: string;
  readonly rules: readonly Rule[];
  remove: () => void;
}

/** The quotas of a file, which are added and removed together. */
export interface LoadedQuotas {
  readonly identity: string;
  readonly quotas: readonly Quota[];
  remove: () => void;
}

/** What one file has loaded. */
export interface LoadedFile {
  /** By name and version. */
  readonly tools: ReadonlyMap<string, LoadedTool>;
  readonly profiles: ReadonlyMap<string, LoadedProfile>;
  readonly rules: LoadedRules | undefined;
  readonly quotas: LoadedQuotas | undefined;
}

/** All files of one registry. */
export interface LoadedFiles {
  /** By absolute path. */
  readonly files: Map<string, LoadedFile>;
  readonly versions: ModuleVersions;
  /** Handles the parts that do not belong to a registry; undefined if nothing does. */
  host: FileHost | undefined;
}

const byRegistry = new WeakMap<HostToolRegistry<never>, LoadedFiles>();

/** Stand-ins for registries, with the registry behind each. */
const standIns = new WeakMap<HostToolRegistry<never>, HostToolRegistry<never>>();

/**
 * Declares that a registry is a stand-in: what is loaded into it is loaded into the one behind it.
 */
export function standFor(
  standIn: HostToolRegistry<never>,
  registry: HostToolRegistry<never>,
): void {
  standIns.set(standIn, behind(registry));
}

/** The registry behind a stand-in, or the given registry if it is not one. */
export function behind(given: HostToolRegistry<never>): HostToolRegistry<never> {
  return standIns.get(given) ?? given;
}

/** Logs what a module or a listener of the host threw, with the registry's logger. */
export function logFault(
  given: HostToolRegistry<never>,
  thrown: unknown,
  where: object,
  message: string,
): void {
  inspectRegistry(behind(given)).report(thrown, { ...where, source: 'config' }, message);
}

/** The loaded files of a registry. They are kept as long as the registry exists. */
export function loadedFiles(given: HostToolRegistry<never>): LoadedFiles {
  const registry = behind(given);
  let known = byRegistry.get(registry);
  if (known === undefined) {
    known = { files: new Map(), versions: new Map(), host: undefined };
    byRegistry.set(registry, known);
  }
  return known;
}

/**
 * From now on, a host handles the parts of a registry's files that do not belong to the registry.
 */
export function setFileHost(registry: HostToolRegistry<never>, host: FileHost): void {
  loadedFiles(registry).host = host;
}

/** A file that has loaded nothing. */
export const nothingLoaded: LoadedFile = Object.freeze({
  tools: new Map(),
  profiles: new Map(),
  rules: undefined,
  quotas: undefined,
});
