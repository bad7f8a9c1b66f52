/** Versions as a part of a registry: several versions of one name side by side. */

import type { AnyTool } from '../../api/tool.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { maxShown } from '../../core/registry/define-profile.ts';
import {
  alreadyRegistered,
  type Beside,
  checkApart,
  type NameTable,
} from '../../core/registry/name-table.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { shortened } from '../../values/text/characters.ts';
import {
  compareVersions,
  fitsRange,
  parseRange,
  parseVersion,
  type Version,
  type VersionRange,
} from '../../values/text/versions.ts';

// Several versions of each name of a registry.

/** Most versions of one tool. */
const maxVersions = 64;
const none: readonly ToolEntry[] = Object.freeze([]);

class SeveralVersions implements NameTable {
  /** For each name, the version that is shown unless a range selects another. */
  readonly #tools: Map<string, ToolEntry>;
  /** Newest first; only names that have several versions. */
  readonly #versions = new Map<string, readonly ToolEntry[]>();

  constructor(tools: Map<string, ToolEntry>) {
    this.#tools = tools;
  }

  of(name: string): readonly ToolEntry[] {
    const several = this.#versions.get(name);
    if (several !== undefined) return several;
    const only = this.#tools.get(name);
    return only === undefined ? none : [only];
  }

  all(): readonly ToolEntry[] {
    if (this.#versions.size === 0) return [...this.#tools.values()];
    return [...this.#tools.keys()].flatMap((name) => this.of(name));
  }

  has(entry: ToolEntry): boolean {
    const { name } = entry;
    return this.#tools.get(name) === entry || this.#versions.get(name)?.includes(entry) === true;
  }

  rangeIn(_name: string, text: string): VersionRange | undefined {
    return parseRange(text);
  }

  /** The newest version that fits and is not disabled. */
  pick(name: string, range: VersionRange | undefined): ToolEntry | undefined {
    if (range === undefined || range.any) return this.#tools.get(name);
    return newest(
      this.of(name).filter((entry) => {
        const version = versionOf(entry);
        return version !== undefined && fitsRange(version, range);
      }),
    );
  }

  misfit(name: string, range: VersionRange | undefined): string | undefined {
    const versions = this.of(name).map(({ definition }) => definition.version ?? 'none');
    if (range !== undefined && versions.length > 0)
      return (
        `a registered version of \`${name}\` that fits \`${range.text}\`, got ` +
        `${versions.join(', ')}.`
      );
    // The text after the `@` was probably meant as a range.
    const at = name.lastIndexOf('@');
    if (at <= 0 || !this.#tools.has(name.slice(0, at))) return undefined;
    const text = JSON.stringify(shortened(name.slice(at + 1), maxShown));
    return (
      `\`tools\` to name registered tools, got \`${shortened(name, maxShown)}\`. ${text} is not ` +
      'a range of versions, such as `^1.2`.'
    );
  }

  checkBeside(name: string, one: Beside, others: readonly Beside[]): void {
    const refuse = (why: string, remedy: string) => alreadyRegistered(name, why, remedy);
    if (others.length >= maxVersions)
      throw refuse(` in ${others.length} versions`, 'Unregister some of them first.');
    for (const other of others) {
      checkApart(name, one, other);
      const { version } = other;
      for (const given of [one.version, version])
        if (given !== undefined && !isOrdered(given))
          throw refuse(
            '',
            'To register several versions of a tool, give each a version such as "1.2.0"; ' +
              `got ${JSON.stringify(given.slice(0, 100))}.`,
          );
      if (isSame(one.version, version))
        throw refuse(
          ` in version ${version}, which is the same as ${one.version}`,
          'Use registerOrReplace() to replace it, or choose another version.',
        );
    }
  }

  replacedBy({ name, version }: AnyTool): ToolEntry | undefined {
    const all = this.of(name);
    return (
      all.find(({ definition }) => isSame(definition.version, version)) ??
      (all.length === 1 ? all[0] : undefined)
    );
  }

  add(entry: ToolEntry): void {
    const { name } = entry;
    if (this.#tools.has(name)) this.#set(name, [...this.of(name), entry]);
    else this.#tools.set(name, entry);
  }

  swap(before: ToolEntry, entry: ToolEntry): void {
    const { name } = entry;
    const several = this.#versions.get(name);
    if (several === undefined) this.#tools.set(name, entry);
    else
      this.#set(
        name,
        several.map((one) => (one === before ? entry : one)),
      );
  }

  drop(entry: ToolEntry): boolean {
    const { name } = entry;
    const rest = this.of(name).filter((one) => one !== entry);
    if (rest.length > 0) this.#set(name, rest);
    else this.#tools.delete(name);
    return rest.length === 0;
  }

  /** Shows another version if the present one cannot be called, or if a newer one is back. */
  changed(name: string): void {
    const several = this.#versions.get(name);
    if (several !== undefined) this.#set(name, several);
  }

  #set(name: string, entries: readonly ToolEntry[]): void {
    const sorted = [...entries].sort(newestFirst);
    const releases = sorted.filter((entry) => !isPre(versionOf(entry)));
    // A Map keeps the place of a key that is set again.
    this.#tools.set(name, newest(releases.length > 0 ? releases : sorted) as ToolEntry);
    if (sorted.length > 1) this.#versions.set(name, sorted);
    else this.#versions.delete(name);
  }
}

/**
 * The first version that can be called. If there is none, the first one, so that a session can say
 * why.
 */
function newest(sorted: readonly ToolEntry[]): ToolEntry | undefined {
  return sorted.find((entry) => isUsable(entry)) ?? sorted[0];
}

function isUsable({ enabled, internals }: ToolEntry): boolean {
  return enabled && internals.outside?.withdrawn() === undefined;
}

const parsed = new WeakMap<ToolEntry, Version | undefined>();

/** The version as semver reads it; undefined without one. */
function versionOf(entry: ToolEntry): Version | undefined {
  if (!parsed.has(entry)) {
    const { version } = entry.definition;
    parsed.set(entry, version === undefined ? undefined : parseVersion(version));
  }
  return parsed.get(entry);
}

function isPre(version: Version | undefined): boolean {
  return version !== undefined && version.pre.length > 0;
}

/** A tool without a version is older than all others. */
function newestFirst(one: ToolEntry, other: ToolEntry): number {
  const [left, right] = [versionOf(one), versionOf(other)];
  if (left === undefined || right === undefined)
    return left === right ? 0 : left === undefined ? 1 : -1;
  return compareVersions(right, left);
}

function isOrdered(text: string): boolean {
  return parseVersion(text) !== undefined;
}

/** Versions that differ only in their build metadata are the same. */
function isSame(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  const [one, other] = [parseVersion(left), parseVersion(right)];
  return one === undefined || other === undefined
    ? left === right
    : compareVersions(one, other) === 0;
}

/**
 * The part that lets a registry have several versions of a tool, and profiles select one by a
 * range, such as `git@^2`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { versions } from 'host-tools/versions';
 *
 * const registry = new HostToolRegistry({ parts: [versions()] });
 * registry.register(add);
 * registry.defineProfile({ id: 'first', tools: [{ name: 'add@^1', optional: true }] });
 * ```
 */
export function versions(): Part {
  return part;
}

const part = definePart({
  name: 'versions',
  install(_ports, registry) {
    registry.catalogue.names = new SeveralVersions(registry.catalogue.tools);
  },
});
