/** The origins of a call's values as people and events are shown them. */
import type { JudgedOrigin } from '../origins/origin.ts';
import { originSentence } from '../origins/words.ts';
import { redacted } from '../redaction/spellings.ts';

/** Most values that a question lists, and most that it says a sentence about. */
const mostListed = 100;
const mostSentences = 10;

/** Whether a place is in one of the fields with these JSON pointers. */
export function isHiddenPlace(path: string, pointers: readonly string[]): boolean {
  return pointers.some((pointer) => {
    if (pointer === '') return true;
    const field = pointer
      .slice(1)
      .split('/')
      .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
      .join('.');
    return path === field || path.startsWith(`${field}.`);
  });
}

/**
 * The judged values without those of hidden fields. Where there are too many, those that are neither
 * the user's nor trusted come first.
 */
export function reportedOrigins(
  judged: readonly JudgedOrigin[],
  hidden: readonly string[],
): readonly JudgedOrigin[] {
  const listed =
    judged.length <= mostListed
      ? judged
      : [...judged.filter(isForeign), ...judged.filter((one) => !isForeign(one))].slice(
          0,
          mostListed,
        );
  if (hidden.length === 0) return listed;
  return listed.map((one) => (isHiddenPlace(one.path, hidden) ? { ...one, value: redacted } : one));
}

function isForeign({ origin }: JudgedOrigin): boolean {
  return origin === 'untrusted' || origin === 'unknown';
}

/**
 * One sentence for each value that neither the user nor trusted data gave; undefined if there is
 * none.
 * @param holdsSecret whether a text contains a secret of the call, which no prompt may contain
 */
export function originWords(
  reported: readonly JudgedOrigin[],
  holdsSecret: (text: string) => boolean,
): string | undefined {
  const foreign = reported.filter(isForeign);
  if (foreign.length === 0) return undefined;
  const lines = foreign.slice(0, mostSentences).map((one) => {
    const sentence = originSentence(one);
    return holdsSecret(sentence) ? originSentence({ ...one, value: redacted }) : sentence;
  });
  if (foreign.length > mostSentences)
    lines.push(`The same holds for ${foreign.length - mostSentences} further values.`);
  return lines.join('\n');
}
