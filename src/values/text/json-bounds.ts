/**
 * Bounds JSON from outside by counting in its text, before anything is parsed.
 */

/** Bounds of a text. */
export interface JsonBounds {
  /** The deepest nesting of arrays and objects. */
  readonly maxDepth: number;
  /**
   * The most values. An empty array or object counts as two. A member with a key that did not occur
   * before counts as five, since engines take about that long to create one.
   */
  readonly maxValues: number;
}

/** What a text contains too much of. */
export type JsonExcess = 'depth' | 'values';

/** How much a member with a new key counts in addition to its value. */
const newKey = 4;

/**
 * What the text contains too much of; undefined if it is within the bounds or is not JSON. Stops as
 * soon as a bound is exceeded.
 */
export function excessOf(text: string, bounds: JsonBounds): JsonExcess | undefined {
  // A level takes a character, and so does a value but for the first one and an empty key.
  const { length } = text;
  if (length <= bounds.maxDepth && length + 1 + newKey <= bounds.maxValues) return undefined;
  return createJsonCount(bounds)(text);
}

/**
 * Counts a text that arrives in pieces, none of which begins or ends inside a string. Each call
 * takes the next piece and answers as {@link excessOf} does.
 */
export function createJsonCount({
  maxDepth,
  maxValues,
}: JsonBounds): (piece: string) => JsonExcess | undefined {
  const keys = new Set<string>();
  let depth = 0;
  // Each comma adds a value, and each opening bracket adds the array or object itself.
  let values = 1;
  // The last string of the previous pieces: its colon may be in the next piece.
  let before = '';
  return (text) => {
    let start = -1;
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      switch (text.charCodeAt(at)) {
        case 0x22: // "
          start = at + 1;
          end = endOfString(text, start);
          at = end;
          break;
        case 0x3a: {
          // A colon follows a key.
          const key = start < 0 ? before : text.slice(start, end);
          if (!keys.has(key)) {
            keys.add(key);
            values += newKey;
          }
          break;
        }
        case 0x2c: // ,
          values++;
          break;
        case 0x5b: // [
        case 0x7b: // {
          values++;
          if (++depth > maxDepth) return 'depth';
          break;
        case 0x5d: // ]
        case 0x7d: // }
          depth--;
          break;
      }
      if (values > maxValues) return 'values';
    }
    if (start >= 0) before = text.slice(start, end);
    return undefined;
  };
}

/** The index of the quote that ends a string; the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    // An even number of backslashes escape each other; an odd one escapes the quote.
    if ((at - slashes) % 2 === 0) return at;
  }
  return text.length;
}
