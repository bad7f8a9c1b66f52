/**
 * Calls for which the SDK asks for an approval. The session keeps them, under the model's call id,
 * until the SDK reports an answer.
 */
import type {
  ApprovalAnswer,
  ApprovalRequest,
  Surface,
  ToolResult,
  ToolSession,
} from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
import { canonicalJson, copyJson, escapePointer, isJsonObject } from '../../values/json/index.ts';
import { reportedAnswers } from './messages.ts';

/** A call that began when the SDK asked whether it needs an approval. */
interface AskedCall {
  readonly name: string;
  /** The input as the model sent it and as the SDK shows it to the reviewer, as canonical text. */
  readonly input: string;
  readonly state:
    | {
        readonly is: 'waiting';
        readonly answer: (answer: ApprovalAnswer) => void;
        readonly result: Promise<ToolResult>;
        readonly stop: AbortController;
      }
    | { readonly is: 'suspended'; readonly token: string }
    | { readonly is: 'settled'; readonly result: ToolResult };
}

/** The call that a question is about. */
export interface Question {
  readonly session: ToolSession;
  /** The surface under which the session gets the call. */
  readonly surface: Surface;
  /** The tool's name. */
  readonly name: string;
  readonly input: unknown;
  readonly callId: string;
}

/**
 * Most calls per session. Beyond this, the oldest ones are forgotten, because their clients have
 * probably left.
 */
const maxAsked = 1_000;
const tables = new WeakMap<ToolSession, Map<string, AskedCall>>();

function tableOf(session: ToolSession): Map<string, AskedCall> {
  const table = tables.get(session) ?? new Map<string, AskedCall>();
  tables.set(session, table);
  return table;
}

/**
 * Begins a call that needs an approval. Resolves to true if the call now waits for a reviewer, and
 * to false if it ended without one; {@link takeAnswer} then returns its result.
 */
export async function askAbout(about: Question): Promise<boolean> {
  const { session, surface, name, input, callId } = about;
  const table = tableOf(session);
  const text = inputText(input);
  const before = table.get(callId);
  // The SDK asks once per call id. A call that waits in this process keeps its id, even if another
  // call comes with the same id.
  if (
    before?.state.is === 'waiting' ||
    (before?.state.is === 'suspended' && before.name === name && before.input === text)
  )
    return true;
  const stop = new AbortController();
  let reach: ((answer: (answer: ApprovalAnswer) => void) => void) | undefined;
  const question = new Promise<(answer: ApprovalAnswer) => void>((resolve) => {
    reach = resolve;
  });
  // A call that the handler makes has the same surface, but the SDK cannot ask about it.
  const approver = (request: ApprovalRequest): ApprovalAnswer | Promise<ApprovalAnswer> =>
    request.callId === callId ? new Promise((resolve) => reach?.(resolve)) : withinAnother;
  const result = session.call(name, input, {
    callId,
    signal: stop.signal,
    surface: { ...surface, approver },
  });
  const first = await Promise.race([question, result]);
  const state: AskedCall['state'] =
    typeof first === 'function'
      ? { is: 'waiting', answer: first, result, stop }
      : endedAs(first, callId);
  table.delete(callId);
  table.set(callId, { name, input: text, state });
  if (table.size > maxAsked) table.delete(table.keys().next().value as string);
  return state.is !== 'settled';
}

const withinAnother = Object.freeze({
  decision: 'reject_once',
  message: 'it was made by another tool, and such calls cannot be approved here.',
});

/**
 * The SDK shows this call to its reviewer, and not those that a program of it has made, nor those
 * that only certain people may answer.
 */
function endedAs(result: ToolResult, id: string): AskedCall['state'] {
  const { token, callId, approvers } = (result.success ? undefined : result.approval) ?? {};
  if (token === undefined || callId !== id || approvers !== undefined)
    return { is: 'settled', result };
  return { is: 'suspended', token };
}

/**
 * Runs a call that the SDK reports as approved, with the input that was asked about. Resolves to
 * undefined for a call that needed no approval. An approval of a call that was never asked about,
 * or that has a different tool or input, runs nothing.
 * @param replayed the SDK read the approval from its messages
 */
