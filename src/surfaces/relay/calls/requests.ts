/**
 * The requests of agents over REST. Each request is stored before it runs, runs on one node, is
 * taken over if that node dies, and is kept when it is done.
 */
import pTimeout from 'p-timeout';
import type { ApprovalAnswer, ToolResult } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import type { Hub } from '../hub.ts';
import type { RequestDocument, SessionDocument } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSessions } from './live-sessions.ts';
import { cancelledResult, type HasRun } from './lost-result.ts';
import { createNodeLease } from './node-lease.ts';
import { type Decide, decideRequest } from './request-decide.ts';
import { createRequestDocuments, type FoundRequest } from './request-documents.ts';
import { newRequestState, type RequestParts, requestKey, warn } from './request-parts.ts';
import { conclude, type RequestStatus, statusOf } from './request-status.ts';
import { type AgentCall, type Submitted, submitRequest } from './request-submit.ts';
import { takeOverDue, takeUp } from './request-takeover.ts';
import { busy } from './session-document.ts';

/** The requests of a node. */
export interface Requests {
  /**
   * Runs a call, or joins the one with the same id. Rejects with the relay error 409
   * `request_id_conflict` when the id belongs to another call.
   */
  submit(document: SessionDocument, call: AgentCall): Promise<Submitted>;
  status(code: string, requestId: string): Promise<RequestStatus | undefined>;
  /**
   * Cancels a request. A request that is done keeps its result.
   * @returns its status afterwards; undefined for an unknown request
   */
  cancel(document: SessionDocument, requestId: string): Promise<RequestStatus | undefined>;
  /** Answers a call that waits for approval; undefined if no such call is waiting. */
  readonly decide: Decide;
  /**
   * Takes over requests that dead nodes have left. The node also does this by itself, three times
   * in each of its leases.
   */
  takeOver(): Promise<void>;
  /** Stops taking over requests, and waits up to `waitMs` milliseconds for those that run here. */
  close(waitMs: number): Promise<void>;
}

/**
 * Milliseconds that closing waits until the counts of calls are stored and the lease is given up.
 */
const storingMs = 1_000;
/** How many times in each lease a node renews it and looks for requests that are due. */
const looksPerLease = 3;

/** Makes the requests of a node. */
export function createRequests(
  settings: RelaySettings,
  hub: Hub,
  live: LiveSessions,
  calls: Calls,
): Requests {
  const lease = createNodeLease(settings, hub, (code, id) => {
    takeUp(parts, code, id, false).catch((error: unknown) =>
      warn(parts, error, 'relay: a request could not be taken over'),
    );
  });
  const parts: RequestParts = {
    settings,
    hub,
    live,
    calls,
    documents: createRequestDocuments({ settings }, settings.limits.resultBytesPerSession),
    lease,
    takeUp: (code, id, isAnswered) => takeUp(parts, code, id, isAnswered),
    state: newRequestState(),
  };
  const { state, documents } = parts;
  // Looking after requests may take long, and must not keep the lease from being renewed.
  const renew = once(() => lease.renew());
  const look = once(async () => {
    await documents.flush();
    await takeOverDue(parts);
  });
  const takeOver = async (): Promise<void> => {
    await renew();
    await look();
  };
  const timer = setInterval(() => {
    // While the node shuts down, its requests stay its own until they have ended.
    (state.closing ? renew() : takeOver()).catch(() => {});
  }, lease.leaseMs / looksPerLease);
  timer.unref?.();

  return {
    submit: (session, call) => submitRequest(parts, session, call),
    status: (code, requestId) => statusOf(parts, code, requestId),
    takeOver,
    cancel: (session, requestId) => cancelRequest(parts, session, requestId),
    decide: (document, approvalId, answer) => decideRequest(parts, document, approvalId, answer),
    close: (waitMs) => closeRequests(parts, waitMs, () => clearInterval(timer)),
  };
}

/** Waits for the requests that run here, and leaves those that still run to other nodes. */
async function closeRequests(
  { state, calls, documents, lease }: RequestParts,
  waitMs: number,
  stopLooking: () => void,
): Promise<void> {
  state.closing = true;
  calls.drain();
  await pTimeout(Promise.allSettled(state.running.values()), {
    milliseconds: Math.max(1, waitMs),
    fallback: () => [],
  });
  stopLooking();
  state.closed = true;
  calls.leave();
  for (const wake of state.joins) wake();
  const stored = Promise.all([calls.storeUsage(), documents.flush(), lease.end()]);
  await pTimeout(
    stored.then(
      () => {},
      () => {},
    ),
    { milliseconds: storingMs, fallback: () => {} },
  );
}

/** Makes a function whose callers share a run that has not ended. */
function once(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

// Cancels a request for its agent. The node that the agent asks stores the result, and the node
// that runs the call then aborts it.

/** The most tries. The node that runs the request may write its document at the same time. */
const maxTries = 20;

/**
 * Cancels a request. A request that is done keeps its result, so cancelling it again changes
 * nothing.
 * @returns its status afterwards; undefined for an unknown request
 * @throws RelayError 503 `busy`
 */
async function cancelRequest(
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
      const isOfProgram = callId.startsWith(`${id}/`);
      if ((callId !== id && !isOfProgram) || token === undefined) continue;
      const rejection: ApprovalAnswer = {
        decision: 'reject_once',
        // If the session may not answer its own approvals, an answer without a name is refused.
        by: 'agent',
        message: 'The agent has cancelled the call.',
      };
      // A program must not go on, as it could after a rejection.
      const signal = isOfProgram ? AbortSignal.abort() : undefined;
      const result = await view.resume(token, rejection, { signal });
      if (!result.success && result.error.reason === 'rejected') hasRun = 'no';
    }
    return hasRun;
  } finally {
    release();
  }
}
