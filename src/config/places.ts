/** Where in a file's text its values stand. */

/** A value's place, with those of what it holds. */
export interface Place {
  /** Offset of its first character; of an object's member, of its key. */
  readonly at: number;
  /** By key or by place in the list. */
  readonly inside?: ReadonlyMap<string | number, Place>;
}

/** A text that was parsed: its value, and where each part of it stands. */
export interface ParsedText {
  readonly value: unknown;
  readonly place: Place;
}

/** Why a text cannot be read. Thrown by the readers; what reads the file adds its name. */
export class TextFault {
  readonly at: number;
  readonly message: string;
  constructor(at: number, message: string) {
    this.at = at;
    this.message = message;
  }
}

/** Line and column, from 1, of an offset. */
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

/** Deepest nesting that is read. Far above what any entry needs. */
export const maxDepth = 100;
/** Most values that a file may hold, each use of a YAML alias counted anew. */
export const maxValues = 200_000;
