/** Reports the status of a request to agents. */
import type { ToolResult } from '../../index.ts';
import { giveUp, isUnanswered } from './request-conclude.ts';
import { type RequestParts, requestKey } from './request-parts.ts';

/** The status of a request. */
export interface RequestStatus {
  readonly requestId: string;
  readonly status: 'queued' | 'running' | 'done';
  readonly result?: ToolResult;
}

/** Finds the status of a request. Undefined for an unknown request. */
export async function statusOf(
  parts: RequestParts,
  code: string,
  requestId: string,
): Promise<RequestStatus | undefined> {
  const { documents, calls, state } = parts;
  const [found, call] = await Promise.all([
    documents.find(code, requestId),
    calls.find(code, requestId),
  ]);
  if (found === undefined) return undefined;
  const { status: written, result } = found.document;
  if (isUnanswered(parts, found.document)) {
    const given = await giveUp(parts, code, requestId, found);
    return given === undefined
      ? statusOf(parts, code, requestId)
      : { requestId, status: 'done', result: given };
  }
  if (written === 'done') return { requestId, status: 'done', ...(result && { result }) };
  // A call to a relayed tool is running once an application has received it.
  const runs = call?.delivered ?? state.started.has(requestKey(code, requestId));
  return { requestId, status: runs ? 'running' : written };
}
