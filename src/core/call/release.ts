/** Gives back what a call holds. */
import type { Call, FoundCall } from './call.ts';

/** Lets parts take back what the call has reserved, since its handler does not start now. */
export function giveBack(call: FoundCall): void {
  for (const release of call.session.registry.ports.release) release(call);
}

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
