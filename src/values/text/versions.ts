/**
 * Versions and ranges of versions, as the strict mode of the package `semver` reads them, without a
 * leading `v`. It is written here because the core needs only a fraction of that package.
 */

/** A version that semver can order. */
export interface Version {
  readonly release: readonly [major: number, minor: number, patch: number];
  /** The identifiers of a pre-release; empty for a release. */
  readonly pre: readonly (number | string)[];
}

interface Comparator {
  readonly op: '<' | '<=' | '>' | '>=' | '=';
  readonly version: Version;
}

/** A range of versions. */
export interface VersionRange {
  /** As it was written. */
  readonly text: string;
  /** Whether every release fits. */
  readonly any: boolean;
  /** A version fits if all comparators of one set hold. */
  readonly sets: readonly (readonly Comparator[])[];
}

/** A version of which only the first parts are given, such as `1.2` or `1.x`. */
interface Partial {
  readonly parts: readonly number[];
  readonly pre: readonly (number | string)[];
}

/** Most characters of a version or range. */
const maxLength = 256;
const number = /^(?:0|[1-9]\d{0,14})$/;
const identifier = /^[0-9A-Za-z-]+$/;
const wild = new Set(['x', 'X', '*']);
const none: readonly never[] = Object.freeze([]);

/** Reads a full version such as `1.2.3-rc.1+build`; undefined for anything else. */
export function parseVersion(text: string): Version | undefined {
  const partial = text.length <= maxLength ? parsePartial(text) : undefined;
  return partial?.parts.length === 3 ? versionOf(partial) : undefined;
}

