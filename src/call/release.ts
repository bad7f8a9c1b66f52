/** Gives back the slots and locks of a call. */
import type { Call } from '../state/call.ts';

/** Releases everything that the call holds, what it acquired last first. */
export function releaseAll(call: Call): void {
  const { extra } = call;
  const holds = extra?.holds;
  if (extra === undefined || holds === undefined) return;
  extra.holds = undefined;
  for (const semaphore of holds.reverse()) semaphore.release(call);
}
