/**
 * Waits for what the handler needs to begin: the handler of this session, a sandbox, a connection.
 * It is the last thing that a call waits for, so that the call can be judged after it.
 */

import { describe } from '../../../values/errors/index.ts';
import type { MadeHandler } from '../../tool/definition.ts';
import { disposalOf } from '../../tool/executors.ts';
import { type Binding, createSessionHandler, type SessionHandler } from '../binding.ts';
import type { FoundCall } from '../call.ts';
import { countLateSettle } from '../end-call.ts';
import { placesOf } from '../executor-places.ts';
import type { Step } from '../step.ts';
import { type Failed, whenReady } from '../when-ready.ts';

type Create = NonNullable<Binding['entry']['internals']['create']>;

export function prepare(call: FoundCall, failed: Failed): Step {
  const { create, executor } = call.binding.entry.internals;
  if (create !== undefined) return prepareHandler(call, create, failed);
  if (executor === undefined || call.extra?.place?.lost === false) return undefined;
  // An executor that is being disposed, since no tool used it for a moment, gets the call after it.
  const disposal = disposalOf(executor);
  if (disposal !== undefined) return whenReady(call, disposal, failed);
  return placesOf(executor)?.prepare(call, failed);
}

function prepareHandler(call: FoundCall, create: Create, failed: Failed): Step {
  const { binding } = call;
  binding.handler ??= createSessionHandler(binding.entry);
  const { handler } = binding;
  handler.made ??= make(call, handler, create);
  // If the call ends meanwhile, it keeps its slots for a while, since `create` goes on.
  call.handlerLive = true;
  const settled = (how: 'returned' | 'threw'): void => {
    call.handlerLive = false;
    if (call.ended) countLateSettle(call, how);
  };
  return whenReady(
    call,
    handler.made.then(
      () => settled('returned'),
      (thrown: unknown) => {
        settled('threw');
        throw thrown;
      },
    ),
    failed,
  );
}

/** Creates a session's handler, once. After a failure the next call tries again. */
function make(call: FoundCall, handler: SessionHandler, create: Create): Promise<MadeHandler> {
  const { callId: _callId, toolName: _toolName, ...info } = call.info();
  const { session } = call;
  session.retain();
  const made: Promise<MadeHandler> = Promise.resolve()
    .then(() => create(Object.freeze(info)))
    .then((one) => {
      if (typeof one !== 'object' || one === null || typeof one.handler !== 'function')
        throw new TypeError(
          `Expected \`create\` to return { handler, dispose? }, got ${describe(one)}.`,
        );
      if (handler.made === made) handler.now = one;
      return one;
    })
    .catch((error: unknown) => {
      if (handler.made === made) {
        handler.made = undefined;
        session.release();
      }
      throw error;
    });
  return made;
}
