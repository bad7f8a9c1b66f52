/** Describes where a value came from, for a person who is asked about a call. */

import type { JudgedOrigin, SeenAt } from '../../api/origins.ts';
import { shortened } from '../../values/text/characters.ts';

/** Longer values are cut in a sentence. The request shows them as a whole elsewhere. */
const longestValue = 100;

/**
 * A sentence about one value: "`recipient` US133… was first seen in the output of `read_file` (call
 * 3), not in anything the user wrote."
 */
export function originSentence(judged: JudgedOrigin): string {
  const { path, value, role, origin } = judged;
  const what =
    role === 'content'
      ? `${quoted(path)} contains ${shownValue(value)}, which`
      : `${path === '' ? 'The input' : quoted(path)} ${shownValue(value)}`;
  return `${what} ${predicate(judged, origin)}`;
}

function predicate(
  { seen, approvedBy, within }: JudgedOrigin,
  origin: JudgedOrigin['origin'],
): string {
  if (within !== undefined)
    return (
      `is in ${shownValue(within)}, which ` +
      `${origin === 'user' ? 'the user named' : 'is trusted'}.`
    );
  switch (origin) {
    case 'user':
      return approvedBy === undefined
        ? 'was written by the user.'
        : `was approved by ${shown(approvedBy)} earlier in this session.`;
    case 'trusted':
      return seen === undefined
        ? 'is known to the application.'
        : `was first seen in ${outputOf(seen)}, which is trusted.`;
    case 'untrusted':
      return seen === undefined
        ? 'may be in an untrusted output, and is not in anything the user wrote.'
        : `was first seen in ${outputOf(seen)}, not in anything the user wrote.`;
    default:
      return 'was seen nowhere: neither in anything the user wrote nor in any output.';
  }
}

function outputOf({ callId, toolName }: SeenAt): string {
  return `the output of ${quoted(toolName)} (call ${shownValue(callId)})`;
}

function quoted(name: string): string {
  return `\`${shown(name).replaceAll('`', "'")}\``;
}

/**
 * A value with spaces is put in quotes, so that its words are not read as words of the sentence.
 */
function shownValue(value: unknown): string {
  const text = shown(value);
  return /\s/.test(text) ? `"${text.replaceAll('"', "'")}"` : text;
}

/** On one line, not too long, and without control or invisible characters. */
function shown(value: unknown): string {
  const text = String(value);
  const seen = cut(text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    (char) => `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
  );
  // Escapes are longer than the characters that they represent, and must not displace other
  // sentences.
  return cut(seen);
}

function cut(text: string): string {
  return text.length > longestValue ? `${shortened(text, longestValue - 1)}…` : text;
}
