/** The steps of a call, and what a stage returns. */
import type { ToolError } from '../../values/errors/index.ts';

/** Nothing if the call continues, or the error that ends it. */
export type Outcome = ToolError | undefined;
/**
 * What a stage returns: an outcome, now or later. A stage reads and writes the call's record. It
 * emits no terminal event and calls no other stage.
 */
export type Step = Outcome | Promise<Outcome>;

/**
 * The steps of a call after admission and lookup, in order; `spine.ts` runs them. A call that
 * waited continues at one of them. A call whose input a person edited, or whose rules changed, goes
 * back to one.
 */
export const steps = {
  /** Before hooks run once per call. */
  hooks: 0,
  validate: 1,
  /** The loop guard, then the decision of rules and policies. */
  judge: 2,
  approve: 3,
  acquire: 4,
  recheck: 5,
} as const;
