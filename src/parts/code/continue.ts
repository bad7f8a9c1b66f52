/** Programs go on once the people whom they wait for have answered. */

import type { ToolResult } from '../../api/result.ts';
import type { Resumed } from '../../core/call/call.ts';
import { type ReadCallOptions, withSurface } from '../../core/call/call-options.ts';
import { takeTraceContext } from '../../core/call/call-tracers.ts';
import { callTool } from '../../core/call/spine.ts';
import type { ResumedCall } from '../../core/registry/ports.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { keptScopes } from '../../values/options/scope-names.ts';
import { type Look, leaseMs } from './agenda.ts';
import { answerOf } from './answers.ts';
import type { Head } from './head.ts';
import { type Journals, soonMs } from './journals.ts';
import { questionsOf } from './questions.ts';
import { pendingError } from './run-program.ts';

/**
 * Notes how a call of a program has ended that had waited for a person, and runs the program again
 * if it waits for no other.
 * @returns What has become of the program; undefined if the call is of none.
 */
export async function continueProgram(
  session: SessionState,
  journals: Journals,
  { callId, approvalId, result, via }: ResumedCall,
): Promise<{ readonly result: Promise<ToolResult> } | undefined> {
  const found = await journals.answered(session, callId, approvalId, answerOf(result));
  if (found === undefined) {
    // The program that has just asked may not have noted it yet.
    await journals.hasten(session, callId, soonMs);
    return undefined;
  }
  const { runId, head, waiting } = found;
  if (waiting > 0) return { result: stillPending(session, runId, head) };
  // Another process with a session that runs programs finds it.
  if (!runsPrograms(session, head)) return undefined;
  const running = runAgain(session, journals, runId, head, via);
  return {
    result: running.then(async (ended) => {
      if (ended.error?.reason === 'code_running') await journals.hasten(session, callId, soonMs);
      return ended;
    }),
  };
}

/** Runs a program again that is abandoned, or whose question has expired. */
export async function goOn(
  session: SessionState,
  journals: Journals,
  runId: string,
  head: Head,
): Promise<Look | undefined> {
  const again = session.registry.now() + leaseMs;
  if (!runsPrograms(session, head)) return { at: again, waits: false };
  const result = await runAgain(session, journals, runId, head, undefined);
  if (result.success) return undefined;
  const { error, approval } = result;
  // The program itself waits for a person now.
  if (error.code === 'approval_pending' && approval?.callId === runId)
    return { at: approval.expiresAt, waits: true };
  return { at: again, waits: false };
}

function runsPrograms(session: SessionState, { tool }: Head): boolean {
  return !session.closed && session.entryOf(tool)?.isProgram === true;
}

async function runAgain(
  session: SessionState,
  journals: Journals,
  runId: string,
  head: Head,
  via: ReadCallOptions | undefined,
): Promise<ToolResult> {
  const { tool, source, surface, scopes, approved, trace } = head;
  const entry = session.entryOf(tool);
  const resumed: Resumed | undefined = entry && {
    approvalId: approved?.id ?? '',
    answer: approved === null ? undefined : { ...allowed, by: approved.by ?? undefined },
    idempotencyKey: runId,
    fingerprint: entry.definition.fingerprint,
    source: entry.source,
    details: undefined,
    place: undefined,
    trace: takeTraceContext(trace),
  };
  const options = withSurface(via, surface ?? undefined, keptScopes(scopes));
  const result = await callTool(
    session,
    tool,
    { code: source },
    options,
    undefined,
    resumed,
    runId,
  );
  const { sessionId, principal } = session;
  // From now on, only its caller makes it go on.
  if (via?.signal?.aborted === true) await journals.agenda.drop({ sessionId, principal, runId });
  if (!result.success && refusals.has(result.error.code))
    await journals.end(session, runId, result);
  return result;
}

/** The program may not go on, so this is how it has ended. */
const refusals: ReadonlySet<string> = new Set(['policy_denied', 'approval_denied', 'tool_hidden']);

const allowed = {
  allowed: true,
  always: false,
  message: undefined,
  input: undefined,
  grant: undefined,
} as const;

/** The program still waits for others, so there is nothing to run. */
async function stillPending(
  session: SessionState,
  runId: string,
  { tool }: Head,
): Promise<ToolResult> {
  const all = await questionsOf(session);
  const questions = all.filter(({ callId }) => callId.startsWith(`${runId}/`));
  const result: ToolResult = {
    success: false,
    error: pendingError(questions),
    metadata: { callId: runId, toolName: tool, status: 'pending', attempt: 2, durationMs: 0 },
  };
  const [question] = questions;
  if (question !== undefined)
    Object.defineProperty(result, 'approval', { value: question, enumerable: false });
  return result;
}
