/**
 * Applies a person's answer to a call that waits for approval. The call continues on the node that
 * gets the answer.
 */
import {
  type ApprovalAnswer,
  isMisuseError,
  type Surface,
  type ToolResult,
  type ToolSession,
} from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import type { RequestDocument, SessionDocument } from '../ports/documents.ts';
import { relayError } from '../relay-error.ts';
import type { FoundRequest } from './request-documents.ts';
import { joinRequest } from './request-join.ts';
import type { RequestParts } from './request-parts.ts';
import { runRequest } from './request-run.ts';
import type { RequestStatus } from './request-status.ts';

/** Answers a call that waits for approval; undefined if no such call is waiting. */
export type Decide = (
  document: SessionDocument,
  approvalId: string,
  answer: ApprovalAnswer,
) => Promise<(RequestStatus & { readonly approvalId: string }) | undefined>;

/**
 * Answers a call that waits for approval.
 * @throws RelayError 400 `invalid_decision`; the approval is then still open
 */
export async function decideRequest(
  parts: RequestParts,
  document: SessionDocument,
  approvalId: string,
  answer: ApprovalAnswer,
): ReturnType<Decide> {
  const { live } = parts;
  const entry = await live.get(document);
  const release = entry.retain();
  let work: Promise<unknown> = Promise.resolve();
  try {
    const { session } = entry;
    const view = inspectSession(session);
    const findQuestion = async () => (await view.questions()).find(({ id }) => id === approvalId);
    const asked = await findQuestion();
    if (asked === undefined) return undefined;
    const isAsked = async () => (await findQuestion()) !== undefined;
    checkAnswer(session, answer);
    const { callId, token } = asked;
    const [requestId, found] = await requestOf(parts, document.code, callId);
    if (token === undefined)
      return session.approvals.answer(approvalId, answer)
        ? { approvalId, requestId, status: 'queued' }
        : undefined;
    const resume = (surface: Surface, signal?: AbortSignal): Promise<ToolResult> =>
      view.resume(token, answer, { surface, signal });
    if (found?.document.cancelled === true) return undefined;
    let passed = (): void => {};
    const gates = new Promise<undefined>((resolve) => {
      passed = () => resolve(undefined);
    });
    // A call from another surface, such as MCP, has no request document, so its result is returned
    // here.
    let resumed: Promise<ToolResult>;
    if (found === undefined || found.document.status === 'done')
      resumed = resume({ name: 'relay', outside: true, exposeErrors: 'masked', started: passed });
    else {
      const own = await takeInTurn(parts, document.code, requestId, found, isAsked);
      if (own === undefined) return undefined;
      resumed = runRequest(parts, {
        session: document,
        id: requestId,
        found: own,
        call: (_, surface, signal) => resume(surface, signal),
        passed,
      });
    }
    work = resumed;
    const result = await Promise.race([resumed, gates]);
    return {
      approvalId,
      requestId,
      ...(result === undefined ? { status: 'running' } : { status: 'done', result }),
    };
  } finally {
    work.then(release, release);
  }
}

/** The request that made a call, itself or by a program, and its id. */
async function requestOf(
  { documents }: RequestParts,
  code: string,
  callId: string,
): Promise<readonly [id: string, found: FoundRequest | undefined]> {
  const found = await documents.find(code, callId);
  const [, runId] = /^(.*)\/\d+$/s.exec(callId) ?? [];
  if (found !== undefined || runId === undefined) return [callId, found];
  const ofProgram = await documents.find(code, runId);
  return ofProgram === undefined ? [callId, undefined] : [runId, ofProgram];
}

/** Takes the request over once no other call of its program is being answered. */
async function takeInTurn(
  parts: RequestParts,
  code: string,
  requestId: string,
  found: FoundRequest,
  isAsked: () => Promise<boolean>,
): Promise<FoundRequest | undefined> {
  let next = found;
  for (;;) {
    const own = await takeForResume(parts, code, requestId, next);
    if (own !== undefined || !(await isAsked())) return own;
    const { requestTimeoutMs } = parts.settings;
    const result = await joinRequest(parts, code, requestId, requestTimeoutMs);
    const after = await parts.documents.find(code, requestId);
    const isOver = after?.document.status === 'done' || after?.document.cancelled === true;
    if (result === undefined || after === undefined || isOver || !(await isAsked()))
      return undefined;
    next = after;
  }
}

/** Takes over the request and marks it as answered. Undefined if another node has taken it over. */
async function takeForResume(
  { documents, lease, settings: { store, node } }: RequestParts,
  code: string,
  requestId: string,
  { document, version: before }: FoundRequest,
): Promise<FoundRequest | undefined> {
  // The approval was answered a moment ago and the call is running. A request that waits for
  // another approval has a result again.
  if (document.resumed === true && document.result === undefined) return undefined;
  const { result: _pending, ...rest } = document;
  const next: RequestDocument = { ...rest, resumed: true, node };
  await lease.begin();
  await store.schedule([{ owner: code, key: requestId }], lease.leaseMs);
  const version = await documents.write(code, requestId, next, before);
  return version === undefined ? undefined : { document: next, version };
}

/**
 * Checks an answer against the session's limits. Its form was checked with the request's body. An
 * answer that is too large is the sender's mistake and does not use up the approval.
 */
function checkAnswer(session: ToolSession, answer: ApprovalAnswer): void {
  try {
    inspectSession(session).checkAnswer(answer);
  } catch (error) {
    if (isMisuseError(error))
      throw relayError(400, 'invalid_decision', error.message, { cause: error });
    throw error;
  }
}
