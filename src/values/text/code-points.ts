/** Texts and code points: cutting between them, and lone surrogates. */

/** At most the first `length` characters. */
export function head(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** At most the last `length` characters. */
export function tail(text: string, length: number): string {
  const start = Math.max(0, text.length - length);
  const code = text.charCodeAt(start);
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start);
}

/** The index, or the one before it if it lies between the halves of a surrogate pair. */
export function between(text: string, at: number): number {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  const isWithin = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return isWithin ? at - 1 : at;
}

/** The text with a replacement character instead of each lone surrogate. */
export function wellFormed(text: string): string {
  return text.toWellFormed();
}
