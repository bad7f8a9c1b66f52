/** Finds words that are spelt nearly alike. */

/**
 * How many letters may differ in a word. Short words would have too many neighbours, and long ones
 * are usually data.
 */
export function differenceOf(word: string): number {
  return word.length < 4 || word.length > 24 ? 0 : word.length < 6 ? 1 : 2;
}

/**
 * The letters of a word as bits. One difference between two words changes two bits at most, so that
 * most words need not be compared.
 */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at++) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Whether two words may have at most this many differences, judged by their letters. */
export function mayBeSimilar(left: number, right: number, most: number): boolean {
  let bits = left ^ right;
  let count = 0;
  while (bits !== 0) {
    bits &= bits - 1;
    if (++count > 2 * most) return false;
  }
  return true;
}

/**
 * The letters to insert, remove or replace to make one word the other; undefined if over `most`.
 */
export function differenceBetween(left: string, right: string, most: number): number | undefined {
  if (Math.abs(left.length - right.length) > most) return undefined;
  const over = most + 1;
  // Two rows of the usual table. Only its diagonals up to `most` can hold the answer.
  let row: number[] = [];
  let next: number[] = [];
  for (let at = 0; at <= right.length; at++) row[at] = at <= most ? at : over;
  for (let at = 1; at <= left.length; at++) {
    const first = Math.max(1, at - most);
    const last = Math.min(right.length, at + most);
    next[first - 1] = first === 1 && at <= most ? at : over;
    let least = next[first - 1] as number;
    const letter = left.charCodeAt(at - 1);
    for (let other = first; other <= last; other++) {
      const replaced =
        (row[other - 1] as number) + (letter === right.charCodeAt(other - 1) ? 0 : 1);
      const removed = (row[other] as number) + 1;
      const inserted = (next[other - 1] as number) + 1;
      const value = Math.min(replaced, removed, inserted, over);
      next[other] = value;
      if (value < least) least = value;
    }
    if (least === over) return undefined;
    if (last < right.length) next[last + 1] = over;
    [row, next] = [next, row];
  }
  const difference = row[right.length] as number;
  return difference <= most ? difference : undefined;
}
