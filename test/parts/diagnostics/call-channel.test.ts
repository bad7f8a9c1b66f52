/** `tracingChannel("host-tools:call")`: for those who trace without OpenTelemetry. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import { define, setup } from '../../core/call/define.ts';

const channel = tracingChannel('host-tools:call');

test('publishes the stages of a call with its outcome, and no content', async () => {
  const heard: unknown[] = [];
  const note = (stage: string) => (message: unknown) =>
    void heard.push([stage, { ...(message as object) }]);
  const subscribers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  };
  channel.subscribe(subscribers);
  onTestFinished(() => void channel.unsubscribe(subscribers));
  const { session } = setup([define('t')], { principal: 'ann' });
  await session.call('t', { secret: 1 }, { callId: 'c' });
  const begun = { toolName: 't', sessionId: 's', principal: 'ann' };
  const ended = { ...begun, callId: 'c', status: 'succeeded' };
  expect(heard).toEqual([
    ['start', begun],
    ['end', begun],
    ['asyncStart', ended],
    ['asyncEnd', ended],
  ]);
  await session.call('made_up');
  expect(heard.at(-1)).toMatchObject(['asyncEnd', { code: 'tool_not_found', status: 'rejected' }]);
});

test('a store that is bound to the channel reaches the handler', async () => {
  const store = new AsyncLocalStorage<unknown>();
  channel.start.bindStore(store, (message) => (message as { toolName: string }).toolName);
  onTestFinished(() => void channel.start.unbindStore(store));
  const { session } = setup([define('t', { handler: () => store.getStore() })]);
  expect(await session.call('t')).toMatchObject({ output: 't' });
  expect(store.getStore()).toBeUndefined();
});

test.each<[string, (message: object) => void]>([
  ['freezes it', (message) => void Object.freeze(message)],
  [
    'puts an accessor into it',
    (message) =>
      void Object.defineProperty(message, 'status', {
        set() {
          throw new Error('mine');
        },
      }),
  ],
])('a subscriber that gets a message and %s breaks nothing', async (_, spoil) => {
  const heard: unknown[] = [];
  const subscribers = { start: spoil, asyncEnd: (message: unknown) => void heard.push(message) };
  channel.subscribe(subscribers as never);
  onTestFinished(() => void channel.unsubscribe(subscribers as never));
  const { session } = setup([define('t')]);
  expect((await session.call('t')).success).toBe(true);
  expect(heard).toMatchObject([{ toolName: 't', sessionId: 's' }]);
});
