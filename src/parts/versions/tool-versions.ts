/**
 * The versions of a registry's tools. `tools` holds the version of each name that is shown unless a
 * range selects another, so that finding a tool is one lookup. `versions` holds all versions of the
 * names that have several.
 */

import type { ToolEntry } from '../../core/registry/tool-entry.ts';
import { internalsOf } from '../../core/tool/definition.ts';
import type { AnyTool } from '../../core/tool/tool-config.ts';
import { MisuseError } from '../../values/errors/index.ts';
import {
  compareVersions,
  fitsRange,
  parseVersion,
  type Version,
  type VersionRange,
} from '../../values/text/versions.ts';

/** The part of a registry that holds its tools. */
export interface VersionTable {
  readonly tools: Map<string, ToolEntry>;
  /** Newest first; only names that have several versions. */
  readonly versions: Map<string, readonly ToolEntry[]>;
}

/** Most versions of one tool. */
const mostVersions = 64;
const none: readonly ToolEntry[] = Object.freeze([]);

/** All versions of a tool, newest first. */
export function versionsOf({ tools, versions }: VersionTable, name: string): readonly ToolEntry[] {
  const several = versions.get(name);
  if (several !== undefined) return several;
  const only = tools.get(name);
  return only === undefined ? none : [only];
}

/** All versions of all tools. Those of one tool are adjacent, newest first. */
export function allEntries(table: VersionTable): readonly ToolEntry[] {
  if (table.versions.size === 0) return [...table.tools.values()];
  return [...table.tools.keys()].flatMap((name) => versionsOf(table, name));
}

/** Whether an entry is registered, shown or not. */
export function holds({ tools, versions }: VersionTable, entry: ToolEntry): boolean {
  return tools.get(entry.name) === entry || versions.get(entry.name)?.includes(entry) === true;
}

/** Adds an entry that was checked with {@link checkBeside}. */
export function addVersion(table: VersionTable, entry: ToolEntry): void {
  const { name } = entry;
  if (table.tools.has(name)) setVersions(table, name, [...versionsOf(table, name), entry]);
  else table.tools.set(name, entry);
}

/** Puts an entry in the place of another of the same name. */
export function swapVersion(table: VersionTable, before: ToolEntry, entry: ToolEntry): void {
  const several = table.versions.get(entry.name);
  if (several === undefined) table.tools.set(entry.name, entry);
  else
    setVersions(
      table,
      entry.name,
      several.map((one) => (one === before ? entry : one)),
    );
}

/** Removes an entry. True if it was the last one of its name. */
export function dropVersion(table: VersionTable, entry: ToolEntry): boolean {
  const rest = versionsOf(table, entry.name).filter((one) => one !== entry);
  if (rest.length > 0) setVersions(table, entry.name, rest);
  else table.tools.delete(entry.name);
  return rest.length === 0;
}

/**
 * Shows another version if the present one was disabled or withdrawn, or if a newer one is back.
 */
export function showNewest(table: VersionTable, name: string): void {
  const several = table.versions.get(name);
  if (several !== undefined) setVersions(table, name, several);
}

/** The version of a tool that a range selects: the newest that fits and is not disabled. */
export function pickVersion(
  table: VersionTable,
  name: string,
  range: VersionRange | undefined,
): ToolEntry | undefined {
  if (range === undefined || range.any) return table.tools.get(name);
  return newest(
    versionsOf(table, name).filter(
      ({ version }) => version !== undefined && fitsRange(version, range),
    ),
  );
}

function setVersions(table: VersionTable, name: string, entries: readonly ToolEntry[]): void {
  const sorted = [...entries].sort(newestFirst);
  const releases = sorted.filter(({ version }) => version === undefined || !isPre(version));
  // A Map keeps the place of a key that is set again.
  table.tools.set(name, newest(releases.length > 0 ? releases : sorted) as ToolEntry);
  if (sorted.length > 1) table.versions.set(name, sorted);
  else table.versions.delete(name);
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

function isPre({ pre }: Version): boolean {
  return pre.length > 0;
}

/** A tool without a version is older than all others. */
function newestFirst({ version: left }: ToolEntry, { version: right }: ToolEntry): number {
  if (left === undefined || right === undefined)
    return left === right ? 0 : left === undefined ? 1 : -1;
  return compareVersions(right, left);
}

/** The tools of the same name: a registered version, or an earlier one of the same list. */
export interface Beside {
  readonly version: string | undefined;
  readonly source: string;
  readonly owner: string;
}

/** The parts of a definition that {@link checkBeside} compares. */
export function besideOf(definition: AnyTool, owner: string): Beside {
  const { outside } = internalsOf(definition);
  return { version: definition.version, source: outside?.source ?? owner, owner };
}

/** The same for the registered versions of a name. */
export function registeredBeside(table: VersionTable, name: string): readonly Beside[] {
  return versionsOf(table, name).map(({ definition, source, owner }) => ({
    version: definition.version,
    source,
    owner,
  }));
}

/**
 * Checks that a tool can be registered together with others of its name.
 * @throws MisuseError `duplicate_name`
 */
export function checkBeside(name: string, one: Beside, others: readonly Beside[]): void {
  const refuse = (why: string, remedy: string): MisuseError =>
    new MisuseError('duplicate_name', `Tool \`${name}\` is already registered${why}. ${remedy}`);
  if (others.length >= mostVersions)
    throw refuse(` in ${others.length} versions`, 'Unregister some of them first.');
  for (const { version, source, owner } of others) {
    if (one.version === version)
      throw refuse(
        version === undefined ? '' : ` in version ${version}`,
        `Use registerOrReplace() to replace it, or choose another ${
          version === undefined ? 'name' : 'name or version'
        }.`,
      );
    if (source !== one.source || owner !== one.owner)
      throw refuse(
        ` by \`${source === one.source ? owner : source}\``,
        'Only that source can add versions of it. Choose another name.',
      );
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

/** The registered version that `registerOrReplace` replaces; undefined if it adds one. */
export function replacedBy(table: VersionTable, definition: AnyTool): ToolEntry | undefined {
  const all = versionsOf(table, definition.name);
  return (
    all.find((entry) => isSame(entry.definition.version, definition.version)) ??
    (all.length === 1 ? all[0] : undefined)
  );
}
