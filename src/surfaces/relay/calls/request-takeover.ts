/** Takes over requests that a dead node has left. */
import type { Store } from '../../../extend.ts';
import { keys, type RequestDocument, type SessionDocument } from '../ports/documents.ts';
import { documentsOf } from '../ports/kept-store.ts';
import { findCall } from './call-documents.ts';
import type { LiveSession } from './live-session.ts';
import { lostResult } from './lost-result.ts';
import { lookWake } from './node-lease.ts';
import { type FoundRequest, requestIn } from './request-documents.ts';
import { isOwn, type RequestParts, requestKey, warn } from './request-parts.ts';
import { beginRequest } from './request-run.ts';
import { conclude, giveUp, isUnanswered, lookAgain } from './request-status.ts';

const maxAtOnce = 16;
/**
 * Milliseconds after which a scheduled request that is not stored is looked up again. This goes on
 * until its session ends, because the request may be stored late.
 */
const absentMs = 60_000;

/** Takes over all requests that are due, and whose nodes are gone. */
export async function takeOverDue(parts: RequestParts): Promise<void> {
  const { settings, lease, state } = parts;
  if (!lease.isSteady() || state.closing) return;
  let due: readonly Store.Item[];
  do {
    due = await settings.store.due(maxAtOnce, lease.leaseMs);
    for (const { owner, key } of state.closing ? [] : due)
      await takeUp(parts, owner, key, false).catch((error: unknown) =>
        warn(parts, error, 'relay: a request could not be taken over'),
      );
    // The store postpones the requests that it has returned, so this loop ends.
  } while (due.length === maxAtOnce && !state.closing);
}

/**
 * See {@link RequestParts.takeUp}. Concurrent callers share one result. If this node took a request
 * over a second time, the version with which it runs would no longer be the current one.
 */
export function takeUp(
  parts: RequestParts,
  code: string,
  id: string,
  isAnswered: boolean,
): Promise<boolean> {
  const { taking } = parts.state;
  const key = requestKey(code, id);
  const running = taking.get(key);
  if (running !== undefined) return running;
  const work = takeUpOnce(parts, code, id, isAnswered).finally(() => taking.delete(key));
  taking.set(key, work);
  return work;
}

async function takeUpOnce(
  parts: RequestParts,
  code: string,
  id: string,
  isAnswered: boolean,
): Promise<boolean> {
  const { documents, hub, lease, settings } = parts;
  const { store, node } = settings;
  if (isOwn(parts, code, id)) return false;
  const [session, stored] = await documentsOf(store, code, [keys.session, keys.request(id)]);
  const found = requestIn(stored);
  if (session === undefined) documents.release(code, id);
  // A node has scheduled the request but not stored it. It may still do so, or it died and the
  // agent never got an answer.
  else if (found === undefined) await store.schedule([{ owner: code, key: id }], absentMs);
  if (session === undefined || found === undefined) return false;
  const { document } = found;
  if (isUnanswered(parts, document)) return (await giveUp(parts, code, id, found)) !== undefined;
  if (document.status === 'done') {
    // Its node died after it had stored the result and before it woke the clients that wait for it.
    hub.wake(code, 'log:agent');
    documents.release(code, id);
    return true;
  }
  if (document.result !== undefined) await lookAgain(parts, code, id, document.waitsUntil);
  if (document.result !== undefined || isOwn(parts, code, id)) return false;
  const { node: owner } = document;
  if (!isAnswered && owner !== undefined && owner !== node && (await lease.isAlive(owner))) {
    // The node is alive, but it may have failed to run the request. It then has to look after it.
    hub.wake(keys.node(owner), lookWake(code, id));
    return false;
  }
  await lease.begin();
  // Without a scheduled look, no node would notice if this one died too.
  await store.schedule([{ owner: code, key: id }], lease.leaseMs);
  // After this write the former node can no longer write the document.
  const taken: RequestDocument = { ...document, node, taken: (document.taken ?? 0) + 1 };
  const version = await documents.write(code, id, taken, found.version);
  if (version === undefined) return false;
  await runAgain(parts, JSON.parse(session.value) as SessionDocument, id, {
    document: taken,
    version,
  });
  return true;
}

/** Runs a request that was taken over, or ends it when it must not run twice. */
async function runAgain(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
  own: FoundRequest,
): Promise<void> {
  const { live, state } = parts;
  const { store, now, requestTimeoutMs, logger, node } = parts.settings;
  const { code } = session;
  const [entry, found] = await Promise.all([live.get(session), findCall(store, code, id)]);
  const call = found?.document;
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
      : Math.max(call.answer === undefined ? 1 : 1_000, call.deadline - now());
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
