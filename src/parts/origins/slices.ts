/**
 * Long texts are processed in slices, so that the process can do other work in between. Indexing a
 * text of several megabytes would block a server for too long.
 */
import { compatible, isAscii } from './text.ts';

/** Work that is done slice by slice. Each step returns its cost, in characters of ASCII. */
export type Slices<T = void> = Generator<number, T, void>;

/** Characters of one slice: about two milliseconds. */
const sliceChars = 131_072;
/** How far back a good place for a cut is searched, and then how far ahead. */
const lookBack = 4_096;
const lookAhead = 3 * sliceChars;
/** Characters beyond ASCII cost several times as much. */
const wideCost = 4;

/** Does all remaining work. */
export function finish<T>(slices: Slices<T>): T {
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

/** Changes a text slice by slice. */
export function* folded(text: string, fold: (piece: string) => string): Slices<string> {
  let form = '';
  for (let from = 0; from < text.length; ) {
    const to = sliceEnd(text, from);
    const piece = fold(text.slice(from, to));
    form += piece;
    from = to;
    yield costOf(piece);
  }
  return form;
}

/** The cost of processing a text. */
function costOf(text: string): number {
  return isAscii(text) ? text.length : text.length * wideCost;
}

/**
 * Where a slice ends. It ends before white space if there is some, because no word and no letter
 * with its marks crosses it. Only a text without white space is cut at other signs, or inside a
 * word.
 */
export function sliceEnd(text: string, from: number): number {
  const most = from + sliceChars;
  if (most >= text.length) return text.length;
  for (const isGood of [isBlank, isSign, isLetter])
    for (let at = most; at > most - lookBack; at--) if (isGood(text.charCodeAt(at))) return at;
  const last = Math.min(most + lookAhead, text.length);
  let at = most;
  while (at < last && !isApart(text, at)) at++;
  return at;
}

/** Whether both sides of a place have the same normal form as the text that they are a part of. */
function isApart(text: string, at: number): boolean {
  if (/[\p{M}\udc00-\udfff]/u.test(text[at] as string)) return false;
  const [before, after] = [text.slice(at - 8, at), text.slice(at, at + 8)];
  return compatible(before + after) === compatible(before) + compatible(after);
}

function isBlank(code: number): boolean {
  return code <= 32;
}

function isSign(code: number): boolean {
  return code < 128 && !/[a-z0-9]/i.test(String.fromCharCode(code));
}

/**
 * A letter that does not combine with the one before it: an ASCII, Chinese, Japanese or Korean one.
 */
function isLetter(code: number): boolean {
  return (
    code < 128 ||
    (code >= 0x3041 && code <= 0x3096) ||
    (code >= 0x3400 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7a3)
  );
}
