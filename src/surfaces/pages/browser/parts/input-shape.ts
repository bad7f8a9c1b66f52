/**
 * How the values of an input are laid out for a person, and what of them is folded at first. The
 * view and the note about what is folded both come from here, so they cannot differ.
 */
import { escapePointer } from '../../../../values/json/value.ts';
import { head } from '../../../../values/text/characters.ts';
import { visibleJson } from './visible.ts';
import { countOf, several } from './words.ts';

/** A value, as it is shown. */
export type Shape =
  /** A value that fits on a line. */
  | { readonly kind: 'line'; readonly value: unknown }
  /** A text with line breaks, or a long one; also JSON with too many parts for a list. */
  | { readonly kind: 'block'; readonly text: string; readonly isJson: boolean }
  /** An object, or a list with more than plain values in it. */
  | { readonly kind: 'members'; readonly members: readonly Member[]; readonly isList: boolean };

/** A member of an object, or an entry of a list. */
export interface Member {
  readonly name: string;
  readonly pointer: string;
  readonly value: unknown;
}

/** Something that is not shown in full at first. */
export interface Fold {
  readonly pointer: string;
  /** How much is left out, such as `60 more lines`. */
  readonly rest: string;
}

/** A text on one line with more characters than this is a block. */
const maxOfLine = 160;
/** What is folded leaves out at least a few lines. */
const foldedFrom = { lines: 24, chars: 2_500, members: 24 } as const;
const shown = { lines: 16, chars: 2_000, members: 16 } as const;
/** Objects with more values, or within this many others, are shown as JSON. */
const maxValues = 300;
const maxDepth = 4;

export function shapeOf(value: unknown, pointer: string, depth = 0): Shape {
  if (typeof value === 'string')
    return value.includes('\n') || value.length > maxOfLine
      ? { kind: 'block', text: value, isJson: false }
      : { kind: 'line', value };
  if (typeof value !== 'object' || value === null) return { kind: 'line', value };
  const entries = Object.entries(value);
  if (entries.length === 0) return { kind: 'line', value };
  // An input itself is never JSON, so that its long texts stay readable.
  if (depth > 0 && (depth >= maxDepth || valuesIn(value) > maxValues))
    return { kind: 'block', text: visibleJson(value), isJson: true };
  const members = entries.map(([name, member]) => ({
    name,
    pointer: `${pointer}/${escapePointer(name)}`,
    value: member,
  }));
  return { kind: 'members', members, isList: Array.isArray(value) };
}

/** How many values there are. Counts no further than is needed. */
function valuesIn(value: unknown, from = 0): number {
  let count = from + 1;
  if (typeof value !== 'object' || value === null) return count;
  for (const one of Object.values(value)) {
    if (count > maxValues) break;
    count = valuesIn(one, count);
  }
  return count;
}

/** The beginning of a text, and what is left out; undefined if all of it is shown. */
export function foldText(text: string): { shown: string; rest: string } | undefined {
  const lines = text.split('\n');
  const isLong = lines.length > foldedFrom.lines;
  const kept = isLong ? lines.slice(0, shown.lines).join('\n') : text;
  if (kept.length > foldedFrom.chars) {
    return {
      shown: head(kept, shown.chars),
      rest: `${countOf(text.length - shown.chars)} more characters`,
    };
  }
  return isLong
    ? { shown: kept, rest: `${countOf(lines.length - shown.lines)} more lines` }
    : undefined;
}

/** The first members, and what is left out; undefined if all are shown. */
export function foldMembers(
  members: readonly Member[],
  isList: boolean,
): { shown: readonly Member[]; rest: string } | undefined {
  if (members.length <= foldedFrom.members) return undefined;
  const rest = several(
    members.length - shown.members,
    isList ? 'more entry' : 'more field',
    isList ? 'more entries' : 'more fields',
  );
  return { shown: members.slice(0, shown.members), rest };
}

/** What of a value is folded. @param open Pointers of what a person has unfolded. */
export function foldsIn(
  value: unknown,
  open: ReadonlySet<string>,
  pointer = '',
  depth = 0,
): Fold[] {
  const shape = shapeOf(value, pointer, depth);
  if (shape.kind === 'line') return [];
  if (shape.kind === 'block') {
    const folded = open.has(pointer) ? undefined : foldText(shape.text);
    return folded === undefined ? [] : [{ pointer, rest: folded.rest }];
  }
  const folded = open.has(pointer) ? undefined : foldMembers(shape.members, shape.isList);
  return [
    ...(folded?.shown ?? shape.members).flatMap((one) =>
      foldsIn(one.value, open, one.pointer, depth + 1),
    ),
    ...(folded === undefined ? [] : [{ pointer, rest: folded.rest }]),
  ];
}
