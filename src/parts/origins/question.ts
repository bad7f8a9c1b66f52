/** What people who are asked about a call, and those who listen, learn of its values. */

import type { ApprovalRequest } from '../../api/approval.ts';
import type { JudgedOrigin } from '../../api/origins.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { CallNotes, QuestionPart } from '../../core/call/ports.ts';
import { redacted } from '../../values/redaction/spellings.ts';
import { shownOrigins } from '../../values/text/question-words.ts';
import { knownOrigins, originsOf } from './call-origins.ts';
import { originsTold } from './report-texts.ts';
import { ofSession } from './session-port.ts';
import { originSentence } from './words.ts';

// The origins of a call's values, as people and events see them.

/** Most values that a question lists, and most that it says a sentence about. */
const maxListed = 100;
const maxSentences = 10;

/** Whether a place is in one of the fields with these JSON pointers. */
function isHiddenPlace(path: string, pointers: readonly string[]): boolean {
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
 * The judged values without those of hidden fields. If there are too many, untrusted values come
 * first, and then unknown ones. Otherwise a model could hide one planted value behind many that it
 * made up.
 */
function reportedOrigins(
  judged: readonly JudgedOrigin[],
  hidden: readonly string[],
): readonly JudgedOrigin[] {
  const listed =
    judged.length <= maxListed
      ? judged
      : [
          ...judged.filter(isUntrusted),
          ...judged.filter((one) => isForeign(one) && !isUntrusted(one)),
          ...judged.filter((one) => !isForeign(one)),
        ].slice(0, maxListed);
  if (hidden.length === 0) return listed;
  return listed.map((one) => (isHiddenPlace(one.path, hidden) ? { ...one, value: redacted } : one));
}

function isForeign({ origin }: JudgedOrigin): boolean {
  return origin === 'untrusted' || origin === 'unknown';
}

function isUntrusted({ origin }: JudgedOrigin): boolean {
  return origin === 'untrusted';
}

/**
 * One sentence for each value that came neither from the user nor from trusted data; undefined if
 * there is none. Untrusted values come first, since a surface may cut a long text.
 * @param judged all values, of which only some are reported
 * @param holdsSecret whether a text contains a secret of the call, which no prompt may contain
 */
function originWords(
  reported: readonly JudgedOrigin[],
  judged: readonly JudgedOrigin[],
  holdsSecret: (text: string) => boolean,
): string | undefined {
  const foreign = foreignFirst(reported);
  if (foreign.length === 0) return undefined;
  const lines = foreign.slice(0, maxSentences).map((one) => sentenceOf(one, holdsSecret));
  const further = judged.filter(isForeign).length - lines.length;
  if (further > 0) lines.push(furtherWords(further));
  return lines.join('\n');
}

/**
 * The message of a request, as events carry it. Events hide more than the approver does. The
 * sentences are made again, because a secret would not be recognised in a value that is cut and
 * escaped.
 * @param reported the values of the request, without those that events hide
 */
function announcedMessage(
  request: ApprovalRequest,
  reported: readonly JudgedOrigin[],
  holdsSecret: (text: string) => boolean,
): string | undefined {
  const { message, origins } = shownOrigins(request);
  const foreign = foreignFirst(reported);
  const lines = origins.map((line, index) => {
    const one = index < maxSentences ? foreign[index] : undefined;
    return one === undefined ? line : sentenceOf(one, holdsSecret);
  });
  if (lines.length === 0) return message;
  return message === undefined ? lines.join('\n') : `${message}\n${lines.join('\n')}`;
}

function sentenceOf(one: JudgedOrigin, holdsSecret: (text: string) => boolean): string {
  const sentence = originSentence(one);
  if (!holdsSecret(sentence) && !holdsSecret(String(one.value)) && !holdsSecret(one.path))
    return sentence;
  const path = holdsSecret(one.path) ? redacted : one.path;
  return originSentence({ ...one, path, value: redacted });
}

/** Untrusted values first, then unknown ones. */
function foreignFirst(reported: readonly JudgedOrigin[]): JudgedOrigin[] {
  const foreign = reported.filter(isForeign);
  return [...foreign.filter(isUntrusted), ...foreign.filter((one) => !isUntrusted(one))];
}

function furtherWords(count: number): string {
  return count === 1
    ? 'One further value was given neither by the user nor by a trusted output.'
    : `${count} further values were given neither by the user nor by a trusted output.`;
}

export const question: QuestionPart = {
  ask(call, hidden, isSecret) {
    const judged = originsOf(call)?.judged() ?? [];
    if (judged.length === 0) return undefined;
    const origins = reportedOrigins(judged, hidden);
    return { members: { origins }, lines: originWords(origins, judged, isSecret) };
  },
  announce(request, hidden, isSecret) {
    if (request.origins === undefined) return undefined;
    const origins = reportedOrigins(request.origins, hidden);
    return { members: { origins }, message: announcedMessage(request, origins, isSecret) };
  },
  allowed: confirm,
};

export const notes: CallNotes = {
  settle: (call) => knownOrigins(call)?.completeForTelling(),
  of(call) {
    const origins = originsTold(call);
    return origins === undefined ? undefined : { origins };
  },
};

/**
 * Once a person has approved a call, each target that the person saw is known in this session.
 * Called when the input is final.
 */
function confirm(call: FoundCall, by: string): void {
  const origins = originsOf(call);
  if (origins === undefined) return;
  const { session } = call;
  const { masking } = session.registry.ports.calls;
  const hidden = masking === undefined ? [] : masking.forApprover(call)?.fields;
  if (hidden === undefined) return;
  for (const one of origins.judged())
    if (one.role === 'target' && one.origin !== 'user' && !isHiddenPlace(one.path, hidden))
      ofSession.of(session)?.approved(one.value, by);
}
