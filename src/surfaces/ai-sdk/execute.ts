/** Runs one call that the SDK makes through the session. */
import type { HostTool, Surface, ToolResult, ToolSession } from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { readArguments } from '../../values/json/value.ts';
import { givenArguments } from '../shared/payload.ts';
import { askAbout, takeAnswer, takeDenials } from './asked.ts';
import { isReplayed, userTexts } from './messages.ts';
import type { AiSdkCall } from './tool.ts';

/** State that is shared by the calls to one tool set. */
export interface Run {
  readonly session: ToolSession;
  readonly approvals: 'ours' | 'sdk';
  readonly surface: Surface;
  /**
   * The call ids of each model answer. The SDK passes the same messages to every call of an answer.
   */
  readonly seen: WeakMap<object, Set<string>>;
  /** The messages whose texts were reported to the session. */
  readonly heard: WeakSet<object>;
  /**
   * The SDK is version 7 or later, which has its own form for files. Version 6 knows only the older
   * form, which both read.
   */
  tagged: boolean;
}

/** Runs a call, or continues the one that was asked about. */
export async function execute(
  run: Run,
  { name }: Pick<HostTool, 'name'>,
  given: unknown,
  call: AiSdkCall,
): Promise<ToolResult> {
  const { session, approvals, surface } = run;
  const { toolCallId: callId, messages, abortSignal: signal } = call;
  run.tagged ||= 'experimental_sandbox' in call;
  observeUser(run, messages);
  const input = readArguments(givenArguments(given));
  if (approvals === 'sdk') {
    await takeDenials(session, messages ?? [], false);
    const answered = await takeAnswer(
      { session, surface, name, input, callId },
      isReplayed(messages, callId),
      signal,
    );
    if (answered !== undefined) return answered;
  }
  const options = { callId, signal, surface };
  return isRepeated(run, call)
    ? holding(session, callId, () => session.call(name, input, options))
    : session.call(name, input, options);
}

/**
 * Whether the session requires an approval. If it does, the call begins and waits for the answer.
 */
export async function needsApproval(
  run: Run,
  { name }: Pick<HostTool, 'name'>,
  given: unknown,
  { toolCallId: callId, messages }: AiSdkCall,
): Promise<boolean> {
  const { session, surface } = run;
  observeUser(run, messages);
  await takeDenials(session, messages ?? [], false);
  // `execute` accepts or refuses what the messages report as approved.
  if (isReplayed(messages, callId)) return true;
  const input = readArguments(givenArguments(given));
  const { decision, steps } = await session.explain(name, input);
  // A grant already answers the question.
  if (decision?.effect !== 'ask' || steps.some(({ stage }) => stage === 'approval')) return false;
  return askAbout({ session, surface, name, input, callId });
}

/** Remembers what the user wrote, for rules about origins. Each message is read once. */
function observeUser({ session, heard }: Run, messages: readonly unknown[] | undefined): void {
  if (messages === undefined) return;
  const view = inspectSession(session);
  if (!view.remembersTexts) return;
  for (const message of messages) {
    if (typeof message !== 'object' || message === null || heard.has(message)) continue;
    heard.add(message);
    for (const text of userTexts(message)) view.heard(text, 'user');
  }
}

/** Whether an earlier call of the same answer has the same id. */
function isRepeated({ seen }: Run, { messages, toolCallId }: AiSdkCall): boolean {
  if (messages === undefined) return false;
  const ids = seen.get(messages) ?? new Set<string>();
  seen.set(messages, ids);
  if (ids.has(toolCallId)) return true;
  ids.add(toolCallId);
  return false;
}

/**
 * Makes a call while its id is taken, so that it is refused as a duplicate even if the first call
 * has ended.
 */
function holding(
  session: ToolSession,
  callId: string,
  call: () => Promise<ToolResult>,
): Promise<ToolResult> {
  return inspectSession(session).withTakenId(callId, call);
}
