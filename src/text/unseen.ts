/** Characters that people cannot see, or that hide others. */

// Outside strings, the only such characters in JSON are the line breaks of its indentation.
// More than ten marks on a letter would be drawn over the lines around it.
const unseen =
  /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{10})\p{M}/gu;

/**
 * Replaces each character that is invisible, that changes the direction of text, or that is drawn
 * over other lines, with an escape such as `\u202e`. Line feeds stay. If the text is JSON, parsing
 * gives the same value.
 */
export function escapeUnseen(text: string): string {
  return text.replace(unseen, (char) =>
    Array.from(
      { length: char.length },
      (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
