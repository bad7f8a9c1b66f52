/**
 * Places of executors, such as a sandbox or an open connection. A call takes one before it is
 * judged for the last time, so that it waits for nothing afterwards.
 */

import type { ToolContext } from '../../api/context.ts';
import type { Executor } from '../../api/tool-config.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { FoundCall } from './call.ts';
import type { Step } from './step.ts';

/** A place where one call can begin at once. */
export interface Place {
  /** It cannot be used any more, so the call needs another one. */
  readonly lost: boolean;
  /** Runs the call, and gives the place back. */
  run(input: JsonObject, context: ToolContext): Promise<unknown>;
  /** Gives the place back, instead of `run`. */
  release(): void;
}

/** The places of an executor. */
interface Places {
  /** Takes one for a call. */
  prepare(call: FoundCall, failed: (call: FoundCall, error: ToolError) => void): Step;
}

/** Filled by the executors that have places. */
export const offered = new WeakMap<Executor, Places>();

/** How the calls of an executor take their places. Undefined if they need none. */
export function placesOf(executor: Executor): Places | undefined {
  return offered.get(executor);
}
