/** What a stage answers: nothing to go on, an error to end the call with, or a promise of either. */
import type { ToolError } from '../errors.ts';

export type Outcome = ToolError | undefined;
/** A stage reads and writes the call's record. It neither emits terminal events nor calls another stage. */
export type Step = Outcome | Promise<Outcome>;
