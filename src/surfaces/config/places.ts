/** The places of values in a file's text. */

/** The place of a value, with the places of its parts. */
export interface Place {
  /** The offset of its first character; for a member of an object, that of its key. */
  readonly at: number;
  /** The places of its parts, by key or by index. */
  readonly inside?: ReadonlyMap<string | number, Place>;
}

/** A value with the lines of its parts. */
export interface Located {
  readonly value: unknown;
  /** The line in the file, from 1. */
  readonly line: number;
  /** The line of a part, from 1. If there is no such part, that of what should have it. */
  lineAt(path: readonly PropertyKey[]): number;
}

/** A parsed text: its value, and the place of each part. */
export interface ParsedText {
  readonly value: unknown;
  readonly place: Place;
}

/**
 * The reason why a text cannot be read. The readers throw it, and the caller adds the name of the
 * file.
 */
export class TextFault {
  readonly at: number;
  readonly message: string;
  constructor(at: number, message: string) {
    this.at = at;
    this.message = message;
  }
}

/** The line and column of an offset, from 1. */
export function lineColumn(
  text: string,
  at: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, Math.max(0, at));
  const start = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let index = before.indexOf('\n'); index !== -1; index = before.indexOf('\n', index + 1))
    line++;
  return { line, column: before.length - start + 1 };
}

/** Maximum nesting. It is far above what any entry needs. */
export const maxDepth = 100;
/** Maximum number of values in a file. Each use of a YAML alias counts. */
export const maxValues = 200_000;

// Finds the part of an entry that a message of the library is about.

/** The entry with the line of the first of its fields that the message names, if it names one. */
export function atNamedPart<Entry extends Located>(entry: Entry, message: string): Entry {
  const { value } = entry;
  if (typeof value !== 'object' || value === null) return entry;
  for (const [, noun, quoted = ''] of message.matchAll(/(\w+ )?`([^`]{1,1024})`/g)) {
    const path = stepsOf(quoted);
    // A tool or a profile may have the name of a field.
    if (noun === 'Tool ' || noun === 'Profile ' || path[0] === undefined) continue;
    if (!Object.hasOwn(value, path[0])) continue;
    const [, pointer = ''] = /Schema at `((?:\/[^`]{0,1024})?)`/.exec(message) ?? [];
    const inside = pointer.split('/').slice(1).map(unescaped);
    return { ...entry, line: entry.lineAt([...path, ...inside]) };
  }
  return entry;
}

/** The keys of a place as messages write it, such as `when["a.b"].in`. */
function stepsOf(place: string): readonly (string | number)[] {
  return [...place.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, key, index, name = '']) =>
      index === undefined ? (key === undefined ? name : unquoted(key)) : Number(index),
  );
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text;
  }
}

function unescaped(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~');
}
