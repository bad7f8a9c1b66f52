/** `tools/call`: one request makes one call through the session and gets one result. */
import { createHash } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Surface, ToolResult } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import {
  approvalAnswer,
  approvalKey,
  askingApprover,
  askingClient,
  type CallContext,
  offersForms,
  sendingVia,
} from './asking.ts';
import { follow, type Waiting } from './follow.ts';
import { type CallRequest, calledTool, type Serving, shownResult, surfaceOf } from './serving.ts';

/** Runs a call of the 2025 era. Rejects only for a violation of the protocol itself. */
export async function answerCall(
  serving: Serving,
  request: CallRequest,
  ctx: CallContext,
): Promise<CallToolResult> {
  const { session, exclusive } = serving;
  const { capabilities } = request;
  const forms = serving.clientApproves && offersForms(capabilities);
  const approver = forms ? askingApprover(ctx, exclusive, serving.asked) : undefined;
  const ended = new AbortController();
  const client = askingClient(session, capabilities, sendingVia(ctx, ended));
  const surface = surfaceOf(serving, request, ctx, { client, approver });
  const { signal } = ctx.mcpReq;
  try {
    let result = await firstResult(serving, request, ctx, { waiting: { ctx }, signal, surface });
    // A program may have several questions, one after the other.
    for (;;) {
      const approval = result.success ? undefined : result.approval;
      // The client's user is nobody whom the host has asked to sign in.
      const isForOthers = approval?.approvers !== undefined;
      if (approval?.token === undefined || approver === undefined || isForOthers)
        return shownResult(session, result, forms || !serving.clientApproves);
      const { token } = approval;
      // If the client fails to answer, the call stays suspended and can be answered elsewhere.
      const answer = await Promise.resolve(approver(approval, { signal })).catch(() => undefined);
      if (answer === undefined) return shownResult(session, result, false);
      result = await follow(session, { ctx }, request.logLevel, result.metadata.callId, () =>
        inspectSession(session).resume(token, answer, { signal, surface }),
      );
    }
  } finally {
    // Ends open questions of the call to the client.
    if (client !== undefined) ended.abort();
  }
}

/** How a call is run. */
interface Via {
  readonly waiting: Waiting;
  readonly signal: AbortSignal;
  readonly surface: Surface;
}

/** Makes the call, or resumes the one that the request's state names. */
export function firstResult(
  serving: Serving,
  { name: shownAs, input, logLevel }: CallRequest,
  ctx: CallContext,
  { waiting, signal, surface }: Via,
): Promise<ToolResult> {
  const { session, idPrefix } = serving;
  const { id, inputResponses } = ctx.mcpReq;
  const state: unknown = ctx.mcpReq.requestState();
  const name = calledTool(session, shownAs);
  if (typeof state !== 'string') {
    const callId = `${idPrefix}${idText(id)}`;
    return follow(session, waiting, logLevel, callId, () =>
      session.call(name, input, { callId, signal, surface }),
    );
  }
  const view = inspectSession(session);
  const claims = view.readToken(state);
  // An answer counts only for the call that was asked about, so it is void if it comes with the
  // name of another tool.
  const token =
    serving.clientApproves && (claims === undefined || claims.tool === name) ? state : '';
  const answer = approvalAnswer(responseIn(inputResponses), false);
  return follow(session, waiting, logLevel, claims?.callId ?? '', () =>
    view.resume(token, answer, { signal, surface }),
  );
}

/** The answer to the question. Only an own member counts as one. */
export function responseIn(responses: object | undefined): unknown {
  return responses !== undefined && Object.hasOwn(responses, approvalKey)
    ? (responses as Record<string, unknown>)[approvalKey]
    : undefined;
}

/**
 * A request's id as part of a call's id. An id with a slash would look like that of a child call,
 * and a long one would be repeated everywhere, so both are replaced by a hash.
 */
function idText(id: string | number): string {
  const text = String(id);
  if (typeof id === 'number' || !/^[\w.-]{1,64}$/.test(text))
    return typeof id === 'number'
      ? text
      : `#${createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, 32)}`;
  return `"${text}"`;
}
