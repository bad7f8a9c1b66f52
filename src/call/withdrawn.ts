/** Whether a grant that let a call through still counts when the handler is about to start. */
import type { Call } from '../state/call.ts';

/**
 * True once for a grant that was revoked, replaced, has run out or was overruled meanwhile: its yes
 * no longer counts, and the question is asked again.
 */
export function withdrawn({ extra, session }: Call): boolean {
  const grant = extra?.grant;
  if (extra === undefined || grant === undefined) return false;
  const { grants } = session.approvalDesk();
  if (grants.holds(grant, session.registry.now())) return false;
  grants.release(grant);
  extra.grant = undefined;
  return true;
}

/**
 * The handler starts, or never will: a grant that let the call through can no longer be taken back
 * from it.
 */
export function letGo({ extra, session }: Call): void {
  if (extra?.grant !== undefined) session.approvalDesk().grants.release(extra.grant);
}
