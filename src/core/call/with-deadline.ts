/** Waits for host code, for a bounded time and no longer than the call lives. */
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { Call } from './call.ts';
import { reportFault } from './report-fault.ts';

/** The result when no answer came in time. */
export const tooLate: unique symbol = Symbol('late');
type Late = typeof tooLate;

/**
 * The answer, or {@link tooLate} once the time is over or the call has ended. No timer is left
 * behind. Rejects as the answer does.
 */
export function answerInTime<T>(
  call: Call,
  answer: PromiseLike<T>,
  milliseconds: number,
): Promise<T | Late> {
  let stop = (): void => {};
  const ended = new Promise<Late>((resolve) => {
    stop = () => resolve(tooLate);
  });
  call.onEnd(stop);
  let waiting = true;
  // The call no longer waits for the answer, but the host must still learn of a failure.
  Promise.resolve(answer).then(undefined, (error: unknown) => {
    if (!waiting)
      reportFault(
        call,
        error,
        'gate',
        'host code failed after the call had stopped waiting for it',
      );
  });
  return withDeadline(
    Promise.race<T | Late>([answer, ended]),
    milliseconds,
    (): Late => tooLate,
  ).finally(() => {
    waiting = false;
    call.offEnd(stop);
  });
}
