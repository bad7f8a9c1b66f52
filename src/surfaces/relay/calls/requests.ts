/**
 * The requests of agents over REST. Each request is stored before it runs, runs on one node, is
 * taken over if that node dies, and is kept when it is done.
 */
import pTimeout from 'p-timeout';
import type { Hub } from '../hub.ts';
import type { SessionDocument } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSessions } from './live-sessions.ts';
import { createNodeLease } from './node-lease.ts';
import { cancelRequest } from './request-cancel.ts';
import { type Decide, decideRequest } from './request-decide.ts';
import { createRequestDocuments } from './request-documents.ts';
import { newRequestState, type RequestParts, warn } from './request-parts.ts';
import { type RequestStatus, statusOf } from './request-status.ts';
import { type AgentCall, type Submitted, submitRequest } from './request-submit.ts';
import { takeOverDue, takeUp } from './request-takeover.ts';

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
    documents: createRequestDocuments({ settings, hub }, settings.limits.resultBytesPerSession),
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
