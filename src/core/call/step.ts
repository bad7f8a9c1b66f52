/** The steps of a call once its tool is known: what they return, and the places that they have. */

import type { ToolError } from '../../values/errors/index.ts';
import type { FoundCall } from './call.ts';
import type { ToolGates } from './ports.ts';

/** Nothing if the call continues, or the error that ends it. */
export type Outcome = ToolError | undefined;

/** An outcome, or the place that the call goes back to. */
export type Next = Outcome | GoTo;

/** What a step returns, now or later. */
export type Step = Next | Promise<Next>;

/** The places of steps, in order. */
export const places = {
  /** Before hooks run once per call. */
  hooks: 0,
  validation: 1,
  loopGuard: 2,
  policy: 3,
  approval: 4,
  slots: 5,
  recheck: 6,
  // A call that waits after its recheck is judged again.
  start: 7,
  handler: 8,
  audit: 9,
  run: 10,
} as const;
export type Place = (typeof places)[keyof typeof places];

/**
 * One step. It reads and writes the call's record. It emits no terminal event and runs no other
 * step.
 */
export interface CallStep {
  readonly place: Place;
  readonly run: (call: FoundCall) => Step;
  /** What {@link run} would say, for `explain`. Changes nothing. */
  readonly attempt?: ToolGates['tryStart'];
}

/** Sends a call back: its input was edited, its rules have changed, or it needs its slots again. */
export class GoTo {
  readonly place: Place;

  private constructor(place: Place) {
    this.place = place;
  }

  static readonly validation = new GoTo(places.validation);
  static readonly approval = new GoTo(places.approval);
  static readonly slots = new GoTo(places.slots);
  static readonly recheck = new GoTo(places.recheck);
}
