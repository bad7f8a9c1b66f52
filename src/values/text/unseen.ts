/** Characters that people cannot see, or that hide others. */

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
