/** The time that a handler has. What it waits for before it begins counts too. */
import type { FoundCall } from './call.ts';

/** Starts the deadline. @param now monotonic milliseconds */
export function startClock(call: FoundCall, now: number): void {
  const { binding, extra } = call;
  const asked = call.options?.timeoutMs;
  call.timeoutMs = asked !== undefined && asked < binding.timeoutMs ? asked : binding.timeoutMs;
  call.session.registry.deadlines.add(call, extra?.leftMs ?? call.timeoutMs, now);
}

/** Stops it until the handler begins, or has to be waited for again. */
export function pauseClock(call: FoundCall): void {
  const { registry } = call.session;
  call.more.leftMs = Math.max(1, call.dlAt - registry.monotonic());
  registry.deadlines.remove(call);
}
