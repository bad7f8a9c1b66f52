/** Characters and code points of texts. */

// Texts and code points: cutting between them, and lone surrogates.

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

// Shortening texts.

/** A copy that shares no memory: engines let a slice keep the whole text it was cut from alive. */
export function detached(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** At most the first `maxChars` characters of a text that may be very long. */
export function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : detached(text.slice(0, maxChars));
}

// Characters that people cannot see, or that hide others.

/**
 * Matches these characters, but not line feeds, since indented JSON has them outside strings. More
 * than ten marks on a letter would be drawn over the lines around it.
 */
export const unseen =
  /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{10})\p{M}/gu;

/**
 * Replaces each character that is invisible, that changes the direction of text, or that is drawn
 * over other lines, with an escape such as `\u202e`. Line feeds stay. If the text is JSON, parsing
 * gives the same value.
 */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, (char) => escapes(char));
}

/**
 * Escapes a character. One outside the basic plane has two escapes.
 * @param start what each of them begins with
 */
export function escapes(char: string, start = '\\u'): string {
  return Array.from(
    { length: char.length },
    (_, index) => start + char.charCodeAt(index).toString(16).padStart(4, '0'),
  ).join('');
}

// Control characters in texts for a model.

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const unwanted = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** The text without control characters other than tab, line feed and carriage return. */
export function withoutControls(text: string): string {
  return text.replaceAll(unwanted, '');
}

// Normalising in linear time.

/**
 * Normalising sorts the marks on a letter, in more than linear time. So a long run of marks is
 * split by a combining grapheme joiner, as in the Stream-Safe Text Format of UAX 15.
 */
export function streamSafe(text: string): string {
  return text.replace(longMarks, `$&${joiner}`);
}

/** The character that {@link streamSafe} inserts. No one sees it. */
export const joiner = '\u034f';
const longMarks = /\p{M}{30}(?=\p{M})/gu;
