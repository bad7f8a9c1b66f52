/** What a call may ask of the client behind its request. */
import type {
  ClientCapabilities,
  ElicitRequestFormParams,
  ServerContext,
} from '@modelcontextprotocol/server';
import { sanitizeText } from '../../../core/serialize.ts';
import type {
  ApprovalAnswer,
  ApprovalChoice,
  ApprovalRequest,
  Approver,
  JsonObject,
  JsonValue,
  SurfaceClient,
  ToolSession,
} from '../../../core.ts';
import { inspectSession } from '../../../extend.ts';
import { ignoreRejection } from '../../../values/maybe-promise.ts';
import { longestTimerMs } from '../../../values/options/index.ts';
import { shownOrigins } from '../../../values/text/question-words.ts';
import { approvalInput, shortLine, unshowableInput } from '../../shared/approval-input.ts';
import { expectedOf, loadForms, type Question } from './form-answers.ts';

/**
 * Longest wait for one answer, in milliseconds. The timeout of the call and the expiry of an
 * approval usually come first.
 */
const longestWaitMs = 600_000;

/** True if the client shows forms to its user. A bare `elicitation: {}` means forms. */
export function offersForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  return (
    elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  );
}

/** Asks the client. @param key the name of the answer, where the client answers by name */
export type Send = (
  method: 'elicitation/create' | 'sampling/createMessage',
  params: JsonObject,
  key?: string,
) => Promise<JsonObject>;

/** Asks over the request that a call came with. @param ended aborts when the call ends */
export function sendingVia(ctx: CallContext, ended: AbortController): Send {
  const options = { signal: ended.signal, timeout: longestWaitMs };
  return async (method, params) =>
    (await ctx.mcpReq.send({ method, params }, options)) as JsonObject;
}

/**
 * Makes `context.client`; undefined if the client offers neither forms nor sampling. What the user
 * writes into a form is remembered as said by the user, unless the form itself offered it.
 */
export function askingClient(
  session: ToolSession,
  capabilities: ClientCapabilities | undefined,
  send: Send,
): SurfaceClient | undefined {
  const forms = offersForms(capabilities);
  const sampling = capabilities?.sampling !== undefined;
  if (!forms && !sampling) return undefined;
  // A handler may leave before its answer, which then never comes. Nobody waits for that.
  const asked = <T>(answer: Promise<T>): Promise<T> => {
    ignoreRejection(answer);
    return answer;
  };
  const elicit = async ({ message, requestedSchema, key }: Elicitation): Promise<Elicited> => {
    const form = requestedSchema as JsonValue;
    const params = { message, requestedSchema: form };
    // Nobody is asked what cannot be checked.
    (await loadForms()).compileForm(form);
    const answer = await send('elicitation/create', params, key);
    const expected = expectedOf({ method: 'elicitation/create', params }, answer);
    if (expected !== undefined)
      throw new Error(`The client gave a wrong answer. Expected ${expected}.`);
    const { action, content } = answer as Elicited;
    if (action !== 'accept' || content === undefined) return { action };
    inspectSession(session).heard({ form, answers: content }, 'user');
    return { action, content };
  };
  return {
    ...(sampling
      ? {
          sample: (request: JsonObject) => asked(send('sampling/createMessage', request, 'sample')),
        }
      : {}),
    ...(forms ? { elicit: (request: Elicitation) => asked(elicit(request)) } : {}),
  };
}

type Elicitation = Parameters<NonNullable<SurfaceClient['elicit']>>[0];
type Elicited = Awaited<ReturnType<NonNullable<SurfaceClient['elicit']>>>;

/** Asks the client's user, over the request that the call came with. */
export function askingApprover(
  ctx: CallContext,
  always: boolean,
  asked?: (id: string | number, tool: string) => void,
): Approver {
  return async (request, { signal }) => {
    asked?.(ctx.mcpReq.id, request.tool.name);
    const form = approvalForm(request, always);
    if (form === undefined) return unshowable;
    const timeout = Math.max(1, Math.min(longestTimerMs, request.expiresAt - request.requestedAt));
    const answer = await ctx.mcpReq.send(
      { method: 'elicitation/create', params: { ...form } },
      { signal, timeout },
    );
    return approvalAnswer(answer, always);
  };
}

// An approval as an elicitation: the form for the client's user, and the meaning of the answer.