export async function takeAnswer(
  question: Question,
  replayed: boolean,
  signal: AbortSignal | undefined,
): Promise<ToolResult | undefined> {
  const { session, surface, name, input, callId } = question;
  const table = tableOf(session);
  const asked = table.get(callId);
  if (asked === undefined) return replayed ? takeStored(question) : undefined;
  // The tool is run without an answer. The call keeps waiting, and the session refuses this one.
  if (!replayed && asked.state.is !== 'settled') return undefined;
  // An answer counts once.
  table.delete(callId);
  const { state } = asked;
  const same = asked.name === name && asked.input === inputText(input);
  const answer = same ? 'allow_once' : otherwise;
  if (state.is === 'settled') return same || replayed ? state.result : undefined;
  if (state.is === 'suspended')
    return inspectSession(session).resume(state.token, answer, { surface });
  const { stop, result } = state;
  const abort = (): void => stop.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  state.answer(answer);
  try {
    return await result;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

const otherwise = Object.freeze({
  decision: 'reject_once',
  message:
    'the approval was given for a different call than the one that was asked about. Call the ' +
    'tool again.',
});

/**
 * Resumes a call that another process, or another session object, suspended under the same session
 * id and principal.
 */
async function takeStored(question: Question): Promise<ToolResult> {
  const { session, surface, name, input, callId } = question;
  const view = inspectSession(session);
  // If the store cannot be read, nothing proves that a reviewer was asked.
  const pending = await view.questions().catch(() => []);
  const stored = pending.find((one) => one.callId === callId && one.token !== undefined);
  if (stored?.token === undefined) return refuse(question);
  const same =
    stored.tool.name === name &&
    isSame(stored.input, withDefaults(session, name, input), stored.hiddenFields, '');
  return view.resume(stored.token, same ? 'allow_once' : otherwise, { surface });
}

/** The input as the session would have stored it, with the defaults of a raw schema. */
function withDefaults(session: ToolSession, name: string, input: unknown): unknown {
  const tool = inspectSession(session).definition(name);
  return tool === undefined ? input : inspectTool(tool).withDefaults(input);
}

/**
 * Whether both inputs are the same: a reviewer who is shown one input must not approve another one.
 * Fields that are hidden from the approver cannot be compared.
 */
function isSame(stored: unknown, sent: unknown, hidden: readonly string[], path: string): boolean {
  if (hidden.includes(path)) return true;
  if (Array.isArray(stored) && Array.isArray(sent))
    return (
      stored.length === sent.length &&
      stored.every((item: unknown, index) => isSame(item, sent[index], hidden, `${path}/${index}`))
    );
  if (!isJsonObject(stored) || !isJsonObject(sent)) return Object.is(stored, sent);
  const keys = Object.keys(stored);
  if (keys.length !== Object.keys(sent).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(sent, key) &&
      isSame(stored[key], sent[key], hidden, `${path}/${escapePointer(key)}`),
  );
}

/**
 * Denies a call about which no reviewer was asked. The session denies it, so that it is recorded.
 */
async function refuse({ session, surface, name, input, callId }: Question): Promise<ToolResult> {
  const call = (): Promise<ToolResult> => session.call(name, input, { callId, surface });
  if (inspectSession(session).closed) return call();
  const off = session.use({
    before: (begun) => (begun.callId === callId ? neverAsked : undefined),
  });
  try {
    return await call();
  } finally {
    off();
  }
}

const neverAsked = Object.freeze({
  action: 'deny',
  reason: 'approval_not_asked',
  message:
    'The approval is for a call that was never submitted for approval. The call did not run. ' +
    'Call the tool again.',
});

/** Reports rejected approvals to the session: the SDK answers such calls itself. */
export async function takeDenials(
  session: ToolSession,
  messages: readonly unknown[],
  stored: boolean,
): Promise<void> {
  const table = tableOf(session);
  if (table.size === 0 && !stored) return;
  const denials = reportedAnswers(messages).filter(({ approved }) => !approved);
  if (denials.length === 0) return;
  const pending = stored ? await inspectSession(session).questions() : [];
  for (const { toolCallId, reason } of denials) {
    const asked = table.get(toolCallId);
    const answer: ApprovalAnswer =
      reason === undefined ? 'reject_once' : { decision: 'reject_once', message: reason };
    const token =
      asked?.state.is === 'suspended'
        ? asked.state.token
        : pending.find(({ callId }) => callId === toolCallId)?.token;
    if (asked?.state.is === 'waiting') asked.state.answer(answer);
    else if (token !== undefined) await session.approvals.resume(token, answer);
    else continue;
    table.delete(toolCallId);
  }
}

/** The text by which inputs are compared. A value that is not JSON equals nothing else. */
function inputText(input: unknown): string {
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000 });
  return copy.ok ? canonicalJson(copy.value) : `no JSON: ${copy.fault} at ${copy.path}`;
}
