/** Texts and code points: cutting between them, and halves of them. */

/** At most the first `length` characters. */
export function head(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** At most the last `length` characters. */
export function tail(text: string, length: number): string {
  const start = text.length - length;
  const code = text.charCodeAt(start);
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start);
}

/** The text with a replacement character in the place of each half of a character. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
