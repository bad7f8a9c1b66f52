/** What is kept of a program itself, beside what it has called. */

import type { TraceContext } from '../../api/context.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { type BoundedStore, nameFor } from '../../stores/shared/use-store.ts';

/** What a program is bound to, and how it goes on. */
export interface Head {
  readonly sessionId: string;
  readonly principal: string | null;
  readonly tool: string;
  readonly source: string;
  /** Epoch milliseconds: what the clock of the program shows. */
  readonly now: number;
  readonly expiresAt: number;
  readonly surface: string | null;
  /** The scopes of the request that began it, where its surface knows them. */
  readonly scopes?: readonly string[];
  /** The person who has approved the program itself, if one was asked. */
  readonly approved: { readonly id: string; readonly by: string | null } | null;
  /** The place of its first run in a trace. */
  readonly trace?: TraceContext;
  /** The result of the call, as JSON, once it has ended. */
  readonly result?: string;
}

/** A program that is kept. */
export interface FoundHead {
  readonly head: Head;
  readonly version: number;
  /** That of the run that has it now. */
  readonly lease: Store.Document | undefined;
}

/** Where all of a program is kept. */
export function spaceOf(
  { sessionId }: Pick<SessionState, 'sessionId'>,
  runId: string,
): Store.Space {
  return { shared: nameFor('code', JSON.stringify([sessionId, runId])) };
}

export function headOf(call: FoundCall, source: string, now: number, ttlMs: number): Head {
  const { session, toolName, surfaceName, surface, extra } = call;
  const approval = call.approved ? extra?.question : undefined;
  const trace = extra?.traces?.place();
  return {
    sessionId: session.sessionId,
    principal: session.principal ?? null,
    tool: toolName,
    source,
    now: Math.floor(now),
    expiresAt: Math.floor(now) + ttlMs,
    surface: surfaceName === '' ? null : surfaceName,
    ...(surface?.scopes === undefined ? {} : { scopes: surface.scopes }),
    approved: approval === undefined ? null : { id: approval.id, by: approval.by ?? null },
    ...(trace === undefined ? {} : { trace }),
  };
}

export async function readHead(
  store: BoundedStore,
  space: Store.Space,
): Promise<FoundHead | undefined> {
  const { results } = await store.apply(space, [{ op: 'get', keys: ['run', 'lease'] }]);
  const [run, lease] = results?.[0] ?? [];
  if (run === undefined) return undefined;
  return { head: JSON.parse(run.value) as Head, version: run.version, lease };
}

/** @param version of the one before; 0 if there is none */
export function setHead(head: Head, version: number): Store.Set {
  const value = JSON.stringify(head);
  return { op: 'set', key: 'run', value, version, expiresAt: head.expiresAt };
}
