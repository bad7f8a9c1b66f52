/** Compares texts by what they look like. */

import { joiner, streamSafe } from './characters.ts';
import { derived, explicit } from './confusables.ts';
import { latinLetter } from './look-alikes.ts';

/**
 * Three readings of a text. Two texts are alike if one of the readings is the same for both. All
 * of them are without white space and without characters that no one sees.
 *
 * - The skeleton of the text as it is written, in small letters: `g00gle` is `google`.
 * - The skeleton after full case folding: `RNICROSOFT` is `MICROSOFT`, because `rn` looks like `m`.
 * - The same after letters of other scripts have been replaced by the Latin letters that they look
 *   like: a Greek capital tau looks like `T`, but a small one does not look like `t`.
 */
export function looksOf(text: string): readonly string[] {
  const plain = decomposed(seen(text));
  const small = folded(plain);
  const latin = folded(Array.from(plain, latinLookOf).join(''));
  const smallLooks = looks(small);
  return [looks(plain), smallLooks, latin === small ? smallLooks : looks(latin)];
}

function looks(plain: string): string {
  return seen(decomposed(folded(skeletonOf(plain)))).replace(softDots, '');
}

/** An `i` and a `j` have a dot of their own. */
const softDots = /(?<=[ij])\u0307/g;

/** White space, and characters that no one sees. */
const unseen = /[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/gu;

/** The text without white space and without characters that no one sees. */
export function seen(text: string): string {
  return text.replace(unseen, '');
}

function decomposed(text: string): string {
  return streamSafe(text).normalize('NFD').replaceAll(joiner, '');
}

/**
 * Full case folding, by way of capitals, because ß is SS. A Cherokee letter is folded to its
 * capital, and a final sigma to sigma.
 */
function folded(text: string): string {
  const small = text.toLowerCase().toUpperCase().toLowerCase();
  return small
    .replaceAll('ς', 'σ')
    .replace(/[\u13f8-\u13fd\uab70-\uabbf]/g, (char) => char.toUpperCase());
}

/** What a text in NFD looks like, by Unicode Technical Standard #39. */
function skeletonOf(text: string): string {
  return Array.from(text, lookOf).join('');
}

/** What a character looks like. Filled on first use, and then with what is looked up. */
const known = new Map<string, string>();

function lookOf(char: string): string {
  if (known.size === 0) readTable();
  const own = known.get(char);
  if (own !== undefined) return own;
  const code = char.codePointAt(0) as number;
  if (code < 128 || !isDerived(code)) return char;
  const look = Array.from(char.normalize('NFKD'), (part) => known.get(part) ?? part).join('');
  known.set(char, look);
  return look;
}

function readTable(): void {
  let code = 0;
  for (const entry of explicit.split(' ')) {
    const [distance = '', target = ''] = entry.split(':');
    code += Number.parseInt(distance, 36);
    known.set(
      String.fromCodePoint(code),
      String.fromCodePoint(...target.split('.').map(fromBase36)),
    );
  }
  for (const range of derived.split(' ')) {
    const [first = 0, last = 0] = range.split('-').map(fromBase36);
    ranges.push([first, last]);
  }
}

function fromBase36(text: string): number {
  return Number.parseInt(text, 36);
}

const ranges: (readonly [first: number, last: number])[] = [];

function isDerived(code: number): boolean {
  return ranges.some(([first, last]) => code >= first && code <= last);
}

/** The Latin letter or letters that a character of another script looks like, or the character. */
function latinLookOf(char: string): string {
  if (char.charCodeAt(0) < 128) return char;
  const letter = latinLetter(char.normalize('NFKD'));
  if (letter !== undefined) return letter;
  const look = lookOf(char);
  return /^[a-z]+$/i.test(look) ? look : char;
}
