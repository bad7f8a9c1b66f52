/** Waiting for host code: within its time, and no longer than the call lives. */
import { withDeadline } from '../limits/with-deadline.ts';
import type { Call } from '../state/call.ts';
import { reportFault } from './report-fault.ts';

/** Stands for an answer that did not come. */
export const tooLate: unique symbol = Symbol('late');
type Late = typeof tooLate;

/**
 * What was answered, or {@link tooLate} when the time is over or the call has ended: then no timer
 * stays behind. Rejects as the answer does.
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
  // Nobody waits for it any more, but its failure is still the host's to know.
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
