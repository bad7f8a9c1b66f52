/**
 * Places of executors, such as a sandbox or an open connection. A call takes one before it is
 * judged for the last time, so that it waits for nothing afterwards.
 */

import type { ToolContext } from '../../api/context.ts';
import type { Executor } from '../../api/tool-config.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Holder, Waitable } from '../../values/limits/wait-graph.ts';

/** A place where one call can begin at once. */
export interface Place {
  /** It cannot be used any more, so the call needs another one. */
  readonly lost: boolean;
  /** Runs the call, and gives the place back. */
  run(input: JsonObject, context: ToolContext): Promise<unknown>;
  /** Gives the place back, instead of `run`. */
  release(): void;
}

/**
 * Takes a place for a call. Rejects once the call has ended, or as `execute` would.
 * @param free Called when the place is given back, if the number of places is known.
 */
export type TakePlace = (
  context: ToolContext,
  free: (() => void) | undefined,
) => Place | Promise<Place>;

/** The places of an executor. */
interface Places {
  readonly take: TakePlace;
  /** Undefined if the number of places is not known. */
  readonly holders: PlaceHolders | undefined;
}

/** The calls that have a place, in all registries. A call may wait for what its caller has. */
export class PlaceHolders implements Waitable {
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

const offered = new WeakMap<Executor, Places>();

/**
 * Lets the calls of an executor take their places before `execute`, which is then not called.
 * @param most The number of places, if calls wait while all are taken.
 */
export function offerPlaces(executor: Executor, take: TakePlace, most?: number): void {
  offered.set(executor, { take, holders: most === undefined ? undefined : new PlaceHolders(most) });
}

/** How the calls of an executor take their places. Undefined if they need none. */
export function placesOf(executor: Executor): Places | undefined {
  return offered.get(executor);
}
