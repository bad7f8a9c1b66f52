/** What went wrong in code that a coordinator calls and must survive. */

import { ignoreRejection } from '../../maybe-promise.ts';

/** A failure that was survived: of a hook, a contributor, a clean-up, or of the binding itself. */
export interface CoordinatorFault {
  /** Whose code failed; `binding` is the runtime's own. */
  readonly where: 'hook' | 'contributor' | 'cleanup' | 'binding';
  /** The handler's or contributor's name, the event, or empty. */
  readonly name: string;
  /** What was thrown or rejected with, as it was. */
  readonly error: unknown;
}

/** Is told of every failure that was survived. Its own throws are ignored. */
export type FaultListener = (fault: CoordinatorFault) => void;

/**
 * Wraps a listener so that it can never hurt the caller: neither by a throw nor by a promise that
 * rejects.
 */
export function safeFaultListener(listener: FaultListener | undefined): FaultListener {
  return (fault) => {
    try {
      ignoreRejection(listener?.(fault));
    } catch {
      // A listener that fails has nowhere to report it.
    }
  };
}
