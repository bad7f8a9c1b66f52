/** Failures of code that a coordinator calls and must survive. */

import { ignoreRejection } from '../../values/maybe-promise.ts';

/**
 * A failure of a hook, a contributor, a clean-up or the binding itself. The coordinator continues
 * after it.
 */
export interface CoordinatorFault {
  /** The code that failed; `binding` is the runtime's own. */
  readonly where: 'hook' | 'contributor' | 'cleanup' | 'binding';
  /** The name of the handler or contributor, or the event; empty if there is none. */
  readonly name: string;
  /** The value that was thrown or rejected with, unchanged. */
  readonly error: unknown;
}

/** Called for every such failure. Errors that it throws itself are ignored. */
export type FaultListener = (fault: CoordinatorFault) => void;

/**
 * Wraps a listener so that it cannot affect the caller if it throws or returns a promise that
 * rejects.
 */
export function safeFaultListener(listener: FaultListener | undefined): FaultListener {
  return (fault) => {
    try {
      ignoreRejection(listener?.(fault));
    } catch {
      // A failing listener cannot be reported anywhere.
    }
  };
}
