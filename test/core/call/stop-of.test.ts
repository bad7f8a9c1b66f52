/** What executors of this package follow in place of a signal. */
import { expect, test } from 'vitest';
import { type Stop, stopOf } from '../../../src/core/call/stop-of.ts';
import { defineTool, HostToolRegistry, type ToolContext } from '../../../src/index.ts';
import { gate } from './world.ts';

/** A call that waits until it is let go, and what its executor follows. */
function waiting() {
  const held = gate();
  const follows: { stop: Stop; context: ToolContext; told: number }[] = [];
  const registry = new HostToolRegistry();
  registry.register(
    defineTool({
      name: 't',
      description: 'Waits.',
      parameters: { type: 'object' },
      executor: {
        execute: async (_, context) => {
          const one = { stop: stopOf(context), context, told: 0 };
          one.stop.watch(() => one.told++);
          follows.push(one);
          await held.promise;
          return 'done';
        },
      },
    }),
  );
  const session = registry.createSession({ sessionId: 's' });
  return { session, held, one: async () => follows[0] as (typeof follows)[number] };
}

test('a call that is cancelled is stopped, with the reason that its signal has', async () => {
  const { session, one } = waiting();
  const controller = new AbortController();
  const call = session.call('t', {}, { signal: controller.signal });
  const { stop, context } = await one();
  expect(stop.stopped).toBe(false);
  const reason = new Error('No longer needed.');
  controller.abort(reason);
  await call;
  expect([stop.stopped, stop.reason, (await one()).told]).toEqual([true, reason, 1]);
  expect(context.signal.reason).toBe(reason);
});

test('a stop without a reason has that of a signal without one', async () => {
  const { session, held, one } = waiting();
  const call = session.call('t', {});
  const { stop } = await one();
  stop.unwatch(() => {});
  held.open();
  await call;
  // Whoever still follows a call that has ended well was left behind by its executor.
  expect(stop.stopped).toBe(true);
  expect(stop.reason).toMatchObject({ name: 'AbortError', message: 'This operation was aborted' });
  expect(stop.reason).toBe(stop.reason);
});

test('a removed callback is not called', async () => {
  const { session, one } = waiting();
  const controller = new AbortController();
  const call = session.call('t', {}, { signal: controller.signal });
  const { stop } = await one();
  let told = 0;
  const stopped = (): void => void told++;
  stop.watch(stopped);
  stop.unwatch(stopped);
  controller.abort();
  await call;
  expect(told).toBe(0);
});

test('a context that only looks like one is asked for its signal', () => {
  const controller = new AbortController();
  const stop = stopOf({ signal: controller.signal });
  let told = 0;
  const stopped = (): void => void told++;
  stop.watch(stopped);
  expect(stop.stopped).toBe(false);
  controller.abort('enough');
  expect([stop.stopped, stop.reason, told]).toEqual([true, 'enough', 1]);
  const late = stopOf({ signal: new AbortController().signal });
  late.watch(stopped);
  late.unwatch(stopped);
  expect(late.stopped).toBe(false);
});
