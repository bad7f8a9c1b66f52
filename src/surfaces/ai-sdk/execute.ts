/** One call that the SDK brings to a tool, through the session. */
import type { HostTool, Surface, ToolResult, ToolSession } from '../../index.ts';
import { idsInFlight, readArguments, stateOf } from '../../surface-port.ts';
import { askAbout, takeAnswer, takeDenials } from './asked.ts';
import { isReplayed } from './messages.ts';
import type { AiSdkCall } from './tool.ts';

/** What the calls of one tool set share. */
export interface Run {
  readonly session: ToolSession;
  readonly approvals: 'ours' | 'sdk';
  readonly surface: Surface;
  /**
   * Call ids that were seen of each model answer; the SDK hands every call of one the same
   * messages.
   */
  readonly seen: WeakMap<object, Set<string>>;
  /**
   * Version 7 or later called. Files are shown to it as it wants them; version 6 knows only the
   * older form, which both read.
   */
  tagged: boolean;
}

/** Runs the call, or takes the answer of the one that was asked about. */
export async function execute(
  run: Run,
  { name }: HostTool,
  given: unknown,
  call: AiSdkCall,
): Promise<ToolResult> {
  const { session, approvals, surface } = run;
  const { toolCallId: callId, messages, abortSignal: signal } = call;
  run.tagged ||= 'experimental_sandbox' in call;
  const input = readArguments(given);
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
  return standsTwice(run, call)
    ? holding(session, callId, () => session.call(name, input, options))
    : session.call(name, input, options);
}

/** Whether a person must be asked, by the session's gates; begins the call where that is so. */
export async function needsApproval(
  { session, surface }: Run,
  { name }: HostTool,
  given: unknown,
  { toolCallId: callId, messages }: AiSdkCall,
): Promise<boolean> {
  await takeDenials(session, messages ?? [], false);
  // What the messages say was approved is for `execute` to take or to refuse. Nothing is asked on
  // their word.
  if (isReplayed(messages, callId)) return true;
  const input = readArguments(given);
  const { decision, steps } = await session.explain(name, input);
  // A standing answer meets the question.
  if (decision?.effect !== 'ask' || steps.some(({ stage }) => stage === 'approval')) return false;
  return askAbout({ session, surface, name, input, callId });
}

/** Whether the model gave two calls of one answer the same id. */
function standsTwice({ seen }: Run, { messages, toolCallId }: AiSdkCall): boolean {
  if (messages === undefined) return false;
  const ids = seen.get(messages) ?? new Set<string>();
  seen.set(messages, ids);
  if (ids.has(toolCallId)) return true;
  ids.add(toolCallId);
  return false;
}

/**
 * Makes a call while its id is taken, also where the first of that id has ended: it is refused as a
 * duplicate.
 */
function holding(
  session: ToolSession,
  callId: string,
  call: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const state = stateOf(session);
  state.ids ??= idsInFlight(state);
  const free = !state.ids.has(callId);
  if (free) state.ids.set(callId, undefined);
  const result = call();
  if (free) state.ids.delete(callId);
  return result;
}
