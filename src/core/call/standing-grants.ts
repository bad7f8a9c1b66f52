/** The standing answers of a session, as one call uses and adds them. */

import type { Grant } from '../../api/approval.ts';
import { type GrantSubject, jsonDigest } from '../approval/grants.ts';
import type { Call, FoundCall } from './call.ts';

/** What a grant must cover to answer for this call. */
function subjectOf({ entry, canonical }: FoundCall): GrantSubject {
  return {
    tool: entry.name,
    fingerprint: entry.fingerprint,
    source: entry.source,
    input: jsonDigest(canonical),
  };
}

/** The grant that would answer the call, for `explain`. Nothing is used up. */
export function findGrant(call: FoundCall): Grant | undefined {
  const { session } = call;
  return session.desk?.grants.find(subjectOf(call), session.registry.now());
}

/** Finds the grant that answers the call, and uses it once. */
export function takeGrant(call: FoundCall): Grant | undefined {
  const { session } = call;
  const { grants } = session.approvalDesk();
  const subject = subjectOf(call);
  const grant = grants.find(subject, session.registry.now());
  if (grant === undefined) return undefined;
  const use = grants.use(grant.id, subject);
  if (grant.effect === 'allow') {
    // Until the handler starts, the grant can still be revoked.
    call.more.ensureApproval().grant = use;
    call.onEnd(() => giveUp(call));
  }
  return grant;
}

/** Adds the grant that an `_always` answer asks for, now that the call's input is final. */
export function keepStanding(call: FoundCall): void {
  const standing = call.extra?.approval?.standing;
  if (standing === undefined) return;
  const approval = call.more.ensureApproval();
  approval.standing = undefined;
  const { session } = call;
  const { approvalId, answer } = standing;
  const { grants } = session.approvalDesk();
  const own = grants.add(approvalId, subjectOf(call), answer, session.registry.now());
  // Until the handler starts, revoking the grant also takes back the answer to this call.
  if (answer.allowed) approval.grant = own;
}

/**
 * Whether the grant that allowed the call, or came with the answer to it, was revoked, replaced,
 * overruled or has expired since then. If so, the call forgets the grant, and approval is requested
 * again.
 */
export function withdrawn({ extra, session }: Call): boolean {
  const approval = extra?.approval;
  const grant = approval?.grant;
  if (approval === undefined || grant === undefined) return false;
  const { grants } = session.approvalDesk();
  if (grants.holds(grant, session.registry.now())) return false;
  grants.release(grant);
  approval.grant = undefined;
  return true;
}

/** Once the handler starts or the call ends, revoking the grant no longer affects the call. */
export function giveUp({ extra, session }: Call): void {
  const grant = extra?.approval?.grant;
  if (grant !== undefined) session.approvalDesk().grants.release(grant);
}
