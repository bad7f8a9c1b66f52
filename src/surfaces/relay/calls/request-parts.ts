/** The parts of a node that its requests use, and the state that they share. */
import type { ToolResult } from '../../../core.ts';
import type { Hub } from '../hub.ts';
import { faultOf } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { NodeLease } from './node-lease.ts';
import type { RequestDocuments } from './request-documents.ts';

/** The state of the requests on this node. The keys come from {@link requestKey}. */
export interface RequestState {
  /** Requests that run on this node, with promises of their results. */
  readonly running: Map<string, Promise<ToolResult>>;
  /** Running requests that have passed the checks before their tool runs. */
  readonly started: Set<string>;
  /** The aborts of the calls of the requests that run on this node. */
  readonly aborts: Map<string, RequestAbort>;
  /** Requests that are being stored by this node, and how many callers wait for that. */
  readonly writing: Map<string, number>;
  /** Requests that this node is looking after at the moment. */
  readonly taking: Map<string, Promise<boolean>>;
  /** Wake the clients that wait here for requests of other nodes. */
  readonly joins: Set<() => void>;
  /** True once the node takes over no further requests. */
  closing: boolean;
  /** True once the requests that still run are left to other nodes. */
  closed: boolean;
}

/** The parts of a node that its requests use. */
export interface RequestParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly live: LiveSessions;
  readonly calls: Calls;
  readonly documents: RequestDocuments;
  readonly lease: NodeLease;
  /**
   * Looks after a request, and takes it over if its node is gone.
   * @param isAnswered whether its call was answered and its node should have ended it long ago
   * @returns whether this node runs it now, or has ended it
   */
  takeUp(code: string, id: string, isAnswered: boolean): Promise<boolean>;
  readonly state: RequestState;
}

export function newRequestState(): RequestState {
  return {
    running: new Map(),
    started: new Set(),
    aborts: new Map(),
    writing: new Map(),
    taking: new Map(),
    joins: new Set(),
    closing: false,
    closed: false,
  };
}

export function requestKey(code: string, id: string): string {
  return `${code} ${id}`;
}

/** True for a request that this node runs or is about to run. */
export function isOwn({ state }: RequestParts, code: string, id: string): boolean {
  const key = requestKey(code, id);
  return state.running.has(key) || state.writing.has(key);
}

export function warn({ settings }: RequestParts, error: unknown, message: string): void {
  settings.logger.warn({ err: faultOf(error) }, message);
}

// Aborts the call of a request. A real `AbortController` would take a twentieth of the time of a
// call, and the core uses only these members of its signal.

/** Cancels one call. */
export interface RequestAbort {
  /** Passed to the session that makes the call, and to no one else. */
  readonly signal: AbortSignal;
  abort(): void;
}

/** Makes the abort of one call. */
export function createRequestAbort(): RequestAbort {
  let listener: (() => void) | undefined;
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener(_type: string, added: () => void) {
      listener = added;
    },
    removeEventListener() {
      listener = undefined;
    },
  };
  return {
    signal: signal as unknown as AbortSignal,
    abort() {
      if (signal.aborted) return;
      signal.aborted = true;
      signal.reason = new DOMException('This operation was aborted', 'AbortError');
      listener?.();
    },
  };
}
