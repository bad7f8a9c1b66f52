/** Whether a grant that let a call through still counts when the handler is about to start. */
import type { Call } from '../state/call.ts';

/** True once for a grant that was revoked, replaced or has run out meanwhile: its yes no longer counts, and the question is asked again. */
export function withdrawn({ extra, session }: Call): boolean {
  const grant = extra?.grant;
  if (extra === undefined || grant === undefined) return false;
  const { revoked, expiresAt } = grant;
  if (!revoked && (expiresAt === undefined || expiresAt > session.registry.now())) return false;
  extra.grant = undefined;
  return true;
}
