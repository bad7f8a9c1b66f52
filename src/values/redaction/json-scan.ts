/**
 * Scans JSON text without building values, so that nothing in the text is lost and depth has no
 * limit.
 */

/** Receives each piece in order, by its range in the text. */
export interface JsonPieces {
  /** An object or array begins. */
  open(isArray: boolean, start: number): void;
  /** The innermost object or array ended before `end`. */
  close(end: number): void;
  /** A key of the innermost object, quotes included. Its value follows. */
  key(start: number, end: number): void;
  /** An element of the innermost array follows. */
  element(): void;
  /** A string with its quotes, a number, `true`, `false` or `null`. */
  leaf(start: number, end: number): void;
}

/** Scans as long as the text is strict JSON (RFC 8259), and returns whether all of it is. */
export function scanJson(text: string, pieces: JsonPieces): boolean {
  /** For each open object and array, whether it is an array. */
  const open: boolean[] = [];
  let at = afterBlank(text, 0);

  /** Moves from the start of a member or element to the start of its value; -1 if it has none. */
  const enter = (): number => {
    if (open.at(-1) === true) {
      pieces.element();
      return at;
    }
    const end = text[at] === '"' ? afterString(text, at) : -1;
    if (end === -1) return -1;
    const colon = afterBlank(text, end);
    if (text[colon] !== ':') return -1;
    pieces.key(at, end);
    return afterBlank(text, colon + 1);
  };

  for (;;) {
    const first = text[at];
    if (first === '{' || first === '[') {
      const isArray = first === '[';
      pieces.open(isArray, at);
      open.push(isArray);
      at = afterBlank(text, at + 1);
      if (text[at] !== (isArray ? ']' : '}')) {
        at = enter();
        if (at === -1) return false;
        continue;
      }
    } else {
      const end = first === '"' ? afterString(text, at) : afterWord(text, at);
      if (end === -1) return false;
      pieces.leaf(at, end);
      at = afterBlank(text, end);
    }
    // A value has ended. Close every object and array that ends with it; then the next one begins.
    while (open.length > 0 && text[at] === (open.at(-1) === true ? ']' : '}')) {
      at++;
      open.pop();
      pieces.close(at);
      at = afterBlank(text, at);
    }
    if (open.length === 0) return at === text.length;
    if (text[at] !== ',') return false;
    at = afterBlank(text, at + 1);
    at = enter();
    if (at === -1) return false;
  }
}

/** The text of a string literal. */
export function readString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

function afterBlank(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) break;
  }
  return at;
}

/** The index after the string literal that begins at `start`; -1 if there is none. */
function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 34) return at + 1;
    if (unit < 32) return -1;
    if (unit !== 92) continue;
    const length = escapeLength(text, at);
    if (length === -1) return -1;
    at += length - 1;
  }
  return -1;
}

const escapes = '"\\/bfnrt';

/** The length of an escape: 2, or 6 for `\u0000`; -1 if it is invalid. */
function escapeLength(text: string, at: number): number {
  const sign = text[at + 1];
  if (sign === undefined) return -1;
  if (sign === 'u') return /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)) ? 6 : -1;
  return escapes.includes(sign) ? 2 : -1;
}

const word = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)/y;

/** The index after a number or a literal name; -1 if there is neither. */
function afterWord(text: string, start: number): number {
  word.lastIndex = start;
  return word.test(text) ? word.lastIndex : -1;
}