/** Negative if the left version is older. Builds do not count. */
export function compareVersions(left: Version, right: Version): number {
  for (const index of [0, 1, 2] as const) {
    const difference = left.release[index] - right.release[index];
    if (difference !== 0) return difference;
  }
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  for (let index = 0; index < Math.max(left.pre.length, right.pre.length); index++) {
    const order = compareIdentifiers(left.pre[index], right.pre[index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Numbers are older than words, and a missing identifier is older than both. */
function compareIdentifiers(
  left: number | string | undefined,
  right: number | string | undefined,
): number {
  if (left === right) return 0;
  if (left === undefined) return -1;
  if (right === undefined) return 1;
  if (typeof left === 'number') return typeof right === 'number' ? left - right : -1;
  return typeof right === 'number' ? 1 : left < right ? -1 : 1;
}

/**
 * Reads a range: `1.2.3`, `1.2`, `1.x`, `*`, `^1.2`, `~1.2`, `>=1.2 <2`, `1.2 - 1.4`, and several
 * of them joined by `||`. Undefined for anything else.
 */
export function parseRange(text: string): VersionRange | undefined {
  if (text.length > maxLength) return undefined;
  const sets: (readonly Comparator[])[] = [];
  for (const part of text.split('||')) {
    const set = parseSet(part.trim());
    if (set === undefined) return undefined;
    sets.push(set);
  }
  const any = sets.some((set) => set.length === 0);
  return { text, any, sets: any ? [none] : sets };
}

/**
 * Whether a version fits. A pre-release fits only if the range names a pre-release of the same
 * release.
 */
export function fitsRange(version: Version, { sets }: VersionRange): boolean {
  return sets.some(
    (set) =>
      set.every((comparator) => holds(version, comparator)) &&
      (version.pre.length === 0 ||
        set.some(
          ({ version: { release, pre } }) =>
            pre.length > 0 && release.every((part, index) => part === version.release[index]),
        )),
  );
}

function holds(version: Version, { op, version: bound }: Comparator): boolean {
  const order = compareVersions(version, bound);
  if (op === '=') return order === 0;
  if (order === 0) return op === '<=' || op === '>=';
  return order < 0 === op.startsWith('<');
}

/** Comparators that must all hold. An empty list means every release. */
function parseSet(text: string): readonly Comparator[] | undefined {
  if (text === '') return undefined;
  const ends = text.split(/\s+-\s+/);
  if (ends.length > 1) return ends.length === 2 ? parseHyphen(ends) : undefined;
  const set: Comparator[] = [];
  // An operator may be separated from its version.
  for (const word of text.replaceAll(/([<>=^~])\s+/g, '$1').split(/\s+/)) {
    const comparators = parseComparator(word);
    if (comparators === undefined) return undefined;
    set.push(...comparators);
  }
  return set.filter(({ op, version }) => !(op === '>=' && isZero(version)));
}

function parseHyphen(ends: readonly string[]): readonly Comparator[] | undefined {
  const [from, to] = ends.map(parsePartial);
  if (from === undefined || to === undefined) return undefined;
  return [...atLeast(from), ...atMost(to)].filter(
    ({ op, version }) => !(op === '>=' && isZero(version)),
  );
}

function parseComparator(word: string): readonly Comparator[] | undefined {
  const [, op = '', rest = ''] = /^([<>]=?|[=^~]?)(.*)$/.exec(word) ?? [];
  const partial = parsePartial(rest);
  if (partial === undefined) return undefined;
  const { parts } = partial;
  const isFull = parts.length === 3;
  const version = versionOf(partial);
  switch (op) {
    case '^': {
      const first = parts.findIndex((part) => part !== 0);
      return parts.length === 0
        ? none
        : between(version, after(parts, first === -1 ? parts.length - 1 : first));
    }
    case '~':
      return parts.length === 0
        ? none
        : between(version, after(parts, Math.min(parts.length - 1, 1)));
    case '>=':
      return atLeast(partial);
    case '<=':
      return atMost(partial);
    case '>':
      if (isFull) return [{ op, version }];
      return parts.length === 0
        ? [nothing]
        : [{ op: '>=', version: { release: after(parts, parts.length - 1), pre: none } }];
    case '<':
      return [{ op, version: isFull ? version : lowest(version.release) }];
    default:
      if (isFull) return [{ op: '=', version }];
      return parts.length === 0 ? none : between(version, after(parts, parts.length - 1));
  }
}

function atLeast(partial: Partial): readonly Comparator[] {
  return partial.parts.length === 0 ? none : [{ op: '>=', version: versionOf(partial) }];
}

function atMost(partial: Partial): readonly Comparator[] {
  const { parts } = partial;
  if (parts.length === 3) return [{ op: '<=', version: versionOf(partial) }];
  return parts.length === 0 ? none : [{ op: '<', version: lowest(after(parts, parts.length - 1)) }];
}

function between(from: Version, to: Version['release']): readonly Comparator[] {
  return [
    { op: '>=', version: from },
    { op: '<', version: lowest(to) },
  ];
}

/** The first release after all that begin with these parts, up to and with `index`. */
function after(parts: readonly number[], index: number): Version['release'] {
  const at = (one: number): number =>
    one < index ? (parts[one] ?? 0) : one === index ? (parts[one] ?? 0) + 1 : 0;
  return [at(0), at(1), at(2)];
}

/** Older than every pre-release of a release, so that `<` leaves those out too. */
function lowest(release: Version['release']): Version {
  return { release, pre: [0] };
}

/** Fits no version. */
const nothing: Comparator = { op: '<', version: { release: [0, 0, 0], pre: [0] } };

function isZero({ release, pre }: Version): boolean {
  return pre.length === 0 && release.every((part) => part === 0);
}

function versionOf({ parts: [major = 0, minor = 0, patch = 0], pre }: Partial): Version {
  return { release: [major, minor, patch], pre };
}

function parsePartial(text: string): Partial | undefined {
  const [head = '', ...build] = text.split('+');
  if (build.length > 1 || (build.length === 1 && !isIdentifiers(build[0] as string)))
    return undefined;
  const dash = head.indexOf('-');
  const words = (dash === -1 ? head : head.slice(0, dash)).split('.');
  const given = dash === -1 ? undefined : head.slice(dash + 1);
  if (words.length > 3) return undefined;
  const open = words.findIndex((word) => wild.has(word));
  const parts = open === -1 ? words : words.slice(0, open);
  if (!parts.every((word) => number.test(word))) return undefined;
  if (open !== -1 && !words.slice(open).every((word) => wild.has(word))) return undefined;
  // Only a full version can have a pre-release or a build.
  if (parts.length < 3 && (given !== undefined || build.length > 0)) return undefined;
  const pre = given === undefined ? none : parsePre(given);
  return pre === undefined ? undefined : { parts: parts.map(Number), pre };
}

function parsePre(text: string): readonly (number | string)[] | undefined {
  if (!isIdentifiers(text)) return undefined;
  const words = text.split('.');
  if (words.some((word) => /^\d+$/.test(word) && !number.test(word))) return undefined;
  return words.map((word) => (number.test(word) ? Number(word) : word));
}

function isIdentifiers(text: string): boolean {
  return text.split('.').every((word) => identifier.test(word));
}
