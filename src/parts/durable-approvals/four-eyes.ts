/** Four eyes: the principal of a session cannot answer its own approvals. */

/**
 * Whether an answer is the principal's own. An answer without a name counts as the principal's. So
 * does one whose name differs only for a program: in case, spaces, encoding, or invisible
 * characters.
 */
export function isOwnAnswer(principal: string | undefined, by: string | undefined): boolean {
  const name = plain(by);
  return name === '' || (principal !== undefined && name === plain(principal));
}

/** Whether a name has any visible character. */
export function isNamed(by: string | undefined): boolean {
  return plain(by) !== '';
}

/** Upper case first, because it unites letters that lower case keeps apart, such as ß and ss. */
function plain(name: string | undefined): string {
  return (name ?? '')
    .normalize('NFKC')
    .replace(unseen, '')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .trim();
}

/** Control, format and ignorable characters, all white space, and the empty Braille cell. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\s\u2800]/gu;

/** Why such an answer is refused, as a text for the model and for people. */
export const fourEyesMessage =
  'someone other than the person for whom the session acts must answer, and say who they are.';
