/**
 * Places of executors, such as a sandbox or an open connection. A call takes one before it is
 * judged for the last time, so that it waits for nothing afterwards.
 */
import type { ToolContext } from '../context.ts';
import type { JsonObject } from '../json/index.ts';
import type { Executor } from '../tool/executor.ts';

/** A place where one call can begin at once. */
export interface Place {
  /** It cannot be used any more, so the call needs another one. */
  readonly lost: boolean;
  /** Runs the call, and gives the place back. */
  run(input: JsonObject, context: ToolContext): Promise<unknown>;
  /** Gives the place back, instead of `run`. */
  release(): void;
}

/** Takes a place for a call. Rejects once the call has ended, or as `execute` would. */
export type TakePlace = (context: ToolContext) => Place | Promise<Place>;

const takers = new WeakMap<Executor, TakePlace>();

/** Lets the calls of an executor take their places before `execute`, which is then not called. */
export function offerPlaces(executor: Executor, take: TakePlace): void {
  takers.set(executor, take);
}

/** How the calls of an executor take their places. Undefined if they need none. */
export function placesOf(executor: Executor): TakePlace | undefined {
  return takers.get(executor);
}
