/**
 * Reads JSON text with the places of its values. `JSON.parse` reads the value. A walk over the text
 * finds the places and refuses duplicate keys.
 */
import { shortened } from './issues.ts';
import { maxDepth, maxValues, type ParsedText, type Place, TextFault } from './places.ts';

/** Reads a JSON text. @throws TextFault */
export function readJson(text: string): ParsedText {
  // Some editors start a file with a byte order mark, which JSON does not allow.
  const source = text.startsWith('\uFEFF') ? ` ${text.slice(1)}` : text;
  // The walk comes first, because it is bounded and its faults have a place.
  const place = new Walk(source).whole();
  try {
    return { value: JSON.parse(source) as unknown, place };
  } catch (error) {
    throw new TextFault(0, error instanceof Error ? error.message : 'not JSON');
  }
}

class Walk {
  readonly #text: string;
  readonly #scalar = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Place {
    this.#space();
    const place = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the file');
    return place;
  }

  #value(depth: number, at?: number): Place {
    const start = at ?? this.#at;
    if (++this.#values > maxValues) throw new TextFault(start, `more than ${maxValues} values`);
    const char = this.#text[this.#at];
    if (char === '{' || char === '[') {
      if (depth >= maxDepth) throw new TextFault(this.#at, `nested deeper than ${maxDepth} levels`);
      return { at: start, inside: char === '{' ? this.#object(depth) : this.#array(depth) };
    }
    if (char === '"') this.#string();
    else this.#plain();
    return { at: start };
  }

  #object(depth: number): ReadonlyMap<string, Place> {
    const members = new Map<string, Place>();
    this.#at++;
    this.#space();
    if (this.#take('}')) return members;
    for (;;) {
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#unexpected('a key in double quotes');
      const key = this.#string();
      if (members.has(key))
        throw new TextFault(at, `the key ${JSON.stringify(shortened(key))} is given twice`);
      this.#space();
      if (!this.#take(':')) throw this.#unexpected('`:`');
      this.#space();
      members.set(key, this.#value(depth + 1, at));
      this.#space();
      if (this.#take('}')) return members;
      if (!this.#take(',')) throw this.#unexpected('`,` or `}`');
      this.#space();
    }
  }

  #array(depth: number): ReadonlyMap<number, Place> {
    const items = new Map<number, Place>();
    this.#at++;
    this.#space();
    if (this.#take(']')) return items;
    for (;;) {
      items.set(items.size, this.#value(depth + 1));
      this.#space();
      if (this.#take(']')) return items;
      if (!this.#take(',')) throw this.#unexpected('`,` or `]`');
      this.#space();
    }
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return;
      this.#at++;
    }
  }

  #plain(): void {
    this.#scalar.lastIndex = this.#at;
    const found = this.#scalar.exec(this.#text);
    if (found === null) throw this.#unexpected('a value');
    // A number that is too large is read as Infinity, which JSON cannot represent.
    if (Math.abs(Number(found[0])) === Number.POSITIVE_INFINITY)
      throw new TextFault(this.#at, `${shortened(found[0])} is too large for a number`);
    this.#at += found[0].length;
  }

  /** Reads a string by hand, because the stack that a pattern needs grows with the string. */
  #string(): string {
    const start = this.#at;
    for (let at = start + 1; ; at++) {
      const char = this.#text[at];
      if (char === '\\') at++;
      else if (char === '"' || char === undefined || char < ' ') {
        this.#at = at;
        if (char !== '"') throw this.#unexpected('the end of a string');
        this.#at++;
        return this.#decoded(start);
      }
    }
  }

  #decoded(start: number): string {
    try {
      return JSON.parse(this.#text.slice(start, this.#at)) as string;
    } catch (error) {
      throw new TextFault(
        start,
        error instanceof Error ? `not a JSON string: ${error.message}` : 'not a JSON string',
      );
    }
  }

  #unexpected(expected: string): TextFault {
    const char = this.#text[this.#at];
    return new TextFault(
      this.#at,
      `expected ${expected}, got ` +
        `${char === undefined ? 'the end of the file' : JSON.stringify(char)}`,
    );
  }
}
