/**
 * Lets the observers that must record a call before it runs do so. If one of them fails, the call
 * is refused.
 */
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import type { FoundCall } from './call.ts';
import type { CallObserver } from './call-observers.ts';
import { recordOf } from './observed.ts';
import { reportFault } from './report-fault.ts';
import type { Outcome } from './step.ts';
import { answerInTime, tooLate } from './with-deadline.ts';

/**
 * Records the start. A call that waited for that is judged again and comes back here. It is
 * recorded again only if its input has changed meanwhile.
 */
export function recordStart(
  call: FoundCall,
  observers: readonly CallObserver[],
): MaybePromise<Outcome> {
  const { canonical, extra } = call;
  if (extra?.recorded === canonical) return undefined;
  if (extra?.hadRoom !== true)
    for (let index = 0; index < observers.length; index++) {
      const full = observers[index]?.moreRoom?.();
      if (full !== undefined) return whenRoomier(call, observers, index, full);
    }
  const asked = observers.filter(({ starting }) => starting !== undefined);
  if (asked.length === 0) return undefined;
  call.more.recorded = canonical;
  return askFrom(call, asked, 0);
}

/**
 * Calls that wait for nothing would leave the process no turn in which lines are written. A call
 * waits once: logs let in only as many calls as they have room for.
 */
async function whenRoomier(
  call: FoundCall,
  observers: readonly CallObserver[],
  from: number,
  first: Promise<void>,
): Promise<Outcome> {
  call.more.hadRoom = true;
  await first.catch(() => {});
  for (let index = from + 1; index < observers.length && !call.ended; index++)
    await observers[index]?.moreRoom?.()?.catch(() => {});
  return undefined;
}

function askFrom(
  call: FoundCall,
  observers: readonly CallObserver[],
  from: number,
): MaybePromise<Outcome> {
  for (let index = from; index < observers.length && !call.ended; index++) {
    try {
      const pending = (observers[index] as CallObserver).starting?.(recordOf(call, undefined));
      if (pending !== undefined) return later(call, observers, index, pending);
    } catch (error) {
      return unavailable(call, error);
    }
  }
  return undefined;
}

async function later(
  call: FoundCall,
  observers: readonly CallObserver[],
  index: number,
  pending: Promise<void>,
): Promise<Outcome> {
  const { policyTimeoutMs } = call.session.registry.settings;
  try {
    const settled = await answerInTime(call, pending, policyTimeoutMs);
    if (call.ended) return undefined;
    if (settled === tooLate)
      return unavailable(
        call,
        new Error(`The audit log did not record the call within ${policyTimeoutMs / 1_000} s.`),
      );
  } catch (error) {
    return call.ended ? undefined : unavailable(call, error);
  }
  return askFrom(call, observers, index + 1);
}

/** Why the start of the call could not be recorded now. Records nothing, for `explain`. */
export function recordProblem({ session }: FoundCall): ToolError | undefined {
  for (const { refuses } of session.registry.observers?.of(session) ?? []) {
    const cause = refuses?.();
    if (cause !== undefined) return unrecorded(cause);
  }
  return undefined;
}

function unavailable(call: FoundCall, cause: unknown): ToolError {
  reportFault(call, cause, 'audit', 'a call could not be recorded, so it was refused');
  return unrecorded(cause);
}

function unrecorded(cause: unknown): ToolError {
  return withCause(
    toolError(
      'policy_error',
      'The call was refused because it could not be recorded in the audit log. Try again later.',
      { reason: 'audit_unavailable', source: 'audit', retryable: true },
    ),
    cause,
  );
}
