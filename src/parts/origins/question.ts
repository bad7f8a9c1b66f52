/** What people who are asked about a call, and those who listen, learn of its values. */

import type { CallNotes, QuestionPart } from '../../core/call/ports.ts';
import { knownOrigins, originsOf } from './call-origins.ts';
import { announcedMessage, originWords, reportedOrigins } from './origin-report.ts';
import { originsTold } from './origins-told.ts';
import { vouch } from './vouch.ts';

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
  allowed: vouch,
};

export const notes: CallNotes = {
  settle: (call) => knownOrigins(call)?.completeForTelling(),
  of(call) {
    const origins = originsTold(call);
    return origins === undefined ? undefined : { origins };
  },
};
