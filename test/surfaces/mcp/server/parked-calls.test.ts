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
  const state = parked.park({ call, owner: { principal: 'ann' }, tool: 'asks' }) ?? '';
  vi.advanceTimersByTime(599_999);
  expect(call.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(call.signal.aborted).toBe(true);
  await failed;
  expect(parked.take(state, { principal: 'ann' }, 'asks')).toBeUndefined();
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

test('one belongs to its person, through the same agents', () => {
  const parked = createParkedCalls(true);
  const call = new OpenCall(undefined);
  const owner = { principal: 'ann', actors: ['planner'] };
  const state = parked.park({ call, owner, tool: 'asks' }) ?? '';
  for (const other of [
    { principal: 'ann' },
    { principal: 'ann', actors: ['robot'] },
    { principal: 'ann', actors: ['planner', 'robot'] },
    { principal: 'eve', actors: ['planner'] },
  ])
    expect(parked.take(state, other, 'asks')).toBeUndefined();
  expect(parked.take(state, { ...owner }, 'asks')).toBe(call);
  call.end();
});
