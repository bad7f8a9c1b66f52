/** What the requests of a node work with, and the state that they share. */
import type { ToolResult } from '../../index.ts';
import type { Hub } from '../hub.ts';
import { faultOf } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import type { Calls } from './calls.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { RequestDocuments } from './request-documents.ts';

/** What this node has in hand. Keys are those of {@link requestKey}. */
export interface RequestState {
  /** Requests that run here, with their results to come. */
  readonly running: Map<string, Promise<ToolResult>>;
  /** Those of them that have passed their gates. */
  readonly started: Set<string>;
  /** Requests that are being written down here, and how many callers wait for that. */
  readonly writing: Map<string, number>;
  /** The node takes over nothing more. */
  closing: boolean;
  /** What still runs is left to another node. */
  closed: boolean;
}

/** The parts of a node that its requests use. */
export interface RequestParts {
  readonly settings: RelaySettings;
  readonly hub: Hub;
  readonly live: LiveSessions;
  readonly calls: Calls;
  readonly documents: RequestDocuments;
  /** Milliseconds without a renewal after which another node looks after a request. */
  readonly dueMs: number;
  readonly state: RequestState;
}

export function newRequestState(): RequestState {
  return {
    running: new Map(),
    started: new Set(),
    writing: new Map(),
    closing: false,
    closed: false,
  };
}

export function requestKey(code: string, id: string): string {
  return `${code} ${id}`;
}

/** True for a request that this node runs, or is about to. */
export function isOwn({ state }: RequestParts, code: string, id: string): boolean {
  const key = requestKey(code, id);
  return state.running.has(key) || state.writing.has(key);
}

export function warn({ settings }: RequestParts, error: unknown, message: string): void {
  settings.logger.warn({ err: faultOf(error) }, message);
}
