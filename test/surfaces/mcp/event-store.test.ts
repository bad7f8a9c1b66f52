/** A host's store of events behind an MCP session, on a faked clock. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { McpEventStore } from '../../../src/surfaces/mcp/index.ts';
import { scopedEvents } from '../../../src/surfaces/mcp/server/events.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const never = () => new Promise<never>(() => {});
const message = { jsonrpc: '2.0', method: 'm' } as const;

/** How the promise has settled; undefined if it has not. */
async function outcomeOf(promise: Promise<unknown>): Promise<() => unknown> {
  let outcome: unknown;
  promise.then(
    (value) => {
      outcome = value;
    },
    (error: unknown) => {
      outcome = String(error);
    },
  );
  return () => outcome;
}

test('a store that never answers costs ten seconds, but not the answer', async () => {
  const errors: string[] = [];
  const events = scopedEvents(
    { storeEvent: never, getStreamIdForEventId: never, replayEventsAfter: never },
    'session:',
    (error) => errors.push(String(error)),
  );
  const late = 'TimeoutError: The event store did not answer in time.';
  const stored = await outcomeOf(events.storeEvent('stream', message));
  const find = async () => [await events.getStreamIdForEventId?.('e')];
  const found = await outcomeOf(find());
  const replayed = await outcomeOf(events.replayEventsAfter('e', { send: async () => {} }));
  await vi.advanceTimersByTimeAsync(9_999);
  expect([stored(), found(), replayed()]).toEqual([undefined, undefined, undefined]);
  await vi.advanceTimersByTimeAsync(1);
  expect([stored(), found(), replayed()]).toEqual(['', [undefined], late]);
  expect(errors).toEqual([late, late]);
  expect(vi.getTimerCount()).toBe(0);
});

test('what a store replays after its time is over is not sent', async () => {
  const sent: string[] = [];
  let sendLate = (): void => {};
  const store = {
    storeEvent: async () => 'e',
    getStreamIdForEventId: async () => 'session:stream',
    replayEventsAfter: (_, { send }) =>
      new Promise(() => {
        sendLate = () => void send('e1', message as never);
      }),
  } satisfies McpEventStore as McpEventStore;
  const events = scopedEvents(store, 'session:', () => {});
  const replayed = await outcomeOf(
    events.replayEventsAfter('e', { send: async (id) => void sent.push(id) }),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(replayed()).toContain('TimeoutError');
  sendLate();
  expect(sent).toEqual([]);
});
