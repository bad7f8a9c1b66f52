/** A use that counts against a limit, in the same step as the operations that it is for. */
import type { Refused } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';

/** One use of a session's limit. */
export interface Use {
  readonly op: Extract<StoreOp, { readonly op: 'count' }>;
  /** The error for a use beyond the limit. @param retryAfterMs until its window ends */
  refusal(retryAfterMs: number): Error;
}

/** Makes the operations that a step begins with: the count of the use, if there is one. */
export function countedFirst(use: Use | undefined): readonly StoreOp[] {
  return use === undefined ? [] : [use.op];
}

/**
 * Checks whether the use was what the step was refused for.
 * @throws the refusal of the use
 */
export function checkUse(use: Use | undefined, { refused, retryAfterMs }: Refused): void {
  if (use !== undefined && refused === 0 && retryAfterMs > 0) throw use.refusal(retryAfterMs);
}
