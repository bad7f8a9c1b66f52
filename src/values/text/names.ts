/** Tool names: which are valid, which look alike, and which one was probably meant. */
import { describe, MisuseError } from '../errors/index.ts';
import { latinLook } from './look-alikes.ts';

const maxNameLength = 1024;
const plainAscii = /^[!-~](?:[ -~]*[!-~])?$/;

/** Checked in this order. The first that applies is the reason in the message. */
const refusals: readonly (readonly [test: (name: string) => boolean, expected: string])[] = [
  [(name) => name.trim() === '', 'to be non-blank'],
  [(name) => name.length > maxNameLength, `to have at most ${maxNameLength} characters`],
  [(name) => name.trim() !== name, 'to have no white space at its start or end'],
  [(name) => /\p{Cs}/u.test(name), 'to have no lone surrogate'],
  [(name) => /[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), 'to have no control character or line break'],
  [(name) => /\p{Bidi_Control}/u.test(name), 'to have no bidirectional control character'],
  // U+2800 is a braille pattern without dots; tags, variation selectors, joiners and fillers are
  // default-ignorable.
  [
    (name) => /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u2800]/u.test(name),
    'to have no invisible character',
  ],
  [(name) => /(?! )\p{Zs}/u.test(name), 'to have no white space but the plain space'],
  [(name) => name.normalize('NFC') !== name, 'to be in Unicode normal form NFC'],
  [(name) => name === '__proto__', 'not to be the reserved word `__proto__`'],
];

/**
 * Checks a tool's name and returns it unchanged. A name is a non-blank text of 1 to 1024 UTF-16
 * units in NFC, without white space at its ends and without control, bidirectional or invisible
 * characters, exotic spaces and lone surrogates. Words such as `constructor` are ordinary names;
 * `__proto__` is not.
 * @throws MisuseError `invalid_definition`
 */
export function checkToolName(name: unknown): string {
  if (typeof name !== 'string')
    throw new MisuseError(
      'invalid_definition',
      `Expected tool \`name\` to be a string, got ${describe(name)}`,
    );
  if (name.length <= maxNameLength && name !== '__proto__' && plainAscii.test(name)) return name;
  for (const [refused, expected] of refusals) {
    if (refused(name))
      throw new MisuseError(
        'invalid_definition',
        `Expected tool \`name\` ${expected}, got ${show(name)} (${name.length} characters)`,
      );
  }
  return name;
}

/**
 * The name as one visible line. Characters that a terminal or a log would hide or interpret are
 * escaped.
 */
function show(name: string): string {
  const start = name.length > 60 ? `${name.slice(0, 57)}...` : name;
  const escaped = start.replace(/[^ -~]|["\\]/gu, (char) =>
    char === '"' || char === '\\'
      ? `\\${char}`
      : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
  return `"${escaped}"`;
}

/**
 * Folds the ASCII characters that a hurried reader confuses: upper and lower case, `-` and `_`, `0`
 * and `O`, and `1`, `l` and `I` (and therefore `L` and `i`).
 */
const asciiFold: readonly string[] = Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code).toLowerCase();
  if (char === '-') return '_';
  if (char === '0') return 'o';
  if (char === '1' || char === 'l') return 'i';
  return char;
});

/**
 * A key that is equal for names which a person or a model would confuse: names that differ by case,
 * by `-` and `_`, by NFKC, or by a small table of look-alikes (Cyrillic, Greek and fullwidth
 * look-alikes of Latin letters, dashes, `0`/`O`, `1`/`l`/`I`). It does not cover all of UTS 39.
 * Only for comparing, never for display.
 */
export function nameSkeleton(name: string): string {
  let skeleton = '';
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code > 127) return wideSkeleton(name);
    skeleton += asciiFold[code];
  }
  return skeleton;
}

function wideSkeleton(name: string): string {
  // Decomposing finds look-alikes with accents; folding through upper case makes ß equal SS and ſ
  // equal s.
  const folded = fold(name.normalize('NFKD')).toUpperCase().toLowerCase().normalize('NFKD');
  return fold(folded);
}

