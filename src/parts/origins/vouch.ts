/** What a person's answer implies about the values of a call. */
import type { FoundCall } from '../../core/call/call.ts';
import { shownToApprover } from '../../core/call/shown.ts';
import { originsOf } from './call-origins.ts';
import { isHiddenPlace } from './origin-report.ts';
import { ofSession } from './origin-slots.ts';

/**
 * Once a person has approved a call, each target that the person saw is known in this session.
 * Called when the input is final.
 */
export function vouch(call: FoundCall, by: string): void {
  const origins = originsOf(call);
  if (origins === undefined) return;
  const { session } = call;
  const hidden = shownToApprover(call)?.fields;
  if (hidden === undefined) return;
  for (const one of origins.judged())
    if (one.role === 'target' && one.origin !== 'user' && !isHiddenPlace(one.path, hidden))
      ofSession.of(session)?.approved(one.value, by);
}
