/**
 * Compares a value with a remembered text at one place, and decides whether it is a separate word
 * there.
 */
import {
  classOf,
  currencySigns,
  ideograph,
  isDigit,
  isSpace,
  letter,
  type Steps,
  separator,
} from './text.ts';

/** One spelling of a value, and how it is compared. */
export interface Spelling {
  /** In normal form, with single spaces. */
  readonly text: string;
  /**
   * `url`: a scheme, `www.` or `./` may precede it. `digits`: spaces and dashes between its
   * characters are ignored. `spread`: like `digits`, and so are other signs and more spaces.
   * `date`: a time may follow. `host`: like `url`, and a path may follow.
   */
  readonly kind: 'plain' | 'url' | 'digits' | 'spread' | 'date' | 'host';
}

/** A range of a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of a text where a spelling occurs as a whole word; undefined if it does not.
 * @param place where the text has the atom of the spelling that begins at `anchor`
 */
export function matchAt(
  text: string,
  place: number,
  spelling: Spelling,
  anchor: number,
  steps: Steps,
): Range | undefined {
  const value = spelling.text;
  let start = backward(text, place, value, anchor, steps);
  if (start === -1) return undefined;
  const { kind } = spelling;
  const end =
    kind === 'digits' || kind === 'spread'
      ? digitsFrom(text, place, value, kind === 'digits' ? usual : wide, steps)
      : forward(text, place, value, anchor, steps);
  if (end === -1) return undefined;
  if (kind === 'url' || kind === 'host') start = beforeAddress(text, start);
  if (!beginsWord(text, start) || !endsWord(text, end, kind)) return undefined;
  return { start, end };
}

/**
 * Where the part of the value before `anchor` begins in the text; -1 if the text is different
 * there.
 */
function backward(
  text: string,
  place: number,
  value: string,
  anchor: number,
  steps: Steps,
): number {
  let at = place;
  for (let index = anchor - 1; index >= 0; index--) {
    steps.left--;
    if (value[index] === ' ') {
      if (at === 0 || !isSpace(text.charCodeAt(at - 1))) return -1;
      while (at > 0 && isSpace(text.charCodeAt(at - 1))) {
        at--;
        steps.left--;
      }
    } else if (at === 0 || text[--at] !== value[index]) return -1;
  }
  return at;
}

function forward(text: string, place: number, value: string, anchor: number, steps: Steps): number {
  let at = place;
  for (let index = anchor; index < value.length; index++) {
    steps.left--;
    if (value[index] === ' ') {
      if (!isSpace(text.charCodeAt(at))) return -1;
      while (isSpace(text.charCodeAt(at))) {
        at++;
        steps.left--;
      }
    } else if (text[at++] !== value[index]) return -1;
  }
  return at;
}

/** What may be between two groups of a number, as in `(555) 010`, and most characters of it. */
interface Gap {
  readonly chars: string;
  readonly most: number;
}
const usual: Gap = { chars: ' -()\u2010', most: 2 };
const wide: Gap = { chars: ` -()\u2010\t\n\v\f\r\u2028\u2029\u00b7./_:'`, most: 16 };

function digitsFrom(
  text: string,
  place: number,
  value: string,
  { chars, most }: Gap,
  steps: Steps,
): number {
  let at = place;
  let gap = 0;
  for (let index = 0; index < value.length; ) {
    const char = text[at];
    steps.left--;
    if (char === value[index]) {
      index++;
      gap = 0;
    } else if (char === undefined || !chars.includes(char) || ++gap > most) return -1;
    at++;
  }
  return at;
}

/** What may precede an address without changing it. */
const beforeAddresses = ['https://www.', 'http://www.', 'https://', 'http://', 'www.', './'];

function beforeAddress(text: string, start: number): number {
  for (const lead of beforeAddresses)
    if (text.startsWith(lead, start - lead.length)) return start - lead.length;
  return start;
}

/** Signs that join words into one: `a.b` is not `b`. At the edge of a word, they join nothing. */
const joining = new Set(`.@-_/\\+%&=#~?:$${currencySigns}`);
/** Signs that belong to the word after them: `/etc` is not `etc`. */
const leading = new Set('/\\~.=');
/** Longest run of joining signs at the edge of a word. */
const longestEdge = 4;

/** Whether a word may begin here, since nothing before it belongs to it. */
function beginsWord(text: string, start: number): boolean {
  if (start === 0) return true;
  const first = text.charCodeAt(start);
  const before = text.charCodeAt(start - 1);
  const kind = classOf(before);
  if (kind === ideograph || classOf(first) === ideograph) return true;
  if (kind === letter) return false;
  const sign = text[start - 1] as string;
  if (sign === ',') return !isGrouping(text, start - 1);
  if (!joining.has(sign)) return true;
  if (leading.has(sign)) return false;
  if (sign === ':') return !(isDigit(first) && isDigit(text.charCodeAt(start - 2)));
  if (sign === '-' && isDigit(first)) return false;
  let at = start - 1;
  while (at > 0 && start - at < longestEdge && joining.has(text[at - 1] as string)) at--;
  return at === 0 || isSeparate(text, at - 1);
}

/** Whether a word may end here, since nothing after it belongs to it. */
function endsWord(text: string, end: number, kind: Spelling['kind']): boolean {
  if (end >= text.length) return true;
  const after = text.charCodeAt(end);
  const last = text.charCodeAt(end - 1);
  const cls = classOf(after);
  if (cls === ideograph || classOf(last) === ideograph) return true;
  if (cls === letter)
    return kind === 'date' && text[end] === 't' && isDigit(text.charCodeAt(end + 1));
  const sign = text[end] as string;
  if (kind === 'host' && '/?#'.includes(sign)) return true;
  if (sign === ',') return !isGrouping(text, end);
  if (!joining.has(sign)) return true;
  if (sign === ':') {
    const next = text[end + 1] ?? ' ';
    if (!isDigit(next.charCodeAt(0)) && next !== '/' && next !== '\\') return true;
  }
  let at = end + 1;
  while (at - end < longestEdge && joining.has(text[at] ?? '')) at++;
  return at >= text.length || isSeparate(text, at);
}

/** Whether the character is space, or punctuation that joins nothing. */
function isSeparate(text: string, at: number): boolean {
  const kind = classOf(text.charCodeAt(at));
  return kind === ideograph || (kind === separator && !joining.has(text[at] as string));
}

/** Whether the comma groups the digits of one number, as in `1,000`. */
function isGrouping(text: string, comma: number): boolean {
  if (!isDigit(text.charCodeAt(comma - 1))) return false;
  for (let at = comma + 1; at <= comma + 3; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return !isDigit(text.charCodeAt(comma + 4));
}