/** The key of the question among the inputs that a result asks for. */
export const approvalKey = 'approval';

const choices: readonly (readonly [ApprovalChoice, string])[] = [
  ['allow_once', 'Allow this call'],
  ['reject_once', 'Reject this call'],
  ['allow_always', 'Allow this call, and the same call later in this session'],
  ['reject_always', 'Reject this call, and the same call later in this session'],
];

/** The answer for a user who cannot be shown what would run. */
export const unshowable: ApprovalAnswer = Object.freeze({
  decision: 'reject_once',
  message: unshowableInput,
});

/**
 * The form; undefined if the input cannot be shown, so that the call must not be allowed.
 * @param always offers answers for later calls too. True only if no other client shares the
 * session.
 */
function approvalForm(
  request: ApprovalRequest,
  always: boolean,
): ElicitRequestFormParams | undefined {
  const input = approvalInput(request.input);
  if (input === undefined) return undefined;
  const offered = always ? choices : choices.slice(0, 2);
  return {
    message: messageOf(request, input),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: `Whether ${shown(request.tool.name)} may run with this input.`,
          oneOf: offered.map(([value, title]) => ({ const: value, title })),
        },
      },
      required: ['decision'],
    },
  };
}

/**
 * An approval as a question of the 2026 era; undefined if the input cannot be shown, or if the
 * client's user may not answer.
 */
export function approvalQuestion(approval: ApprovalRequest): Question | undefined {
  const form = approval.approvers === undefined ? approvalForm(approval, false) : undefined;
  return (
    form && {
      method: 'elicitation/create',
      params: { mode: 'form', ...form },
    }
  );
}

/** The user's choice. Anything but an offered choice counts as a rejection. */
export function approvalAnswer(result: unknown, always: boolean): ApprovalChoice {
  if (typeof result !== 'object' || result === null) return 'reject_once';
  // Only own members count: no user has answered what is inherited.
  const { action, content }: { action?: unknown; content?: unknown } = {
    action: undefined,
    content: undefined,
    ...result,
  };
  if (action !== 'accept' || typeof content !== 'object' || content === null) return 'reject_once';
  const decision: unknown = Object.hasOwn(content, 'decision')
    ? (content as { decision?: unknown }).decision
    : undefined;
  return (
    (always ? choices : choices.slice(0, 2)).find(([value]) => value === decision)?.[0] ??
    'reject_once'
  );
}

function messageOf(request: ApprovalRequest, input: string): string {
  const { title, risk, tool, source, ruleId, hiddenFields, program } = request;
  const { message, origins } = shownOrigins(request);
  const lines = [
    shown(title),
    ...(message === undefined ? [] : [shown(message)]),
    ...origins.map((sentence) => `Origin: ${shown(sentence)}`),
    `Tool: ${shown(tool.name)} (from ${shown(tool.source)})`,
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    `Asked by: ${shown(ruleId === undefined ? source : `${ruleId} (${source})`)}`,
    ...(hiddenFields.length === 0 ? [] : [`Hidden: ${shown(hiddenFields.join(', '))}`]),
    ...(program === undefined ? [] : programLines(program)),
    `Input: ${input}`,
  ];
  return lines.join('\n');
}

/** Which line of a program asks, and the program, if it has no secrets and there is room. */
function programLines({ source, line }: NonNullable<ApprovalRequest['program']>): string[] {
  const text = source === undefined ? undefined : approvalInput({ source });
  return [
    `Asked in: ${line === 0 ? 'a program' : `line ${line} of a program`}`,
    ...(text === undefined ? [] : [`Program: ${text}`]),
  ];
}

/** Puts a text on one line, so that it cannot imitate another line of the form. */
function shown(text: string): string {
  return sanitizeText(shortLine(text))
    .replaceAll(
      /(?!\ufe0f)[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu,
      '\u{fffd}',
    )
    .replaceAll(/\s+/gu, ' ');
}

/** The part of a request's context that a call uses. */
export interface CallContext {
  readonly mcpReq: Pick<
    ServerContext['mcpReq'],
    | 'id'
    | '_meta'
    | 'signal'
    | 'requestState'
    | 'inputResponses'
    | 'droppedInputResponseKeys'
    | 'envelope'
    | 'notify'
    | 'send'
  >;
  /** Missing where no token was asked for. */
  readonly http?: { readonly authInfo?: { readonly scopes: readonly string[] } } | undefined;
}