function fold(text: string): string {
  let folded = '';
  for (const char of text) folded += asciiFold[char.codePointAt(0) as number] ?? latinLook(char);
  return folded;
}

/**
 * The most character comparisons of one search: some tens of milliseconds. Further candidates are
 * not compared.
 */
const searchBudget = 3_000_000;

/**
 * The candidates that `name` was probably meant to be, best first: names that look alike, then by
 * edit distance (swapping neighbours counts as one; at most a third of the name and at most 3),
 * then names of which one contains the other. Ties are ordered by code unit, so the order of the
 * candidates does not matter. The cost is bounded for any name and candidates.
 * @param max the most names to return. @default 3
 */
export function nearestNames(name: string, candidates: Iterable<string>, max = 3): string[] {
  if (name.length === 0 || name.length > maxNameLength || max < 1) return [];
  const wanted = nameSkeleton(name);
  const bound = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  const distance = distanceFrom(wanted, bound);
  const found = new Map<string, number>();
  let budget = searchBudget;
  for (const candidate of candidates) {
    if (candidate.length > maxNameLength) continue;
    const skeleton = nameSkeleton(candidate);
    const near = Math.abs(skeleton.length - wanted.length) <= bound;
    budget -= skeleton.length * (near ? 2 * bound + 2 : 1) + 8;
    if (budget < 0) break;
    const rank = skeleton === wanted ? 0 : near ? distance(skeleton) : bound + 1;
    if (rank <= bound || contains(wanted, skeleton)) found.set(candidate, rank);
  }
  return [...found]
    .sort(([a, rankA], [b, rankB]) => rankA - rankB || (a < b ? -1 : 1))
    .slice(0, max)
    .map(([candidate]) => candidate);
}

/** `git_status` for `status`, `read_file` for `functions.read_file`. */
function contains(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= 4 && long.includes(short);
}

/**
 * Optimal string alignment distance from one text, or `bound + 1` where it is greater. Only the
 * diagonal band that can stay within the bound is computed.
 */
function distanceFrom(from: string, bound: number): (to: string) => number {
  const far = bound + 1;
  const width = from.length + bound + 3;
  let beforeLast = new Int32Array(width);
  let last = new Int32Array(width);
  let row = new Int32Array(width);
  return (to) => {
    for (let column = 0; column < width; column++) last[column] = Math.min(column, far);
    beforeLast.fill(far);
    for (let at = 1; at <= from.length; at++) {
      const code = from.charCodeAt(at - 1);
      const first = Math.max(1, at - bound);
      const end = Math.min(to.length, at + bound);
      row[first - 1] = first === 1 ? Math.min(at, far) : far;
      let best = row[first - 1] as number;
      for (let column = first; column <= end; column++) {
        const other = to.charCodeAt(column - 1);
        let cost = (last[column - 1] as number) + (code === other ? 0 : 1);
        cost = Math.min(cost, (row[column - 1] as number) + 1, (last[column] as number) + 1, far);
        if (
          at > 1 &&
          column > 1 &&
          code === to.charCodeAt(column - 2) &&
          from.charCodeAt(at - 2) === other
        )
          cost = Math.min(cost, (beforeLast[column - 2] as number) + 1);
        row[column] = cost;
        if (cost < best) best = cost;
      }
      row[end + 1] = far;
      if (best === far) return far;
      [beforeLast, last, row] = [last, row, beforeLast];
    }
    return last[to.length] as number;
  };
}

/** ` Did you mean …?` for the end of a message; empty if there is no similar name. */
export function didYouMean(near: readonly string[]): string {
  return near.length === 0
    ? ''
    : ` Did you mean ${near.map((name) => `\`${name}\``).join(' or ')}?`;
}

/** The name of a tool that a caller gave by name or as an object with one; `""` if it has none. */
export function nameOf(tool: unknown): string {
  if (typeof tool === 'string') return tool;
  try {
    const { name } = tool as { name?: unknown };
    return typeof name === 'string' ? name : '';
  } catch {
    return '';
  }
}
