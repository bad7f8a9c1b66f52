/** Runs a request. Only the node that has the current version of its document may run it. */
import type { Surface, ToolResult } from '../../../core.ts';
import type { WakeListener } from '../hub.ts';
import type { SessionDocument } from '../ports/documents.ts';
import { leaving } from '../relay-error.ts';
import type { LiveSession } from './live-session.ts';
import type { FoundRequest } from './request-documents.ts';
import { joinRequest } from './request-join.ts';
import {
  createRequestAbort,
  type RequestAbort,
  type RequestParts,
  requestKey,
  warn,
} from './request-parts.ts';
import { conclude } from './request-status.ts';

/** Calls the tool through this node's session. */
export type RunCall = (
  entry: LiveSession,
  surface: Surface,
  signal: AbortSignal,
) => Promise<ToolResult>;

/** The call that a run makes. */
export interface Run {
  readonly session: SessionDocument;
  readonly id: string;
  readonly found: FoundRequest;
  readonly call: RunCall;
  /** Called when the call has passed the checks before its tool runs. */
  readonly passed: () => void;
}

/** Runs a request. Rejects with the relay error 503 if the node ends first. */
export function runRequest(parts: RequestParts, run: Run): Promise<ToolResult> {
  const { settings, calls, state } = parts;
  const { id } = run;
  const { code } = run.session;
  const abort = createRequestAbort();
  // The request is also read at intervals, because the wake-up of a cancellation may be lost.
  const looking = setInterval(() => lookForCancel(parts, code, id, abort), settings.leaseMs / 2);
  calls.keep(code, id);
  const key = requestKey(code, id);
  state.aborts.set(key, abort);
  const work = runAndConclude(parts, run, abort, () => clearInterval(looking));
  state.running.set(key, work);
  work.catch(() => {});
  return work;
}

async function runAndConclude(
  parts: RequestParts,
  { session, id, found, call, passed }: Run,
  abort: RequestAbort,
  stopLooking: () => void,
): Promise<ToolResult> {
  const { hub, live, calls, state } = parts;
  const { code } = session;
  const key = requestKey(code, id);
  let ended: ToolResult | undefined;
  let release = (): void => {};
  let unlisten = (): void => {};
  try {
    const entry = await live.get(session);
    // The session must not be closed as idle, however long the call takes.
    release = entry.retain();
    const onWake: WakeListener = (wake) => {
      if (wake === `cancel:${id}`) abort.abort();
      else if (wake === undefined) lookForCancel(parts, code, id, abort);
    };
    unlisten = await hub.watch(code, onWake, id);
    const surface: Surface = {
      name: 'relay',
      outside: true,
      exposeErrors: 'masked',
      started: () => {
        state.started.add(key);
        passed();
      },
    };
    const result = await call(entry, surface, abort.signal);
    // A call that ends because this node ends is left to another node. Clients that wait here have
    // to ask that node.
    if (state.closed && !result.success && result.error.code === 'session_closed') throw leaving();
    ended = await conclude(parts, code, id, found, result);
  } finally {
    stopLooking();
    state.running.delete(key);
    state.started.delete(key);
    state.aborts.delete(key);
    calls.giveUp(code, id);
    unlisten();
    release();
  }
  // A call that was stored after its cancellation is still open at the application.
  if (abort.signal.aborted && ended === undefined)
    calls
      .end(code, id, 'cancelled')
      .catch((error: unknown) => warn(parts, error, 'relay: a call could not be closed'));
  // If another node has taken over the request, clients that wait here get the result from that
  // node.
  return ended ?? (await join(parts, code, id));
}

/**
 * Runs the call that a request asks for.
 * @param timeoutMs the milliseconds that the call has left
 */
export function beginRequest(
  parts: RequestParts,
  session: SessionDocument,
  id: string,
  found: FoundRequest,
  passed: () => void,
  timeoutMs?: number,
): Promise<ToolResult> {
  const { tool, args } = found.document;
  return runRequest(parts, {
    session,
    id,
    found,
    call: ({ session }, surface, signal) =>
      session.call(tool, args, { callId: id, idempotencyKey: id, surface, timeoutMs, signal }),
    passed,
  });
}

/** Aborts the call if the stored request says that it was cancelled. */
function lookForCancel(
  { documents }: RequestParts,
  code: string,
  id: string,
  abort: RequestAbort,
): void {
  documents.find(code, id).then(
    (found) => {
      if (found?.document.cancelled === true) abort.abort();
    },
    // The next interval looks again.
    () => {},
  );
}

/** Gets the result of a request, whichever node runs it. */
export async function join(parts: RequestParts, code: string, id: string): Promise<ToolResult> {
  const running = parts.state.running.get(requestKey(code, id));
  // Without a limit, `joinRequest` waits until there is a result.
  return (await (running ?? joinRequest(parts, code, id))) as ToolResult;
}
