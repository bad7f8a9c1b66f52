/** Reports the status of a request to agents. */
import type { ToolResult } from '../../../index.ts';
import { giveUp, isUnanswered } from './request-conclude.ts';
import { findPair, isAnswered, joinRequest, lookAfter } from './request-join.ts';
import { isOwn, type RequestParts, requestKey } from './request-parts.ts';

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

/** Finds the status of a request. Undefined for an unknown request. */
export async function statusOf(
  parts: RequestParts,
  code: string,
  requestId: string,
): Promise<RequestStatus | undefined> {
  const pair = await findPair(parts, code, requestId);
  const { found, call } = pair;
  if (found === undefined) return undefined;
  const { status: written, result } = found.document;
  if (isUnanswered(parts, found.document)) {
    const given = await giveUp(parts, code, requestId, found);
    return given === undefined
      ? statusOf(parts, code, requestId)
      : { requestId, status: 'done', result: given };
  }
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
