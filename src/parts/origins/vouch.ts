/** What a person's answer implies about the values of a call. */
import type { FoundCall } from '../../core/call/call.ts';
import { shownToApprover } from '../../core/call/shown.ts';
import { originsOf } from './call-origins.ts';
import { isHiddenPlace } from './origin-report.ts';

/**
 * Once a person has approved a call, each target that the person saw is known in this session.
 * Called when the input is final.
 */
export function vouch(call: FoundCall): void {
  const { extra, session } = call;
  const by = extra?.approvedBy;
  const origins = originsOf(call);
  if (extra === undefined || by === undefined || origins === undefined) return;
  extra.approvedBy = undefined;
  const hidden = shownToApprover(call)?.fields;
  if (hidden === undefined) return;
  for (const one of origins.judged())
    if (one.role === 'target' && one.origin !== 'user' && !isHiddenPlace(one.path, hidden))
      session.origins?.approved(one.value, by);
}
