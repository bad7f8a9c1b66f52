/**
 * Keeps sessions that were read a moment ago, for answers of applications. A session need not be
 * read again for each answer, because the store refuses the write if the session is gone.
 */
import type { SessionDocument } from '../ports/documents.ts';
import { hashOf } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';
import { type AccessRequest, type Admitted, authorize, findSession, sideOf } from './access.ts';

/** Milliseconds for which a session counts as read. */
const recentMs = 10_000;
/** Most sessions that are kept. */
const maxKept = 10_000;

/** Finds sessions like `access.ts`, but reads each of them only once in a while. */
export interface RecentSessions {
  /**
   * Like `authorize`. A kept session is good enough to admit a client, because tokens are never
   * withdrawn. Before a client is refused, its session is read again.
   */
  authorize(asked: AccessRequest): Promise<Admitted>;
  /** Like `findSession`. */
  find(code: string): Promise<SessionDocument>;
}

/** Starts with no sessions. */
export function recentSessions({
  store,
  now,
}: Pick<RelaySettings, 'store' | 'now'>): RecentSessions {
  const kept = new Map<string, { readonly document: SessionDocument; readonly until: number }>();
  const recent = (code: string): SessionDocument | undefined => {
    const found = kept.get(code);
    if (found === undefined) return undefined;
    if (found.until > performance.now() && found.document.expiresAt > now()) return found.document;
    kept.delete(code);
    return undefined;
  };
  const keep = (document: SessionDocument): void => {
    kept.set(document.code, { document, until: performance.now() + recentMs });
    if (kept.size > maxKept) kept.delete(kept.keys().next().value as string);
  };
  return {
    async authorize(asked) {
      const document = recent(asked.code);
      const side =
        document && asked.token !== undefined ? sideOf(document, hashOf(asked.token)) : undefined;
      if (document !== undefined && side !== undefined && side === asked.access)
        return { document, side };
      const admitted = await authorize(store, now(), asked);
      keep(admitted.document);
      return admitted;
    },
    async find(code) {
      const known = recent(code);
      if (known !== undefined) return known;
      const document = await findSession(store, now(), code);
      keep(document);
      return document;
    },
  };
}
