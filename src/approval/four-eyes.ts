/** Four eyes: whoever a session acts for does not answer for themselves. */

/**
 * Whether an answer is the principal's own. One without a name counts as theirs, and so does one
 * whose name differs only in case, in the spaces around it or in how it is encoded.
 */
export function isOwnAnswer(principal: string | undefined, by: string | undefined): boolean {
  const name = plain(by);
  return name === '' || (principal !== undefined && name === plain(principal));
}

function plain(name: string | undefined): string {
  return (name ?? '').normalize('NFKC').trim().toLowerCase();
}

/** Why such an answer is refused, in words for the model and for people. */
export const fourEyesMessage =
  'someone other than the person for whom the session acts must answer, and say who they are.';
