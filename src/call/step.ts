/**
 * The steps of a call, and what a stage answers: nothing to go on, an error to end the call with,
 * or a promise of either.
 */
import type { ToolError } from '../errors.ts';

export type Outcome = ToolError | undefined;
/**
 * A stage reads and writes the call's record. It neither emits terminal events nor calls another
 * stage.
 */
export type Step = Outcome | Promise<Outcome>;

/**
 * The steps of a call, in order; `spine.ts` runs them. A call that waited goes on at one of them. A
 * call that a person edited, or during which rules changed, goes back to one.
 */
export const steps = {
  /** Admission, lookup and before hooks: these happen once. */
  arrive: 0,
  validate: 1,
  /** The loop guard, then the decision of rules and policies. */
  judge: 2,
  approve: 3,
  acquire: 4,
  recheck: 5,
} as const;
