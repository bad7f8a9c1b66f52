/**
 * Takes a place of an executor for a call, before the call is judged for the last time. The core
 * knows only the types, so that the code comes with the first executor that has places.
 */

import type { ToolContext } from '../../api/context.ts';
import type { Executor } from '../../api/tool-config.ts';
import { toolError } from '../../values/errors/index.ts';
import {
  closesCycle,
  endWait,
  type Holder,
  startWait,
  type Waitable,
} from '../../values/limits/wait-graph.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';
import type { FoundCall } from './call.ts';
import { offered, type Place } from './executor-places.ts';
import { HandlerContext } from './handler-context.ts';
import type { Step } from './step.ts';
import { thrownError } from './thrown-error.ts';
import { type Failed, whenReady } from './when-ready.ts';

/**
 * Takes a place for a call. Rejects once the call has ended, or as `execute` would.
 * @param free Called when the place is given back, if the number of places is known.
 */
export type TakePlace = (
  context: ToolContext,
  free: (() => void) | undefined,
) => Place | Promise<Place>;

/** The calls that have a place, in all registries. A call may wait for what its caller has. */
class PlaceHolders implements Waitable {
  readonly capacity: number;
  readonly #calls = new Set<Holder>();

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get held(): number {
    return this.#calls.size;
  }

  holders(): Iterable<Holder> {
    return this.#calls;
  }

  add(call: Holder): void {
    this.#calls.add(call);
  }

  delete(call: Holder): void {
    this.#calls.delete(call);
  }
}

/**
 * Lets the calls of an executor take their places before `execute`, which is then not called.
 * @param most The number of places, if calls wait while all are taken.
 *
 * @example
 * ```ts
 * import type { Executor } from 'host-tools';
 * import { offerPlaces } from 'host-tools/extend';
 *
 * declare const executor: Executor;
 * declare function connect(signal: AbortSignal): Promise<{ isOpen: boolean; close(): void }>;
 * offerPlaces(executor, async (context) => {
 *   const connection = await connect(context.signal);
 *   return {
 *     get lost() {
 *       return !connection.isOpen;
 *     },
 *     run: async (input, own) => executor.execute(input, own),
 *     release: () => connection.close(),
 *   };
 * });
 * ```
 */
export function offerPlaces(executor: Executor, take: TakePlace, most?: number): void {
  const holders = most === undefined ? undefined : new PlaceHolders(most);
  offered.set(executor, {
    prepare: (call, failed) => takePlace(call, take, holders, failed),
  });
}

function takePlace(
  call: FoundCall,
  take: TakePlace,
  holders: PlaceHolders | undefined,
  failed: Failed,
): Step {
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
  if (holders === undefined) return whenReady(call, taken.then(keep), failed);
  const { graph: waits } = call.session.registry.waiting;
  startWait(waits, call, holders);
  const isStuck = closesCycle(waits, call, holders);
  if (isStuck) endWait(waits, call);
  const kept = taken.then(keep);
  if (!isStuck)
    return whenReady(
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
