/** Tells the host's words in the message of a request from the sentences about origins. */
import type { ApprovalRequest } from './request.ts';

/** The message of a request, and where its values came from, a sentence in each line. */
export interface ToldOrigins {
  readonly message: string | undefined;
  readonly origins: readonly string[];
}

/** How many sentences a message has at most. A line about further values comes after them. */
const mostSentences = 10;

/**
 * The sentences are the last lines of the message, one for each value that is `untrusted` or
 * `unknown`. A surface that puts a text on one line shows them apart: a message that contains words
 * of a model could otherwise imitate them, and a long one would push them out of sight.
 */
export function toldOrigins({ message, origins = [] }: ApprovalRequest): ToldOrigins {
  const foreign = origins.filter(
    ({ origin }) => origin === 'untrusted' || origin === 'unknown',
  ).length;
  if (message === undefined || foreign === 0) return { message, origins: [] };
  const lines = message.split('\n');
  const start = lines.length - (foreign > mostSentences ? mostSentences + 1 : foreign);
  // A host may make a request of its own, for a test.
  if (start < 0) return { message, origins: [] };
  return {
    message: start === 0 ? undefined : lines.slice(0, start).join('\n'),
    origins: lines.slice(start),
  };
}
