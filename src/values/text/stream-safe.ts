/** Normalising in linear time. */

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
