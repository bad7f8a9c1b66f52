/** Four eyes: whoever a session acts for does not answer for themselves. */

/**
 * Whether an answer is the principal's own. One without a name counts as theirs, and so does one
 * whose name only looks different to a program: in case, in spaces, in how it is encoded, or by
 * characters that no one sees.
 */
export function isOwnAnswer(principal: string | undefined, by: string | undefined): boolean {
  const name = plain(by);
  return name === '' || (principal !== undefined && name === plain(principal));
}

/** Whether a name has anything that can be seen. */
export function isNamed(by: string | undefined): boolean {
  return plain(by) !== '';
}

/** Upper case first: it has the same letters for what lower case keeps apart, such as ß and ss. */
function plain(name: string | undefined): string {
  return (name ?? '')
    .normalize('NFKC')
    .replace(unseen, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .trim();
}

/**
 * Control, format and ignorable characters, white space in any number, and the empty Braille cell.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\s\u2800]/gu;

/** Why such an answer is refused, in words for the model and for people. */
export const fourEyesMessage =
  'someone other than the person for whom the session acts must answer, and say who they are.';
