/** Takes over requests that a dead node has left. */
import { keys, type RequestDocument, type SessionDocument } from '../ports/documents.ts';
import type { DueItem } from '../ports/store.ts';
import type { LiveSession } from './live-session.ts';
import { lostResult } from './lost-result.ts';
import { conclude, giveUp, isUnanswered, lookAgain } from './request-conclude.ts';
import type { FoundRequest } from './request-documents.ts';
import { isOwn, type RequestParts, warn } from './request-parts.ts';
import { beginRequest } from './request-run.ts';

const mostAtOnce = 16;
/**
 * Milliseconds after which a scheduled request that is not stored is looked up again. This goes on
 * until its session ends, because the request may be stored late.
 */
const absentMs = 60_000;

/** Takes over all requests that are due. */
export async function takeOverDue(parts: RequestParts): Promise<void> {
  const { settings, dueMs, state } = parts;
  let due: readonly DueItem[];
  do {
    due = await settings.store.due(mostAtOnce, dueMs);
    for (const { session, key } of state.closing ? [] : due)
      await takeUp(parts, session, key).catch((error: unknown) =>
        warn(parts, error, 'relay: a request could not be taken over'),
      );
    // The store postpones the requests that it has returned, so this loop ends.
  } while (due.length === mostAtOnce && !state.closing);
}

async function takeUp(parts: RequestParts, code: string, id: string): Promise<void> {
  const { documents, hub } = parts;
  const { store } = parts.settings;
  const [stored] = await store.get(code, [keys.session]);
  const found = await documents.find(code, id);
  const waits = found?.document.result !== undefined;
  if (stored === undefined) return store.unschedule(code, id);
  // A node has scheduled the request but not stored it. It may still do so, or it died and the
  // agent never got an answer.
  if (found === undefined) return store.schedule(code, id, absentMs);
  if (isUnanswered(parts, found.document)) return void (await giveUp(parts, code, id, found));
  if (waits && found.document.status !== 'done')
    return lookAgain(parts, code, id, found.document.waitsUntil);
  if (isOwn(parts, code, id)) return undefined;
  if (found.document.status === 'done') {
    // Its node died between writing the result and announcing it.
    await documents.tell(code, id);
    return hub.wake(code, 'log:agent');
  }
  // After this write the former node can no longer write the document.
  const document: RequestDocument = { ...found.document, taken: (found.document.taken ?? 0) + 1 };
  const version = await documents.write(code, id, document, found.version);
  if (version === undefined) return undefined;
  return runAgain(parts, JSON.parse(stored.value) as SessionDocument, id, { document, version });
}

/** Runs a request that was taken over, or ends it when it must not run twice. */
async function runAgain(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
  own: FoundRequest,
): Promise<void> {
  const { live, calls, state } = parts;
  const { now, requestTimeoutMs, logger, node } = parts.settings;
  const { code } = session;
  const [entry, call] = await Promise.all([live.get(session), calls.find(code, id)]);
  // If this node has started the request in the meantime, it is already running.
  if (isOwn(parts, code, id) || state.closing) return;
  logger.warn({ request: id, node }, 'relay: a request is taken over from a node that is gone');
  if (!mayRunAgain(entry, own.document, call !== undefined)) {
    const { tool, createdAt } = own.document;
    await conclude(parts, code, id, own, lostResult(id, tool, now() - createdAt));
    return;
  }
  // The call gets its remaining time. An answer that has already arrived only has to be fetched.
  const left =
    call === undefined
      ? requestTimeoutMs
      : Math.max(call.answered ? 1_000 : 1, call.deadline - now());
  beginRequest(parts, session, id, own, () => {}, left).catch((error: unknown) =>
    warn(parts, error, 'relay: a request that was taken over failed'),
  );
}

/**
 * Whether a request may run a second time. An application recognizes a repeated call by its id. A
 * tool of the host may run again only if its definition says that it is idempotent.
 */
function mayRunAgain(
  { session, isRelayed }: LiveSession,
  { tool, resumed }: RequestDocument,
  isOnItsWay: boolean,
): boolean {
  if (resumed === true) return false;
  return isOnItsWay || isRelayed(tool) || session.tool(tool)?.annotations.idempotent === true;
}
