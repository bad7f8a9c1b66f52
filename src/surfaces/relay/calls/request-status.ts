/** Reports the status of a request to agents. */
import type { ToolResult } from '../../../core.ts';
import type { RequestDocument } from '../ports/documents.ts';
import { unansweredResult, unkeptResult } from './lost-result.ts';
import type { FoundRequest, RequestDocuments } from './request-documents.ts';
import { type FoundPair, findPair, isAnswered, joinRequest, lookAfter } from './request-join.ts';
import { isOwn, type RequestParts, requestKey, warn } from './request-parts.ts';
import { busy } from './session-document.ts';

/** The status of a request. */
export interface RequestStatus {
  readonly requestId: string;
  readonly status: 'queued' | 'running' | 'done';
  readonly result?: ToolResult;
}

/**
 * Milliseconds that an agent that asks for the status waits for the result, if the application's
 * answer is already stored.
 */
const answeredMs = 900;

/** The most tries to end a request whose approval was not answered. Other nodes may do so too. */
const maxTries = 20;

/**
 * Finds the status of a request. Undefined for an unknown request.
 * @throws RelayError 503 `busy`
 */
export async function statusOf(
  parts: RequestParts,
  code: string,
  requestId: string,
): Promise<RequestStatus | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const { found, call } = await findPair(parts, code, requestId);
    if (found === undefined) return undefined;
    if (!isUnanswered(parts, found.document))
      return statusIn(parts, code, requestId, { found, call });
    const result = await giveUp(parts, code, requestId, found);
    if (result !== undefined) return { requestId, status: 'done', result };
  }
  throw busy();
}

async function statusIn(
  parts: RequestParts,
  code: string,
  requestId: string,
  pair: FoundPair & { readonly found: FoundRequest },
): Promise<RequestStatus> {
  const { found, call } = pair;
  const { status: written, result } = found.document;
  if (written === 'done') return { requestId, status: 'done', ...(result && { result }) };
  if (isAnswered(pair) && !isOwn(parts, code, requestId)) {
    const soon = await joinRequest(parts, code, requestId, answeredMs);
    if (soon !== undefined) return { requestId, status: 'done', result: soon };
  } else await lookAfter(parts, code, requestId, found);
  // A call to a relayed tool is running once an application has received it.
  const runs =
    call === undefined
      ? parts.state.started.has(requestKey(code, requestId))
      : call.document.attempt > 0;
  return { requestId, status: runs ? 'running' : written };
}

// Ends a request: stores its result and wakes the callers that wait for it.

/** After so many takeovers, a result that cannot be stored is replaced by an error that says so. */
const maxTaken = 3;

/**
 * Stores the result.
 * @returns undefined when another node has taken over the request, and with it the call
 */
export async function conclude(
  parts: RequestParts,
  code: string,
  id: string,
  found: FoundRequest,
  result: ToolResult,
): Promise<ToolResult | undefined> {
  const { documents, hub, calls } = parts;
  const { node: _node, ...waiting } = found.document;
  const isPending = !result.success && result.error.code === 'approval_pending';
  const waitsUntil = isPending ? result.approval?.expiresAt : undefined;
  if (isPending) {
    const document: RequestDocument = {
      ...waiting,
      status: 'queued',
      result,
      ...(waitsUntil && { waitsUntil }),
    };
    if ((await documents.write(code, id, document, found.version)) === undefined) return undefined;
    await lookAgain(parts, code, id, waitsUntil);
    hub.wake(code, `request:${id}`);
    // The call is not ended here. It may be approved and begin before the store has ended it.
    return result;
  }
  const finished = await finish(parts, code, id, found, result);
  if (finished === false) return undefined;
  if (!finished.callEnded)
    calls
      .end(code, id, endingOf(result))
      .catch((error: unknown) => warn(parts, error, 'relay: a call could not be closed'));
  return result;
}

/**
 * Stores the final result. A result that cannot be stored, for example in a full store, must not
 * leave its request running forever.
 */
async function finish(
  { documents, calls, settings: { now } }: RequestParts,
  code: string,
  id: string,
  found: FoundRequest,
  result: ToolResult,
): ReturnType<RequestDocuments['finish']> {
  const ending = calls.ending(code, id);
  try {
    return await documents.finish(code, id, found, result, ending);
  } catch (error) {
    const { taken = 0, tool, createdAt } = found.document;
    if (taken < maxTaken) throw error;
    const unkept = unkeptResult(id, tool, now() - createdAt);
    return documents.finish(code, id, found, unkept, ending);
  }
}

/** Schedules another look at a request for when the time to answer its approval is over. */
export function lookAgain(
  { settings: { store, now } }: RequestParts,
  code: string,
  id: string,
  waitsUntil: number | undefined,
): Promise<void> {
  const item = { owner: code, key: id };
  return waitsUntil === undefined
    ? store.schedule([], 0, [item])
    : store.schedule([item], Math.max(1, Math.ceil(waitsUntil - now())));
}

/** True when the time for the approval of a request has passed without an answer. */
export function isUnanswered(
  { settings: { now } }: RequestParts,
  { status, result, waitsUntil }: RequestDocument,
): boolean {
  return (
    status !== 'done' && result !== undefined && waitsUntil !== undefined && waitsUntil <= now()
  );
}

/** Ends a request that is {@link isUnanswered}. */
export function giveUp(
  parts: RequestParts,
  code: string,
  id: string,
  found: FoundRequest,
): Promise<ToolResult | undefined> {
  return conclude(parts, code, id, found, unansweredResult(id, found.document));
}

/** Chooses the reason that the application gets for an unanswered call. */
function endingOf(result: ToolResult): string {
  const code = result.success ? undefined : result.error.code;
  return code === 'timeout' || code === 'cancelled' ? code : 'executor_lost';
}
