/** `tools/call`: one request makes one call through the session and gets one result. */
import { createHash } from 'node:crypto';
import type {
  CallToolResult,
  ClientCapabilities,
  InputRequiredResult,
} from '@modelcontextprotocol/server';
import type {
  ApprovalRequest,
  JsonObject,
  LogLevel,
  Surface,
  ToolResult,
  ToolSession,
  TraceContext,
} from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { listingOf } from '../../shared/listing.ts';
import { shownOutcome } from '../../shared/outcome.ts';
import {
  approvalAnswer,
  approvalForm,
  approvalKey,
  askingApprover,
  askingClient,
  type CallContext,
  offersForms,
  unshowable,
} from './asking.ts';
import { followCall, toCallToolResult } from './content.ts';
import { mcpDialect } from './list.ts';

/** What all calls of a server instance share. */
export interface Serving {
  readonly session: ToolSession;
  readonly era: 'legacy' | 'modern';
  readonly exposeErrors: 'message' | 'masked';
  /** True if no other client calls through the session. */
  readonly exclusive: boolean;
  /** True if the client's user answers approvals. */
  readonly clientApproves: boolean;
  /** Put before every call id, so that two clients of one session never use the same id. */
  readonly idPrefix: string;
  /** Called when the handler of a request begins. */
  begun?(id: string | number): void;
  /** Called when the call of a cancelled request has ended. Nothing answers such a request. */
  abandoned?(id: string | number): void;
}

/** The contents of a request. */
export interface CallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly capabilities: ClientCapabilities | undefined;
  readonly logLevel: LogThreshold;
}

/** The mildest level that the client wants; `off` if it asked for no messages. */
export type LogThreshold = LogLevel | 'critical' | 'alert' | 'emergency' | 'off';

/** Mildest first, in the order of the protocol. */
export const logLevels: readonly LogThreshold[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
  'off',
];

/** The tool of `host-tools/approvals` that returns the outcome of a suspended call. */
const outcomeTool = 'approval_outcome';

/** Runs the call. Rejects only for a violation of the protocol itself. */
export async function answerCall(
  serving: Serving,
  request: CallRequest,
  ctx: CallContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { session, era, exclusive } = serving;
  const { capabilities } = request;
  const forms = serving.clientApproves && offersForms(capabilities);
  const open = era === 'modern' && forms ? await unanswered(session, ctx) : undefined;
  if (open !== undefined) return open;
  const approver = era === 'legacy' && forms ? askingApprover(ctx, exclusive) : undefined;
  const ended = new AbortController();
  const client = era === 'legacy' ? askingClient(session, ctx, capabilities, ended) : undefined;
  const { known, shownName } = listingOf(session, mcpDialect);
  const called = known.get(request.name) ?? request.name;
  const surface: Surface = {
    name: 'mcp',
    outside: true,
    exposeErrors: serving.exposeErrors,
    client,
    approver,
    // The called tool keeps the name that the client used. Another name would reveal to an outsider
    // that a tool exists that it may not see.
    shownName: (name) => (name === called ? request.name : shownName(name)),
    // Its form is checked by those who read it.
    traceContext: ctx.mcpReq._meta as TraceContext | undefined,
  };
  try {
    const result = await firstResult(serving, request, ctx, surface);
    if (result.success || result.approval?.token === undefined || !forms)
      return shown(session, result, forms || !serving.clientApproves);
    const { approval } = result;
    const token = approval.token as string;
    const question = era === 'modern' ? askFor(approval, token) : undefined;
    if (question !== undefined) return question;
    // If the client fails to answer, the call stays suspended and can be answered elsewhere.
    const answer =
      approver === undefined
        ? unshowable
        : await Promise.resolve(approver(approval, { signal: ctx.mcpReq.signal })).catch(
            () => undefined,
          );
    if (answer === undefined) return shown(session, result, false);
    return shown(
      session,
      await follow(serving, ctx, request, result.metadata.callId, () =>
        inspectSession(session).resume(token, answer, { signal: ctx.mcpReq.signal, surface }),
      ),
      forms,
    );
  } finally {
    // Ends open questions of the call to the client.
    if (client !== undefined) ended.abort();
  }
}

/**
 * The result in the 2026 era: the question, and the token that leads the answer to its call.
 * Undefined if the input cannot be shown.
 */
function askFor(approval: ApprovalRequest, token: string): InputRequiredResult | undefined {
  const form = approvalForm(approval, false);
  if (form === undefined) return undefined;
  return {
    resultType: 'input_required',
    inputRequests: {
      [approvalKey]: { method: 'elicitation/create', params: { mode: 'form', ...form } },
    },
    requestState: token,
  };
}

