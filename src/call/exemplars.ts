/** Keeping the shapes of a call's objects known to the engine. */
import { Call } from '../state/call.ts';
import { HandlerContext } from './handler-context.ts';

/**
 * A call and a context that stand for nothing. A registry keeps them: an engine forgets the shape
 * of objects of which none is left after a collection, and the compiled code with it, which costs
 * the next ten thousand calls several times as much.
 */
export function exemplars(): readonly object[] {
  const call = new Call(undefined as never, '', '', undefined, undefined, undefined, undefined);
  call.startedAt = 0.5;
  call.dlAt = 0.5;
  return [call, new HandlerContext(call)];
}
