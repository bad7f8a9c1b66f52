/** Takes calls back for people at a page, in the sessions that have made them. */

import type { ToolResult } from '../../api/result.ts';
import type { RevertedCalls } from '../../api/undo.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { isMisuseError } from '../../core.ts';
import { isJsonObject } from '../../values/json/index.ts';
import type { UndoOutcome } from '../pages/undo-wire.ts';

type RevertVia = (
  session: SessionState,
  callId: string,
  via: { readonly surface: string; readonly by?: string | undefined },
) => Promise<ToolResult>;

/** Most calls that are named. */
const maxLeft = 100;

/** Whether calls of a tool can be taken back in a session. */
export function isReversible(session: SessionState, tool: string): boolean {
  return (
    session.registry.ports.sessionMethods.has('revertVia') &&
    session.entryOf(tool)?.internals.revert !== undefined
  );
}

/**
 * Takes a call back, through all gates of the session. Waits for the end no longer than `waitMs`.
 * @param by The person who wants that, where one has signed in.
 */
export async function takeBack(
  session: SessionState,
  callId: string,
  { surface, by, waitMs }: { surface: string; by?: string | undefined; waitMs: number },
): Promise<UndoOutcome> {
  const revert = session.registry.ports.sessionMethods.get('revertVia') as RevertVia | undefined;
  if (revert === undefined || session.closed)
    return { status: 'rejected', message: 'The session of the call is not open here any more.' };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    const result = await Promise.race([revert(session, callId, { surface, by }), late]);
    return result === undefined ? { status: 'running' } : outcomeOf(result);
  } catch (error) {
    if (isMisuseError(error)) return { status: 'rejected', message: error.message };
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function outcomeOf(result: ToolResult): UndoOutcome {
  const { status, toolName } = result.metadata;
  // What the `revert` of a tool returns is the host's own, and may look like this.
  const isOfCalls = toolName === '';
  if (result.success) return { status, ...(isOfCalls ? doneOf(result.output) : {}) };
  const { code, reason, message, details } = result.error;
  const isPart = isJsonObject(details) && Object.hasOwn(details, 'stoppedAt');
  return {
    status,
    code,
    ...(reason === undefined ? {} : { reason }),
    message,
    ...(isOfCalls || isPart ? doneOf(details) : {}),
  };
}

function doneOf(value: unknown): Pick<UndoOutcome, 'reverted' | 'left'> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'left')) return {};
  const { reverted, left } = value as RevertedCalls;
  return { reverted: reverted.length, left: left.slice(0, maxLeft) };
}
