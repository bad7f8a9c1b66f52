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
