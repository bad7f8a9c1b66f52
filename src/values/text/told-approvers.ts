/** Who may answer a question, in words. */

interface ToldApprovers {
  readonly any: readonly string[];
  readonly count?: number | undefined;
  readonly notPrincipal?: true | undefined;
}

/** Such as `2 of role:manager or ann, but not the one who asks; and role:finance`. */
export function toldApprovers(all: readonly ToldApprovers[]): string {
  return all
    .map(
      ({ any, count = 1, notPrincipal }) =>
        (count === 1 ? '' : `${count} of `) +
        any.join(' or ') +
        (notPrincipal === true ? ', but not the one who asks' : ''),
    )
    .join('; and ');
}
