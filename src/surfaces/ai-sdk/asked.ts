/**
 * Calls that the SDK was told to ask a person about. They stay with the session, under the model's
 * call id, until the SDK reports an answer.
 */
import type {
  ApprovalAnswer,
  ApprovalRequest,
  Surface,
  ToolResult,
  ToolSession,
} from '../../index.ts';
import { canonicalJson, cloneJson, copyJson, escapePointer, isJsonObject } from '../../json.ts';
import { resumeCall, stateOf } from '../../surface-port.ts';
import { reportedAnswers } from './messages.ts';

/** A call that was begun when the SDK asked whether it needs approval. */
interface AskedCall {
  readonly name: string;
  /** Canonical text of the input as the model sent it: what the SDK shows to the person. */
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

/** What is asked of which call. */
export interface Question {
  readonly session: ToolSession;
  /** How the session is told of the call. */
  readonly surface: Surface;
  /** The tool's name. */
  readonly name: string;
  readonly input: unknown;
  readonly callId: string;
}

/** More than a session ever has waiting; what a client abandoned is forgotten oldest first. */
const mostAsked = 1_000;
const tables = new WeakMap<ToolSession, Map<string, AskedCall>>();

function tableOf(session: ToolSession): Map<string, AskedCall> {
  const table = tables.get(session) ?? new Map<string, AskedCall>();
  tables.set(session, table);
  return table;
}

/**
 * Begins a call that the gates want asked about. True when it now waits for a person; false when it
 * ended without one: {@link takeAnswer} then has its result.
 */
export async function askAbout({
  session,
  surface,
  name,
  input,
  callId,
}: Question): Promise<boolean> {
  const table = tableOf(session);
  const text = inputText(input);
  const before = table.get(callId);
  // The SDK asks once a call id. A call that waits in this process keeps its id, whatever else
  // comes under it.
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
  // A call that the handler makes comes by the same surface. The SDK can ask nobody about it.
  const approver = (request: ApprovalRequest): ApprovalAnswer | Promise<ApprovalAnswer> =>
    request.callId === callId ? new Promise((resolve) => reach?.(resolve)) : withinAnother;
  const result = session.call(name, input, {
    callId,
    signal: stop.signal,
    surface: { ...surface, approver },
  });
  const first = await Promise.race([question, result]);
  const state: AskedCall['state'] =
    typeof first === 'function' ? { is: 'waiting', answer: first, result, stop } : endedAs(first);
  table.delete(callId);
  table.set(callId, { name, input: text, state });
  if (table.size > mostAsked) table.delete(table.keys().next().value as string);
  return state.is !== 'settled';
}

const withinAnother = Object.freeze({
  decision: 'reject_once',
  message: 'it was made by another tool, and nobody can be asked about such a call here.',
});

function endedAs(result: ToolResult): AskedCall['state'] {
  const token = result.success ? undefined : result.approval?.token;
  return token === undefined ? { is: 'settled', result } : { is: 'suspended', token };
}

/**
 * Runs what the SDK says was approved, exactly as it was asked. `replayed`: the SDK took the
 * approval out of its messages. Undefined for a call that nobody had to ask about. An approval of a
 * call that was never asked, or with another tool or input, runs nothing.
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
  // Somebody runs the tool without an answer. The call goes on waiting, and the gates say so.
  if (!replayed && asked.state.is !== 'settled') return undefined;
  // Whoever comes second finds nothing.
  table.delete(callId);
  const { state } = asked;
  const same = asked.name === name && asked.input === inputText(input);
  const answer = same ? 'allow_once' : otherwise;
  if (state.is === 'settled') return same || replayed ? state.result : undefined;
  if (state.is === 'suspended')
    return resumeCall(stateOf(session), state.token, answer, { surface });
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
    'the approval was given for another call than the one that was asked about. Call the tool ' +
    'again.',
});

/**
 * A call that another process, or another session object, suspended under the same session id and
 * principal.
 */
async function takeStored(question: Question): Promise<ToolResult> {
  const { session, surface, name, input, callId } = question;
  // A store that cannot be read holds no proof that anybody was asked.
  const pending = await session.approvals.pending().catch(() => []);
  const stored = pending.find((one) => one.callId === callId && one.token !== undefined);
  if (stored?.token === undefined) return refuse(question);
  const same =
    stored.tool.name === name &&
    isSame(stored.input, withDefaults(session, name, input), stored.hiddenFields, '');
  return resumeCall(stateOf(session), stored.token, same ? 'allow_once' : otherwise, { surface });
}

/** The input as the session would have stored it: a raw schema's defaults are part of it. */
function withDefaults(session: ToolSession, name: string, input: unknown): unknown {
  const schema = stateOf(session).entryOf(name)?.internals.input;
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000 });
  if (schema?.kind !== 'json' || !copy.ok) return input;
  const validated = schema.validate(cloneJson(copy.value));
  return validated instanceof Promise || validated.issues !== undefined ? input : validated.value;
}

/**
 * Whether both inputs are the same: a person who is shown one must not approve another, be it by
 * what is left out. What is hidden from the approver cannot be compared.
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
 * Nobody was asked. The call goes through the spine and is denied there, so that it is on the
 * record.
 */
async function refuse({ session, surface, name, input, callId }: Question): Promise<ToolResult> {
  const call = (): Promise<ToolResult> => session.call(name, input, { callId, surface });
  const { closed, registry } = stateOf(session);
  if (closed || registry.closed) return call();
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
    'The approval is of a call that nobody was asked about. It was not run; call the tool again.',
});

/** Tells the session what people refused: the SDK answers such calls itself and asks nobody. */
export async function takeDenials(
  session: ToolSession,
  messages: readonly unknown[],
  stored: boolean,
): Promise<void> {
  const table = tableOf(session);
  if (table.size === 0 && !stored) return;
  const denials = reportedAnswers(messages).filter(({ approved }) => !approved);
  if (denials.length === 0) return;
  const pending = stored ? await session.approvals.pending() : [];
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

/** Text by which two inputs are compared; what is no JSON is like nothing else. */
function inputText(input: unknown): string {
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000 });
  return copy.ok ? canonicalJson(copy.value) : `no JSON: ${copy.fault} at ${copy.path}`;
}
