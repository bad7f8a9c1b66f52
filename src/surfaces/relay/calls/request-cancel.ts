/**
 * Cancels a request for the agent that asked for it. The node that is told stores the result; the
 * node that runs the call then aborts it.
 */
import { resumeCall, stateOf } from '../../../surface-port.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { cancelledResult } from './lost-result.ts';
import { conclude } from './request-conclude.ts';
import { type RequestParts, requestKey, warn } from './request-parts.ts';
import { type RequestStatus, statusOf } from './request-status.ts';
import { busy } from './session-document.ts';

/** More than one, since the node that runs the request may write its document at the same time. */
const mostTries = 20;

/**
 * Cancels a request. One that is done keeps its result, so cancelling twice is the same as once.
 * @returns its status afterwards; undefined for an unknown request
 * @throws RelayError 503 `busy`
 */
export async function cancelRequest(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
): Promise<RequestStatus | undefined> {
  const { documents, calls, hub, state, settings } = parts;
  const { code } = session;
  for (let tries = 0; tries < mostTries; tries++) {
    const found = await documents.find(code, id);
    if (found === undefined) return undefined;
    const { document } = found;
    if (document.status === 'done') {
      // An earlier attempt may have ended before the application was told.
      if (document.cancelled === true) await calls.end(code, id, 'cancelled');
      return statusOf(parts, code, id);
    }
    const result = await conclude(
      parts,
      code,
      id,
      { document: { ...document, cancelled: true }, version: found.version },
      cancelledResult(id, document.tool, settings.now() - document.createdAt),
    );
    // The request has changed in the meantime: perhaps it is done, or its approval was answered.
    if (result === undefined) continue;
    state.aborts.get(requestKey(code, id))?.abort();
    hub.wake(code, `cancel:${id}`);
    await calls.end(code, id, 'cancelled');
    if (document.result !== undefined)
      withdraw(parts, session, id).catch((error: unknown) =>
        warn(parts, error, 'relay: the approval of a cancelled call could not be withdrawn'),
      );
    return { requestId: id, status: 'done', result };
  }
  throw busy();
}

/** Rejects the approval that a suspended call waits for, so that no later answer can run it. */
async function withdraw(parts: RequestParts, document: SessionDocument, id: string): Promise<void> {
  const entry = await parts.live.get(document);
  const release = entry.retain();
  try {
    const { session } = entry;
    for (const { callId, token } of await session.approvals.pending())
      if (callId === id && token !== undefined)
        await resumeCall(stateOf(session), token, {
          decision: 'reject_once',
          message: 'The agent has cancelled the call.',
        });
  } finally {
    release();
  }
}
