/** Separates the host's words in the message of a request from the sentences about origins. */

/** The message of a request, followed by the origins of its values, one sentence per line. */
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
