/**
 * Cancels a request for its agent. The node that the agent asks stores the result, and the node
 * that runs the call then aborts it.
 */
import type { ToolResult } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import type { RequestDocument, SessionDocument } from '../ports/documents.ts';
import { cancelledResult, type HasRun } from './lost-result.ts';
import { conclude } from './request-conclude.ts';
import type { FoundRequest } from './request-documents.ts';
import { type RequestParts, requestKey, warn } from './request-parts.ts';
import { type RequestStatus, statusOf } from './request-status.ts';
import { busy } from './session-document.ts';

/** The most tries. The node that runs the request may write its document at the same time. */
const maxTries = 20;

/**
 * Cancels a request. A request that is done keeps its result, so cancelling it again changes
 * nothing.
 * @returns its status afterwards; undefined for an unknown request
 * @throws RelayError 503 `busy`
 */
export async function cancelRequest(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
): Promise<RequestStatus | undefined> {
  const { documents, calls, state, hub } = parts;
  const { code } = session;
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await documents.find(code, id);
    if (found === undefined) return undefined;
    if (found.document.status === 'done') {
      // An earlier attempt may have failed before it told the application.
      if (found.document.cancelled === true) await calls.end(code, id, 'cancelled');
      return statusOf(parts, code, id);
    }
    const result = await endCancelled(parts, session, id, found);
    // The request has changed in the meantime: perhaps it is done, or its approval was answered.
    if (result === undefined) continue;
    state.aborts.get(requestKey(code, id))?.abort();
    hub.wake(code, `cancel:${id}`);
    await calls.end(code, id, 'cancelled');
    return { requestId: id, status: 'done', result };
  }
  throw busy();
}

/** Stores the result; undefined if the request has changed in the meantime. */
async function endCancelled(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
  { document, version }: FoundRequest,
): Promise<ToolResult | undefined> {
  const { documents, settings } = parts;
  const { code } = session;
  const cancelled: RequestDocument = { ...document, cancelled: true };
  let found: FoundRequest = { document: cancelled, version };
  let hasRun: HasRun = 'perhaps';
  if (document.result !== undefined) {
    // From now on, no answer that comes through the relay can run the call.
    const marked = await documents.write(code, id, cancelled, version);
    if (marked === undefined) return undefined;
    found = { document: cancelled, version: marked };
    hasRun = await withdraw(parts, session, id).catch((error: unknown) => {
      warn(parts, error, 'relay: the approval of a cancelled call could not be withdrawn');
      return 'perhaps' as const;
    });
  }
  const durationMs = settings.now() - document.createdAt;
  return conclude(parts, code, id, found, cancelledResult(id, document.tool, durationMs, hasRun));
}

/**
 * Rejects the approval that a suspended call waits for, so that no later answer can run it.
 * @returns `no` if this rejection was the first answer. The host may have answered the approval by
 * other means than the relay, such as an inbox of its own; then the call may have run.
 */
async function withdraw(
  parts: RequestParts,
  document: SessionDocument,
  id: string,
): Promise<HasRun> {
  const entry = await parts.live.get(document);
  const release = entry.retain();
  try {
    const view = inspectSession(entry.session);
    let hasRun: HasRun = 'perhaps';
    for (const { callId, token } of await view.questions()) {
      if (callId !== id || token === undefined) continue;
      const result = await view.resume(token, {
        decision: 'reject_once',
        // If the session may not answer its own approvals, an answer without a name is refused.
        by: 'agent',
        message: 'The agent has cancelled the call.',
      });
      if (!result.success && result.error.reason === 'rejected') hasRun = 'no';
    }
    return hasRun;
  } finally {
    release();
  }
}
