/**
 * `tools/call` in the 2026 era. A call that asks its client is answered with its questions, and
 * goes on in the request that brings the answers; one that becomes a task goes on by itself.
 */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { ApprovalRequest, ToolSession } from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import {
  approvalKey,
  approvalQuestion,
  askingClient,
  type CallContext,
  offersForms,
  unshowable,
} from './asking.ts';
import { firstResult, responseIn } from './call.ts';
import type { Question } from './form-answers.ts';
import { OpenCall } from './open-call.ts';
import { isParkedState } from './parked-calls.ts';
import { knowsTasks, refuseUndeclared } from './required-capabilities.ts';
import {
  type CallRequest,
  calledTool,
  type KeptCalls,
  type Serving,
  shownResult,
  surfaceOf,
  type Tasks,
} from './serving.ts';

/** What a call may become. */
interface Modern {
  readonly serving: Serving;
  readonly request: CallRequest;
  readonly tool: string;
  readonly kept: KeptCalls | undefined;
  /** Undefined if the client does not know tasks. */
  readonly tasks: Tasks | undefined;
  readonly word: 'optional' | 'required' | undefined;
  /** Whether the client's user can be asked for approval. */
  readonly forms: boolean;
}

type InputRequests = NonNullable<InputRequiredResult['inputRequests']>;
type Answer = CallToolResult | InputRequiredResult;

/**
 * Runs the call, or goes on with it. Rejects for a violation of the protocol, and if the client
 * lacks a capability without which the tool cannot be called.
 */
export async function answerModern(
  serving: Serving,
  request: CallRequest,
  ctx: CallContext,
): Promise<Answer> {
  const { session, kept } = serving;
  const { capabilities } = request;
  const tool = calledTool(session, request.name);
  const modern: Modern = {
    serving,
    request,
    tool,
    kept,
    tasks: knowsTasks(capabilities) ? kept?.tasks : undefined,
    word: inspectSession(session).taskOf(tool),
    forms: serving.clientApproves && offersForms(capabilities),
  };
  const state: unknown = ctx.mcpReq.requestState();
  let call: OpenCall | undefined;
  if (isParkedState(state)) call = parkedCall(modern, state, ctx);
  else {
    const open = modern.forms ? await unanswered(session, ctx) : undefined;
    if (open !== undefined) return open;
    call = begin(modern, ctx);
  }
  try {
    return await answerOf(modern, call, ctx);
  } finally {
    call.detach();
  }
}

/** @throws ProtocolError for a state of no call */
function parkedCall({ serving, kept, tool }: Modern, state: string, ctx: CallContext): OpenCall {
  const { sdk } = serving;
  const call = kept?.parked.take(state, kept.owner, tool);
  if (call === undefined)
    throw new sdk.ProtocolError(
      sdk.INVALID_PARAMS,
      'No call waits for these answers: they came before, or too late, or the server was ' +
        'started again. Call the tool again.',
    );
  call.attach(ctx);
  call.answer(ctx.mcpReq.inputResponses);
  call.notify();
  return call;
}

function begin({ serving, request, kept }: Modern, ctx: CallContext): OpenCall {
  const { session } = serving;
  const call = new OpenCall(ctx.mcpReq.inputResponses);
  call.attach(ctx);
  const client =
    kept &&
    askingClient(session, request.capabilities, (method, params, key) =>
      call.ask(method, params, key),
    );
  const started = (): void => call.started();
  const surface = surfaceOf(serving, request, ctx, { client, started });
  const { signal } = call;
  const release = kept?.hold();
  call.run(() =>
    firstResult(serving, request, ctx, { waiting: call, signal, surface }).finally(release),
  );
  return call;
}

/** Waits until there is something to tell the client. */
async function answerOf(modern: Modern, call: OpenCall, ctx: CallContext): Promise<Answer> {
  const { serving, request, tasks, word, forms } = modern;
  const { session, sdk } = serving;
  const about = { serving, name: request.name, asks: forms };
  let left = tasks !== undefined && word !== undefined;
  const due = createDue(left ? tasks?.afterMs : undefined, () => call.notify());
  try {
    for (;;) {
      await call.next();
      if (call.fault !== undefined) throw call.fault.error;
      const { result } = call;
      if (result !== undefined) {
        refuseUndeclared(sdk, result, request.capabilities);
        const approval = result.success ? undefined : result.approval;
        if (approval?.token === undefined)
          return shownResult(session, result, forms || !serving.clientApproves);
        const task = await tasks?.suspended(approval, about);
        // The client's user is nobody whom the host has asked to sign in.
        const asks = forms && approval.approvers === undefined;
        const question = task ?? (asks ? askFor(approval, approval.token) : undefined);
        if (question !== undefined) return question as Answer;
        if (!asks) return shownResult(session, result, forms || !serving.clientApproves);
        resume(modern, call, ctx, approval.token);
        continue;
      }
      if (left && (due.isOver || (word === 'required' && call.isStarted))) {
        const task = await tasks?.run(call, about);
        if (task !== undefined) return task as Answer;
        // There is no room for a task, so the request waits.
        left = false;
      }
      const asked = call.questions();
      if (Object.keys(asked).length === 0) continue;
      const parked = park(modern, call, asked);
      if (parked !== undefined) return parked;
    }
  } finally {
    due.stop();
  }
}

/** Nobody can be shown what would run. */
function resume({ serving, request }: Modern, call: OpenCall, ctx: CallContext, token: string) {
  const { session } = serving;
  const surface = surfaceOf(serving, request, ctx, {});
  call.run(() => inspectSession(session).resume(token, unshowable, { surface }));
}

interface Due {
  readonly isOver: boolean;
  stop(): void;
}

/** When a call has taken so long that it becomes a task. */
function createDue(afterMs: number | undefined, ended: () => void): Due {
  const due = { isOver: false, stop: () => {} };
  if (afterMs === undefined) return due;
  const timer = setTimeout(() => {
    due.isOver = true;
    ended();
  }, afterMs);
  due.stop = () => clearTimeout(timer);
  return due;
}

/** The questions of a call, as a result, and the state by which the answers find the call. */
function park(
  { kept, tool }: Modern,
  call: OpenCall,
  asked: Readonly<Record<string, Question>>,
): InputRequiredResult | undefined {
  const owner = kept?.owner;
  const state =
    call.isOver || owner === undefined ? undefined : kept?.parked.park({ call, owner, tool });
  if (state === undefined) {
    call.refuse('Too many calls wait for answers of their clients. Try again later.');
    return undefined;
  }
  return {
    resultType: 'input_required',
    inputRequests: asked as InputRequests,
    requestState: state,
  };
}

/**
 * The result for an approval: the question, and the token that leads the answer to its call.
 * Undefined if the input cannot be shown.
 */
function askFor(approval: ApprovalRequest, token: string): InputRequiredResult | undefined {
  const question = approvalQuestion(approval);
  return (
    question && {
      resultType: 'input_required',
      inputRequests: { [approvalKey]: question as InputRequests[string] },
      requestState: token,
    }
  );
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
