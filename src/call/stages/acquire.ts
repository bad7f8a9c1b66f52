/**
 * Slots and locks: bounded concurrency, fair between sessions, never a deadlock between a parent
 * and its child.
 */

import { describe, type ToolError, toolError, withCause } from '../../errors.ts';
import type { Semaphore } from '../../limits/semaphore.ts';
import { ignoreRejection, isThenable } from '../../maybe-promise.ts';
import type { Binding } from '../../state/binding.ts';
import type { Call } from '../../state/call.ts';
import { locksOf } from '../../state/session-limits.ts';
import { freshParse } from '../fresh-parse.ts';
import { releaseAll } from '../release.ts';
import { reportFault } from '../report-fault.ts';
import type { Outcome, Step } from '../step.ts';
import { toldName } from '../told-name.ts';

const defaultMaxQueued = 1_000;
const defaultQueueTimeoutMs = 30_000;

/**
 * Takes the session's slot, the tool's slot and the resource locks, in this order, waiting where it
 * must.
 */
export function acquire(call: Call): Step {
  const { slots } = (call.binding as Binding).entry;
  // A call that comes again, for a slot that there was none of before, must not wait for it with a
  // lock in its hands.
  releaseAll(call);
  const { slots: concurrency } = call.session;
  const key = keyOf(call);
  return key instanceof Promise
    ? key.then((settled) => takeAll(call, concurrency, slots, settled))
    : takeAll(call, concurrency, slots, key);
}

function takeAll(
  call: Call,
  concurrency: Semaphore | undefined,
  slots: Semaphore | undefined,
  key: string | ToolError | undefined,
): Step {
  if (call.ended) return undefined;
  if (typeof key === 'object') return key;
  const own = call.options?.resourceKey;
  // Both, since who sends a call cannot choose to leave the tool's key out; in one order for all,
  // so that two calls never hold one each.
  const keys =
    key === undefined
      ? own === undefined
        ? []
        : [own]
      : own === undefined || own === key
        ? [key]
        : [key, own].sort();
  const wanted: Semaphore[] = [];
  if (concurrency !== undefined) wanted.push(concurrency);
  if (slots !== undefined) wanted.push(slots);
  return takeFrom(call, wanted, 0, keys);
}

/** The lock is looked up at the moment it is taken: a table forgets keys that nobody holds. */
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
    return toolError(
      'rate_limited',
      'The call would wait for what only its own callers hold. Call the tools one after another.',
      {
        reason: 'deadlock',
        retryable: false,
      },
    );
  const limit = session.limits.maxQueuedCalls ?? defaultMaxQueued;
  if (session.queued >= limit) {
    ticket.cancel();
    return toolError(
      'rate_limited',
      `${limit} calls of this session are waiting already. Try again later.`,
      { reason: 'queue_full' },
    );
  }
  session.queued++;
  call.waited = true;
  const timeoutMs = session.limits.queueTimeoutMs ?? defaultQueueTimeoutMs;
  const waiting = new Promise<Outcome>((resolve) => {
    settle = (outcome) => {
      session.queued--;
      call.offEnd(leave);
      session.registry.deadlines.remove(deadline);
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
      settle(
        toolError(
          'rate_limited',
          `No slot came free within ${timeoutMs / 1000} s. Try again later.`,
          { reason: 'queue_timeout' },
        ),
      );
    },
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
  call.onEnd(leave);
  session.registry.deadlines.add(deadline, timeoutMs, session.registry.monotonic());
  return waiting;
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
  call: Call,
): string | ToolError | undefined | Promise<string | ToolError | undefined> {
  const { resourceKey } = (call.binding as Binding).entry.internals;
  if (typeof resourceKey !== 'function') return resourceKey;
  const make = (input: unknown): string | ToolError => {
    try {
      const key: unknown = resourceKey(input);
      if (typeof key === 'string') return key;
      ignoreRejection(key);
      return unknownKey(
        new TypeError(
          `Expected \`resourceKey\` to answer a string at once, got ` +
            `${isThenable(key) ? 'a promise' : describe(key)}.`,
        ),
      );
    } catch (error) {
      return unknownKey(error);
    }
  };
  // Without its key the call cannot be kept apart from others, so it does not run.
  const unknownKey = (thrown: unknown): ToolError => {
    reportFault(call, thrown, 'resourceKey', 'a resource key could not be worked out');
    const error = toolError(
      'policy_error',
      `The resource key of \`${toldName(call)}\` could not be worked out, so the call did not run.`,
      {
        reason: 'resource_key_failed',
        source: 'tool',
      },
    );
    return withCause(error, thrown);
  };
  try {
    const input = freshParse(call);
    return input instanceof Promise ? input.then(make, unknownKey) : make(input);
  } catch (error) {
    return unknownKey(error);
  }
}
