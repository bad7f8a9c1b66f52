/** Calls that wait for answers of their clients. */
import { afterEach, expect, test, vi } from 'vitest';
import { OpenCall } from '../../../../src/surfaces/mcp/server/open-call.ts';
import { createParkedCalls } from '../../../../src/surfaces/mcp/server/parked-calls.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('one that nobody answers is aborted after ten minutes, and forgotten', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const parked = createParkedCalls(true);
  const call = new OpenCall(undefined);
  const asked = call.ask('elicitation/create', { message: 'Name?' });
  const failed = expect(asked).rejects.toThrow('The call has ended.');
  const state = parked.park({ call, principal: 'ann', tool: 'asks' }) ?? '';
  vi.advanceTimersByTime(599_999);
  expect(call.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(call.signal.aborted).toBe(true);
  await failed;
  expect(parked.take(state, 'ann', 'asks')).toBeUndefined();
});

test('a call may ask 100 times, and at most 100 000 characters at once', async () => {
  const call = new OpenCall(undefined);
  const ask = (message: string) => call.ask('elicitation/create', { message });
  await expect(ask('x'.repeat(100_001))).rejects.toThrow('100000 characters');
  const asked = Array.from({ length: 100 }, () => ask('Name?').catch(() => {}));
  await expect(ask('Name?')).rejects.toThrow('at most 100 times');
  expect(Object.keys(call.questions())).toHaveLength(100);
  call.end();
  await Promise.all(asked);
});
