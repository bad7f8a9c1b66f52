/**
 * Slots and locks. They bound concurrency, are fair between sessions, and never let a parent and
 * its child wait for each other.
 */

import { describe, type ToolError, toolError, withCause } from '../../../values/errors/index.ts';
import type { Semaphore } from '../../../values/limits/semaphore.ts';
import { ignoreRejection, isThenable } from '../../../values/maybe-promise.ts';
import type { Call, FoundCall } from '../call.ts';
import { freshParse } from '../fresh-parse.ts';
import { reportFault } from '../report-fault.ts';
import { giveBack, locksOf, releaseAll, sessionsOf, slotsOf } from '../session-limits.ts';
import type { CallSession } from '../session-port.ts';
import { shownNameOf } from '../shown.ts';
import type { Outcome, Step } from '../step.ts';

const defaultMaxQueued = 1_000;
const defaultQueueTimeoutMs = 30_000;

/** Takes the session's slot, the tool's slot and the resource locks, in this order. */
export function acquire(call: FoundCall): Step {
  // A call that comes back here for a slot must hold nothing else while it waits.
  releaseAll(call);
  giveBack(call);
  const key = keyOf(call);
  return key instanceof Promise
    ? key.then((settled) => takeAll(call, settled))
    : takeAll(call, key);
}

/** Why the call could not even wait for its slots and locks now. Takes none, for `explain`. */
export async function queueProblem(call: FoundCall): Promise<ToolError | undefined> {
  const { session } = call;
  const key = call.input === undefined ? undefined : await keyOf(call);
  if (typeof key === 'object') return key;
  const { slots, keys } = wantedBy(call, key);
  const wanted = [...slots, ...keys.map((one) => locksOf(session).get(one))];
  return wanted.every(({ isFree }) => isFree) ? undefined : fullQueue(session);
}

function takeAll(call: FoundCall, key: string | ToolError | undefined): Step {
  if (call.ended) return undefined;
  if (typeof key === 'object') return key;
  const { slots, keys } = wantedBy(call, key);
  return takeFrom(call, slots, 0, keys);
}

function wantedBy(
  call: FoundCall,
  key: string | undefined,
): { readonly slots: readonly Semaphore[]; readonly keys: readonly string[] } {
  const own = call.options?.resourceKey;
  // Both keys are taken, because a caller must not be able to leave out the tool's key. They are
  // sorted, so that two calls cannot each hold one and wait for the other.
  const keys =
    key === undefined
      ? own === undefined
        ? []
        : [own]
      : own === undefined || own === key
        ? [key]
        : [key, own].sort();
  const slots = slotsOf(call.session);
  if (call.entry.slots !== undefined) slots.push(call.entry.slots);
  return { slots, keys };
}

/** Looks up each lock when it is taken, since the table forgets locks that no call holds. */
function takeFrom(
  call: Call,
  wanted: readonly Semaphore[],
  from: number,
  keys: readonly string[],
): Step {
  for (let index = from; index < wanted.length + keys.length; index++) {
    const semaphore =
      index < wanted.length
        ? (wanted[index] as Semaphore)
        : locksOf(call.session).get(keys[index - wanted.length] as string);
    const waiting = takeOne(call, semaphore);
    if (waiting === undefined) continue;
    return waiting instanceof Promise
      ? waiting.then(
          (outcome) =>
            outcome ?? (call.ended ? undefined : takeFrom(call, wanted, index + 1, keys)),
        )
      : waiting;
  }
  return undefined;
}

function takeOne(call: Call, semaphore: Semaphore): Step {
  const { session } = call;
  let settle: (outcome: Outcome) => void = () => {};
  const ticket = semaphore.acquire(call, () => settle(undefined));
  if (ticket === true) {
    hold(call, semaphore);
    return undefined;
  }
  if (ticket === 'deadlock')
    return limited('deadlock', 'The call would wait for a slot that only its own callers hold.');
  const full = fullQueue(session);
  if (full !== undefined) {
    ticket.cancel();
    return full;
  }
  const queues = sessionsOf(session);
  for (const one of queues) one.calls.queued++;
  const timeoutMs = session.limits.queueTimeoutMs ?? defaultQueueTimeoutMs;
  const waiting = new Promise<Outcome>((resolve) => {
    settle = (outcome) => {
      for (const one of queues) one.calls.queued--;
      call.offEnd(leave);
      session.registry.waiting.deadlines.remove(deadline);
      if (outcome === undefined) hold(call, semaphore);
      resolve(outcome);
    };
  });
  const leave = (): void => {
    ticket.cancel();
    settle(toolError('cancelled', 'The call ended while it waited.'));
  };
  const deadline = {
    expire: () => {
      ticket.cancel();
      settle(limited('queue_timeout', `No slot became free within ${timeoutMs / 1000} s.`));
    },
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  call.onEnd(leave);
  session.registry.waiting.deadlines.add(deadline, timeoutMs, session.registry.monotonic());
  return waiting;
}

function fullQueue(session: CallSession): ToolError | undefined {
  for (const {
    limits,
    calls: { queued },
  } of sessionsOf(session)) {
    const limit = limits.maxQueuedCalls ?? defaultMaxQueued;
    if (queued >= limit)
      return limited('queue_full', `This session already has ${limit} calls waiting for a slot.`);
  }
  return undefined;
}

function limited(reason: 'deadlock' | 'queue_full' | 'queue_timeout', problem: string): ToolError {
  return reason === 'deadlock'
    ? toolError('rate_limited', `${problem} Call the tools one after another.`, {
        reason,
        retryable: false,
      })
    : toolError('rate_limited', `${problem} Try again later.`, { reason });
}

function hold(call: Call, semaphore: Semaphore): void {
  if (call.ended) {
    semaphore.release(call);
    return;
  }
  const { more } = call;
  more.holds ??= [];
  more.holds.push(semaphore);
}

function keyOf(
  call: FoundCall,
): string | ToolError | undefined | Promise<string | ToolError | undefined> {
  const { resourceKey } = call.entry.internals.execution;
  if (typeof resourceKey !== 'function') return resourceKey;
  const make = (input: unknown): string | ToolError => {
    try {
      const key: unknown = resourceKey(input);
      if (typeof key === 'string') return key;
      ignoreRejection(key);
      return unknownKey(
        call,
        new TypeError(
          'Expected `resourceKey` to return a string synchronously, got ' +
            `${isThenable(key) ? 'a promise' : describe(key)}.`,
        ),
      );
    } catch (error) {
      return unknownKey(call, error);
    }
  };
  try {
    const input = freshParse(call);
    return input instanceof Promise
      ? input.then(make, (error: unknown) => unknownKey(call, error))
      : make(input);
  } catch (error) {
    return unknownKey(call, error);
  }
}

/** Without its key the call cannot be kept apart from others, so it does not run. */
function unknownKey(call: Call, thrown: unknown): ToolError {
  reportFault(call, thrown, 'resourceKey', 'a resource key could not be determined');
  const error = toolError(
    'policy_error',
    `The resource key of \`${shownNameOf(call)}\` could not be determined, so the call did not ` +
      'run.',
    { reason: 'resource_key_failed', source: 'tool' },
  );
  return withCause(error, thrown);
}
