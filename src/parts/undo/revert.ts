/** `session.revert`: takes a call back, or the calls that it has made. */

import type { ToolResult } from '../../api/result.ts';
import type { RevertedCalls } from '../../api/undo.ts';
import { noOptions } from '../../core/call/call-options.ts';
import { callTool } from '../../core/call/spine.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { codes, type ToolError } from '../../values/errors/index.ts';
import { checkOption, text } from '../../values/options/index.ts';
import { alreadyReverted, revertRan, unavailable, unknownCall } from './refusals.ts';
import { suffix } from './revert-tool.ts';
import type { Undo } from './undo.ts';
import { callsOf, type FoundCall, findCall } from './undone-in.ts';

const where = 'session.revert';

/**
 * Takes a call back by the `revert` of its tool. Of a call without one, the calls that it has made
 * are taken back, the last one first; a program is such a call. It stops at the first one that
 * cannot be taken back now.
 * @throws (rejects with) MisuseError `invalid_option`, `closed`.
 */
export async function revert(
  session: SessionState,
  undo: Undo,
  callId: string,
): Promise<ToolResult> {
  checkOption(where, 'callId', callId, text(1, 1_024));
  session.checkOpen('take a call back');
  let found: FoundCall | undefined;
  let made: readonly FoundCall[] = [];
  try {
    // Those that have just ended, of any session.
    await Promise.all(undo.saving.values());
    found = await findCall(undo.asked, session, callId);
    if (found === undefined) made = await callsOf(undo.asked, session, callId);
  } catch (error) {
    session.registry.hostFault(
      error,
      { sessionId: session.sessionId, source: 'undo' },
      'what is kept of calls could not be read',
    );
    return refused(callId, '', unavailable(error));
  }
  if (found !== undefined) return takeBack(session, found);
  return made.length === 0
    ? refused(callId, '', unknownCall(callId))
    : takeAllBack(session, callId, made);
}

function takeBack(session: SessionState, { kept, caller }: FoundCall): Promise<ToolResult> {
  const { callId, tool, state, shown } = kept;
  const name = `${tool}${suffix}`;
  // Nobody is asked about a call that cannot be taken back any more.
  if (state !== 'kept')
    return Promise.resolve(
      refused(callId, name, state === 'reverted' ? alreadyReverted(callId) : revertRan(callId)),
    );
  const input = { callId, sessionId: caller.sessionId, input: shown };
  return callTool(session, name, input, inside);
}

const inside = Object.freeze({ ...noOptions, inside: true });

async function takeAllBack(
  session: SessionState,
  callId: string,
  made: readonly FoundCall[],
): Promise<ToolResult> {
  const start = session.registry.monotonic();
  const reverted: string[] = [];
  for (const one of made) {
    if (one.kept.state === 'reverted') continue;
    const result = await takeBack(session, one);
    if (!result.success) return result;
    reverted.push(one.kept.callId);
  }
  if (reverted.length === 0) return refused(callId, '', alreadyReverted(callId));
  const output: RevertedCalls = { reverted };
  const durationMs = Math.max(0, session.registry.monotonic() - start);
  const metadata = { callId, toolName: '', status: 'succeeded', attempt: 1, durationMs } as const;
  return { success: true, output, metadata };
}

function refused(callId: string, toolName: string, error: ToolError): ToolResult {
  const { status } = codes[error.code];
  return {
    success: false,
    error,
    metadata: { callId, toolName, status, attempt: 1, durationMs: 0 },
  };
}
