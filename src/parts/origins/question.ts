/** What people who are asked about a call, and those who listen, learn of its values. */

import type { FoundCall } from '../../core/call/call.ts';
import type { CallNotes, QuestionPart } from '../../core/call/ports.ts';
import { shownToApprover } from '../../core/call/shown.ts';
import { knownOrigins, originsOf } from './call-origins.ts';
import { announcedMessage, isHiddenPlace, originWords, reportedOrigins } from './origin-report.ts';
import { ofSession } from './origin-slots.ts';
import { originsTold } from './origins-told.ts';

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
  const hidden = shownToApprover(call)?.fields;
  if (hidden === undefined) return;
  for (const one of origins.judged())
    if (one.role === 'target' && one.origin !== 'user' && !isHiddenPlace(one.path, hidden))
      ofSession.of(session)?.approved(one.value, by);
}
