/** Takes calls back for people at a page, in the sessions that have made them. */

import {
  isMisuseError,
  type RevertedCalls,
  type ToolResult,
  type ToolSession,
} from '../../core.ts';
import { inspectSession } from '../../extend.ts';
import { isJsonObject } from '../../values/json/index.ts';
import type { UndoOutcome } from './approvals-wire.ts';

/** Most calls that are named. */
const maxLeft = 100;

/**
 * Takes a call back, through all gates of the session. Waits for the end no longer than `waitMs`.
 * @param by The person who wants that, where one has signed in.
 * @param approval The question that allowed the call.
 */
export async function takeBack(
  session: ToolSession,
  callId: string,
  {
    surface,
    by,
    approval,
    waitMs,
  }: { surface: string; by?: string; approval?: string; waitMs: number },
): Promise<UndoOutcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  try {
    const taking = inspectSession(session).takeBack(callId, surface, by, approval);
    const result = await Promise.race([taking, late]);
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
