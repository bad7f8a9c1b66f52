/** Objects that keep the shapes of a call known to the engine. */
import { Call, type FoundCall } from './call.ts';
import { HandlerContext } from './handler-context.ts';

/**
 * A call and a context that are never used. An engine forgets the shape of objects, and the code
 * compiled for it, when a garbage collection leaves none of them. The next ten thousand calls would
 * then cost several times as much, so a registry keeps these.
 */
export function exemplars(): readonly object[] {
  const call = new Call(undefined as never, '', '', undefined, undefined, undefined, undefined);
  call.startedAt = 0.5;
  call.dlAt = 0.5;
  return [call, new HandlerContext(call as FoundCall)];
}
