/** Giving back the slots and locks of a call. */
import type { Semaphore } from '../limits/semaphore.ts';
import type { Call } from '../state/call.ts';

/** Gives everything back. */
export function releaseAll(call: Call): void {
  const holds = call.extra?.holds;
  if (holds === undefined) return;
  (call.extra as { holds: undefined }).holds = undefined;
  for (let index = holds.length; index-- > 0; ) (holds[index] as Semaphore).release(call);
}
