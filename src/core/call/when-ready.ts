/** Waits for what a handler needs to begin. */
import { errorName, type ToolError } from '../../values/errors/index.ts';
import type { FoundCall } from './call.ts';
import { reportFault } from './report-fault.ts';
import { thrownError } from './thrown-error.ts';

/** Takes the error of a call whose handler cannot begin. */
export type Failed = (call: FoundCall, error: ToolError) => void;

/** Waits, no longer than the handler may take. */
export function whenReady(
  call: FoundCall,
  ready: Promise<void>,
  failed: Failed,
): Promise<undefined> {
  startClock(call, call.session.registry.monotonic());
  return ready.then(
    () => {
      if (!call.ended) pauseClock(call);
      return undefined;
    },
    (thrown: unknown) => {
      if (!call.ended) failed(call, thrownError(call, thrown));
      // What stops because of the signal has not failed.
      else if (thrown !== call.extra?.outcome?.abortReason && errorName(thrown) !== 'AbortError')
        reportFault(call, thrown, 'handler', 'a handler threw after its call had ended');
      return undefined;
    },
  );
}

// The time that a handler has. What it waits for before it begins counts too.

/** Starts the deadline. @param now monotonic milliseconds */
export function startClock(call: FoundCall, now: number): void {
  const { binding, extra } = call;
  const asked = call.options?.timeoutMs;
  call.timeoutMs =
    asked !== undefined && asked < binding.status.timeoutMs ? asked : binding.status.timeoutMs;
  call.session.registry.waiting.deadlines.add(call, extra?.leftMs ?? call.timeoutMs, now);
}

/** Stops it until the handler begins, or has to be waited for again. */
function pauseClock(call: FoundCall): void {
  const { registry } = call.session;
  call.more.leftMs = Math.max(1, call.dlAt - registry.monotonic());
  registry.waiting.deadlines.remove(call);
}
