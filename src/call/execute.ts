/** Runs a call on its executor, and keeps whether its handler can have begun. */
import type { ToolContext } from '../context.ts';
import { cloneJson } from '../json/index.ts';
import type { FoundCall } from '../state/call.ts';
import { disposalOf } from '../state/executors.ts';
import type { Executor } from '../tool/executor.ts';
import { HandlerContext } from './handler-context.ts';

/**
 * Runs the call. An executor that is being disposed, since no tool used it for a moment, gets the
 * call afterwards.
 */
export function execute(call: FoundCall, executor: Executor): Promise<unknown> {
  const run = (): Promise<unknown> =>
    executor.execute(cloneJson(call.canonical), new HandlerContext(call));
  const disposal = disposalOf(executor);
  if (disposal === undefined) return run();
  return beforeHandler(new HandlerContext(call), disposal).then(() =>
    call.ended ? undefined : run(),
  );
}

/**
 * Waits for what the handler needs to begin. If the call ends meanwhile, its error says that the
 * tool has not run. So the executor must not begin it then: it checks that after this has resolved.
 */
export async function beforeHandler<T>(
  context: Pick<ToolContext, 'signal'>,
  ready: Promise<T>,
): Promise<T> {
  const call = HandlerContext.callOf(context);
  if (call === undefined) return ready;
  call.more.unbegun = true;
  try {
    return await ready;
  } finally {
    call.more.unbegun = false;
  }
}
