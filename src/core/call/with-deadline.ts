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

/**
 * The answer of a store, within the registry's `policyTimeoutMs`; undefined if the call has ended.
 * @param store How the error names the store.
 * @param late Gets an answer that nobody waits for any more.
 * @throws Error if there was no answer in time, or what the store rejects with
 */
export async function answerOfStore<T>(
  call: Call,
  answer: PromiseLike<T>,
  store: string,
  late: (answer: T) => void,
): Promise<{ readonly answer: T } | undefined> {
  const { policyTimeoutMs } = call.session.registry.settings;
  const asked = Promise.resolve(answer).then((came) => ({ answer: came }));
  const got = await answerInTime(call, asked, policyTimeoutMs);
  if (got !== tooLate) return got;
  // Also in the turn in which the call ended.
  asked.then(
    (came) => late(came.answer),
    () => {},
  );
  if (call.ended) return undefined;
  throw new Error(`The ${store} did not answer within ${policyTimeoutMs / 1_000} s.`);
}
