/** The words of a question to a person. */

/** The host's words in the message of a request, and the sentences about origins after them. */
export interface ToldOrigins {
  readonly message: string | undefined;
  readonly origins: readonly string[];
}

/** Most sentences of a message. A line about further values comes after them. */
const maxSentences = 10;

/**
 * The sentences are the last lines of the message, one for each value that is `untrusted` or
 * `unknown`. A surface that shows a text on one line must show them separately. Otherwise a message
 * with a model's words could imitate them, and a long message could push them out of sight.
 */
export function shownOrigins({
  message,
  origins = [],
}: {
  readonly message?: string | undefined;
  readonly origins?: readonly { readonly origin: string }[] | undefined;
}): ToldOrigins {
  const foreign = origins.filter(
    ({ origin }) => origin === 'untrusted' || origin === 'unknown',
  ).length;
  if (message === undefined || foreign === 0) return { message, origins: [] };
  const lines = message.split('\n');
  const start = lines.length - (foreign > maxSentences ? maxSentences + 1 : foreign);
  // A host may make its own request, for a test.
  if (start < 0) return { message, origins: [] };
  return {
    message: start === 0 ? undefined : lines.slice(0, start).join('\n'),
    origins: lines.slice(start),
  };
}

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
