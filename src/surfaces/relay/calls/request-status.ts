/** Reports the status of a request to agents. */
import type { ToolResult } from '../../../core.ts';
import { giveUp, isUnanswered } from './request-conclude.ts';
import type { FoundRequest } from './request-documents.ts';
import { type FoundPair, findPair, isAnswered, joinRequest, lookAfter } from './request-join.ts';
import { isOwn, type RequestParts, requestKey } from './request-parts.ts';
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
