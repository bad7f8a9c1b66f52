/** Gives back what a call holds. */
import type { Call } from './call.ts';

/** Releases its place, slots and locks, what it acquired last first. */
export function releaseAll(call: Call): void {
  const { extra } = call;
  if (extra === undefined) return;
  const { holds, place } = extra;
  extra.place = undefined;
  place?.release();
  if (holds === undefined) return;
  extra.holds = undefined;
  for (const semaphore of holds.reverse()) semaphore.release(call);
}
