/**
 * Waits for what the handler needs to begin: the handler of this session, a sandbox, a connection.
 * It is the last thing that a call waits for, so that the call can be judged after it.
 */

import type { Executor } from '../../../api/tool-config.ts';
import { describe, errorName, type ToolError, toolError } from '../../../values/errors/index.ts';
import { closesCycle, endWait, startWait } from '../../../values/limits/wait-graph.ts';
import { ignoreRejection } from '../../../values/maybe-promise.ts';
import type { MadeHandler } from '../../tool/definition.ts';
import { disposalOf } from '../../tool/executors.ts';
import { type Place, type PlaceHolders, placesOf } from '../../tool/places.ts';
import { type Binding, createSessionHandler, type SessionHandler } from '../binding.ts';
import type { FoundCall } from '../call.ts';
import { pauseClock, startClock } from '../clock.ts';
import { countLateSettle } from '../end-call.ts';
import { HandlerContext } from '../handler-context.ts';
import { reportFault } from '../report-fault.ts';
import type { Step } from '../step.ts';
import { thrownError } from '../thrown-error.ts';

/** Takes the error of a call whose handler cannot begin. */
type Failed = (call: FoundCall, error: ToolError) => void;
type Create = NonNullable<Binding['entry']['internals']['create']>;

export function prepare(call: FoundCall, failed: Failed): Step {
  const { create, executor } = call.binding.entry.internals;
  if (create !== undefined) return prepareHandler(call, create, failed);
  return executor === undefined ? undefined : preparePlace(call, executor, failed);
}

function prepareHandler(call: FoundCall, create: Create, failed: Failed): Step {
  const { binding } = call;
  binding.handler ??= createSessionHandler(binding.entry);
  const { handler } = binding;
  handler.made ??= make(call, handler, create);
  // If the call ends meanwhile, it keeps its slots for a while, since `create` goes on.
  call.handlerLive = true;
  const settled = (how: 'returned' | 'threw'): void => {
    call.handlerLive = false;
    if (call.ended) countLateSettle(call, how);
  };
  return within(
    call,
    handler.made.then(
      () => settled('returned'),
      (thrown: unknown) => {
        settled('threw');
        throw thrown;
      },
    ),
    failed,
  );
}

/** Creates a session's handler, once. After a failure the next call tries again. */
function make(call: FoundCall, handler: SessionHandler, create: Create): Promise<MadeHandler> {
  const { callId: _callId, toolName: _toolName, ...info } = call.info();
  const { session } = call;
  session.retain();
  const made: Promise<MadeHandler> = Promise.resolve()
    .then(() => create(Object.freeze(info)))
    .then((one) => {
      if (typeof one !== 'object' || one === null || typeof one.handler !== 'function')
        throw new TypeError(
          `Expected \`create\` to return { handler, dispose? }, got ${describe(one)}.`,
        );
      if (handler.made === made) handler.now = one;
      return one;
    })
    .catch((error: unknown) => {
      if (handler.made === made) {
        handler.made = undefined;
        session.release();
      }
      throw error;
    });
  return made;
}

function preparePlace(call: FoundCall, executor: Executor, failed: Failed): Step {
  if (call.extra?.place?.lost === false) return undefined;
  // An executor that is being disposed, since no tool used it for a moment, gets the call after it.
  const disposal = disposalOf(executor);
  if (disposal !== undefined) return within(call, disposal, failed);
  const places = placesOf(executor);
  if (places === undefined) return undefined;
  const { take, holders } = places;
  // A place that was lost is not given back.
  holders?.delete(call);
  const free = holders === undefined ? undefined : () => holders.delete(call);
  const keep = (place: Place): void => {
    holders?.add(call);
    if (call.ended) place.release();
    else call.more.place = place;
  };
  let place: Place | Promise<Place>;
  try {
    place = take(new HandlerContext(call), free);
  } catch (thrown) {
    failed(call, thrownError(call, thrown));
    return undefined;
  }
  if (place instanceof Promise) return waitFor(call, place, holders, keep, failed);
  keep(place);
  return undefined;
}

/** Waits for a place, unless those that have one wait for this call. */
function waitFor(
  call: FoundCall,
  taken: Promise<Place>,
  holders: PlaceHolders | undefined,
  keep: (place: Place) => void,
  failed: Failed,
): Step {
  if (holders === undefined) return within(call, taken.then(keep), failed);
  const { waits } = call.session.registry;
  startWait(waits, call, holders);
  const isStuck = closesCycle(waits, call, holders);
  if (isStuck) endWait(waits, call);
  const kept = taken.then(keep);
  if (!isStuck)
    return within(
      call,
      kept.finally(() => endWait(waits, call)),
      failed,
    );
  // It leaves the queue when the call ends.
  ignoreRejection(kept);
  return deadlockError;
}

const deadlockError = toolError(
  'rate_limited',
  'The call would wait for a place on its executor, and the calls that have one wait for each ' +
    'other. Call the tools one after another.',
  { reason: 'deadlock', retryable: false },
);

/** Waits, no longer than the handler may take. */
function within(call: FoundCall, ready: Promise<void>, failed: Failed): Promise<undefined> {
  startClock(call, call.session.registry.monotonic());
  return ready.then(
    () => {
      if (!call.ended) pauseClock(call);
      return undefined;
    },
    (thrown: unknown) => {
      if (!call.ended) failed(call, thrownError(call, thrown));
      // What stops because of the signal has not failed.
      else if (thrown !== call.extra?.abortReason && errorName(thrown) !== 'AbortError')
        reportFault(call, thrown, 'handler', 'a handler threw after its call had ended');
      return undefined;
    },
  );
}