/** The same question again, for a request that has the token but no answer to it. */
async function unanswered(
  session: ToolSession,
  { mcpReq }: CallContext,
): Promise<InputRequiredResult | undefined> {
  const token: unknown = mcpReq.requestState();
  if (typeof token !== 'string' || responseIn(mcpReq.inputResponses) !== undefined)
    return undefined;
  const pending = await inspectSession(session)
    .questions()
    .catch(() => []);
  const found = pending.find((one) => one.token === token);
  return found === undefined ? undefined : askFor(found, token);
}

/** The answer to the question. Only an own member counts as one. */
function responseIn(responses: object | undefined): unknown {
  return responses !== undefined && Object.hasOwn(responses, approvalKey)
    ? (responses as Record<string, unknown>)[approvalKey]
    : undefined;
}

/** Makes the call, or resumes the one that the request's state names. */
function firstResult(
  serving: Serving,
  request: CallRequest,
  ctx: CallContext,
  surface: Surface,
): Promise<ToolResult> {
  const { session, idPrefix } = serving;
  const { signal, id, inputResponses } = ctx.mcpReq;
  const state: unknown = ctx.mcpReq.requestState();
  const { known } = listingOf(session, mcpDialect);
  const name = known.get(request.name) ?? request.name;
  if (typeof state !== 'string') {
    const callId = `${idPrefix}${idText(id)}`;
    return follow(serving, ctx, request, callId, () =>
      session.call(name, request.input, { callId, signal, surface }),
    );
  }
  const view = inspectSession(session);
  const claims = view.readToken(state);
  // An answer counts only for the call that was asked about, so it is void if it comes with the
  // name of another tool.
  const token =
    serving.clientApproves && (claims === undefined || claims.tool === name) ? state : '';
  const answer = approvalAnswer(responseIn(inputResponses), false);
  return follow(serving, ctx, request, claims?.callId ?? '', () =>
    view.resume(token, answer, { signal, surface }),
  );
}

/** Sends progress and log messages while the call runs. All of them leave before the result. */
async function follow(
  { session }: Serving,
  ctx: CallContext,
  { logLevel }: CallRequest,
  callId: string,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  const sent: Promise<unknown>[] = [];
  const notify = (method: string, params: Record<string, unknown>): void => {
    // This fails if the client is gone; then the signal ends the call.
    sent.push(ctx.mcpReq.notify({ method, params }).catch(() => {}));
  };
  let last = Number.NEGATIVE_INFINITY;
  const threshold = logLevels.indexOf(logLevel);
  const stop =
    progressToken === undefined && logLevel === 'off'
      ? undefined
      : followCall(session, callId, {
          ...(progressToken === undefined
            ? {}
            : {
                progress(done, total, message) {
                  // The protocol requires each value to be higher than the one before.
                  if (!(done > last)) return;
                  last = done;
                  notify('notifications/progress', {
                    progressToken,
                    progress: done,
                    ...(total === undefined ? {} : { total }),
                    ...(message === undefined ? {} : { message }),
                  });
                },
              }),
          log(level, data, logger) {
            if (logLevels.indexOf(level) >= threshold)
              notify('notifications/message', { level, logger, data });
          },
        });
  try {
    return await run();
  } finally {
    stop?.();
    await Promise.all(sent);
  }
}

/** @param mayAsk false if the call waits because the client cannot ask its user */
function shown(session: ToolSession, result: ToolResult, mayAsk: boolean): CallToolResult {
  const declared = (
    result.success ? session.tool(result.metadata.toolName)?.outputSchema : undefined
  ) as JsonObject | undefined;
  const waits = !result.success && result.error.code === 'approval_pending';
  return toCallToolResult(
    shownOutcome(result, declared ?? false),
    waits ? pendingNote(session, result.approval?.id, mayAsk) : undefined,
  );
}

function pendingNote(session: ToolSession, id: string | undefined, mayAsk: boolean): string {
  const where =
    'A person must answer it in the host ' +
    `application${id === undefined ? '' : ` (approval ${id})`}, which then runs the call.`;
  const later =
    session.tool(outcomeTool) === undefined
      ? ''
      : ` \`${outcomeTool}\` with this id says later how it ended.`;
  return mayAsk
    ? where + later
    : `${where}${later} This client cannot ask its user, because it does not support elicitation.`;
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
