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
import { cancelRequest } from './request-cancel.ts';
import { type Decide, decideRequest } from './request-decide.ts';
import { createRequestDocuments } from './request-documents.ts';
import { newRequestState, type RequestParts } from './request-parts.ts';
import { type RequestStatus, statusOf } from './request-status.ts';
import { type AgentCall, type Submitted, submitRequest } from './request-submit.ts';
import { takeOverDue } from './request-takeover.ts';

/** The requests of a node. */
export interface Requests {
  /**
   * Runs a call, or joins the one with the same id. Rejects with the relay error 409
   * `request_id_conflict` when the id belongs to another call.
   */
  submit(document: SessionDocument, call: AgentCall): Promise<Submitted>;
  status(code: string, requestId: string): Promise<RequestStatus | undefined>;
  /**
   * Cancels a request; one that is done keeps its result.
   * @returns its status afterwards; undefined for an unknown request
   */
  cancel(document: SessionDocument, requestId: string): Promise<RequestStatus | undefined>;
  /** Answers a call that waits for approval; undefined if no such call is waiting. */
  readonly decide: Decide;
  /** Takes over requests that dead nodes have left. This also happens by itself once per lease. */
  takeOver(): Promise<void>;
  /** Stops taking over requests, and waits up to `waitMs` milliseconds for those that run here. */
  close(waitMs: number): Promise<void>;
}

/** Milliseconds that closing waits until the counts of calls are stored. */
const storingMs = 1_000;
/** Leases without a renewal after which another node takes over a request. */
const dueLeases = 2;

/** Makes the requests of a node. */
export function createRequests(
  settings: RelaySettings,
  hub: Hub,
  live: LiveSessions,
  calls: Calls,
): Requests {
  const parts: RequestParts = {
    settings,
    hub,
    live,
    calls,
    documents: createRequestDocuments(settings.store, settings.limits.resultBytesPerSession),
    dueMs: settings.leaseMs * dueLeases,
    state: newRequestState(),
  };
  const { state } = parts;
  let sweeping: Promise<void> | undefined;
  const takeOver = (): Promise<void> => {
    sweeping ??= takeOverDue(parts).finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };
  const sweep = setInterval(() => {
    takeOver().catch(() => {});
  }, settings.leaseMs);
  sweep.unref?.();

  return {
    submit: (session, call) => submitRequest(parts, session, call),
    status: (code, requestId) => statusOf(parts, code, requestId),
    takeOver,
    cancel: (session, requestId) => cancelRequest(parts, session, requestId),
    decide: (document, approvalId, answer) => decideRequest(parts, document, approvalId, answer),
    async close(waitMs) {
      state.closing = true;
      clearInterval(sweep);
      calls.drain();
      await pTimeout(Promise.allSettled(state.running.values()), {
        milliseconds: Math.max(1, waitMs),
        fallback: () => [],
      });
      state.closed = true;
      calls.leave();
      await pTimeout(calls.storeUsage(), { milliseconds: storingMs, fallback: () => {} });
    },
  };
}
