/** A use that a limit counts, in the same step as what it is a use of. */
import type { Refused } from '../ports/store.ts';
import type { StoreOp } from '../ports/store-ops.ts';

/** One use of a session's limit. */
export interface Use {
  readonly op: Extract<StoreOp, { readonly op: 'count' }>;
  /** The error for a use beyond the limit. @param retryAfterMs until its window ends */
  refusal(retryAfterMs: number): Error;
}

/** The operations of a step that counts a use first, if there is one to count. */
export function countedFirst(use: Use | undefined): readonly StoreOp[] {
  return use === undefined ? [] : [use.op];
}

/** @throws the refusal of the use if it was what did not fit */
export function checkUse(use: Use | undefined, { refused, retryAfterMs }: Refused): void {
  if (use !== undefined && refused === 0 && retryAfterMs > 0) throw use.refusal(retryAfterMs);
}
