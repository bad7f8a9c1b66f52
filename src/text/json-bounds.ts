/**
 * How much there may be in JSON from outside, counted in its text before anything is built from it.
 */

/** Bounds of a text. */
export interface JsonBounds {
  /** Deepest nesting of arrays and objects. */
  readonly maxDepth: number;
  /**
   * Most values. An empty array or object counts as two. A member whose key the text has not had
   * before counts as five, since engines take about that long to make one.
   */
  readonly maxValues: number;
}

/** What a text has too much of. */
export type JsonExcess = 'depth' | 'values';

/** What a member with a new key counts beside its value. */
const newKey = 4;

/**
 * What the text has too much of; undefined where it is within the bounds, or is no JSON. Stops
 * where a bound is passed.
 */
export function excessOf(text: string, bounds: JsonBounds): JsonExcess | undefined {
  return createJsonCount(bounds)(text);
}

/**
 * Counts a text that comes in pieces, none of which begins or ends within a string: each call takes
 * the next piece, and answers as {@link excessOf} does.
 */
export function createJsonCount({
  maxDepth,
  maxValues,
}: JsonBounds): (piece: string) => JsonExcess | undefined {
  const keys = new Set<string>();
  let depth = 0;
  // Each comma comes with one more value, and each bracket with the array or object itself.
  let values = 1;
  // The last string of the pieces before: its colon may stand in the next.
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

/** Where the quote is that ends a string; the end of the text where there is none. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    // Two of them are one in the string; one that is left over makes the quote part of it.
    if ((at - slashes) % 2 === 0) return at;
  }
  return text.length;
}
