/** What cancels the call of a request. */
import { expect, test, vi } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import { createRequestAbort } from '../../../../src/surfaces/relay/calls/request-parts.ts';

const sessionWith = (handler: () => Promise<unknown>) => {
  const session = new HostToolRegistry().createSession({ sessionId: 's' });
  const parameters = { type: 'object' } as const;
  session.register(defineTool({ name: 'wait', description: 'Waits.', parameters, handler }));
  return session;
};

test('ends a call once, as cancelled', async () => {
  const abort = createRequestAbort();
  const session = sessionWith(() => new Promise(() => {}));
  const result = session.call('wait', {}, { signal: abort.signal });
  abort.abort();
  abort.abort();
  expect(await result).toMatchObject({ success: false, error: { code: 'cancelled' } });
  expect(abort.signal).toMatchObject({ aborted: true, reason: { name: 'AbortError' } });
});

test('ends a later call before its tool runs', async () => {
  const abort = createRequestAbort();
  abort.abort();
  const handler = vi.fn(async () => 'done');
  const result = await sessionWith(handler).call('wait', {}, { signal: abort.signal });
  expect([result.success, handler.mock.calls.length]).toEqual([false, 0]);
});

test('does not affect a call that has ended', async () => {
  const abort = createRequestAbort();
  const result = await sessionWith(async () => 'done').call('wait', {}, { signal: abort.signal });
  abort.abort();
  expect(result).toMatchObject({ success: true, output: 'done' });
});
