import { describe, expect, test } from 'vitest';
import type { CallRecord } from '../../../src/extend.ts';
import { createCallLog, maxCalls } from '../../../src/surfaces/inspector/call-log.ts';
import { noteRecorded } from '../../../src/surfaces/inspector/record-calls.ts';

const arrival = (callId: string, sessionId = 's') => ({
  at: 1,
  callId,
  attempt: 1,
  tool: 't',
  sessionId,
  principal: '',
  surface: '',
});

describe('the log of calls', () => {
  test('keeps stages with the time since the call arrived', () => {
    let now = 100;
    const log = createCallLog(() => now);
    const call = log.add(arrival('c1'), { a: 1 });
    now = 107.5;
    log.stage(call, 'judged', 'allow.');
    expect(call.kept).toMatchObject({
      input: '{"a":1}',
      stages: [{ name: 'judged', ms: 7.5, note: 'allow.' }],
    });
    expect(log.find('s', 'c1')).toBe(call);
    expect(log.find('other', 'c1')).toBeUndefined();
  });

  test('keeps the newest ten thousand calls', () => {
    const log = createCallLog(() => 0);
    const { changes } = log.follow();
    for (let at = 1; at <= maxCalls + 5; at++) log.add(arrival(`c${at}`), null);
    expect([log.get(5), log.get(6)?.line.callId, log.find('s', 'c5')]).toEqual([
      undefined,
      'c6',
      undefined,
    ]);
    expect(changes.size).toBe(maxCalls);
  });

  test('lets go of what was in the oldest calls when it is too much, and keeps their lines', () => {
    const log = createCallLog(() => 0);
    for (let at = 1; at <= 3_000; at++) log.add(arrival(`c${at}`), 'x'.repeat(50_000));
    expect(log.get(1)?.kept).toBeUndefined();
    expect(log.get(1)?.line.callId).toBe('c1');
    expect(log.get(3_000)?.kept?.input).toContain('more characters');
  });

  test('informs readers which calls have changed, each once', () => {
    const log = createCallLog(() => 0);
    const first = log.add(arrival('c1'), null);
    const reader = log.follow();
    expect([...reader.changes]).toEqual([1]);
    reader.changes.clear();
    log.changed(first);
    log.changed(first);
    log.add(arrival('c2'), null);
    expect([...reader.changes]).toEqual([1, 2]);
    reader.stop();
    log.add(arrival('c3'), null);
    expect([...reader.changes]).toEqual([1, 2]);
  });

  test("keeps a bounded number of stages and of a handler's reports", () => {
    const log = createCallLog(() => 0);
    const call = log.add(arrival('c1'), null);
    for (let at = 0; at < 1_000; at++) {
      log.stage(call, 'judged', 'x'.repeat(5_000));
      log.told(call, 'e', 'y'.repeat(5_000));
    }
    expect([call.kept?.stages.length, call.kept?.stages[0]?.note.length]).toEqual([60, 1_024]);
    expect(call.kept?.told.length).toBe(50);
    expect(call.kept?.told[0]?.data.length).toBeLessThan(1_200);
  });
});

test('a program that goes on several times is there as often, and lines that repeat are there once', () => {
  const log = createCallLog(() => 0);
  const record = (attempt: number, status: CallRecord['status'], at: number): CallRecord =>
    ({
      ...arrival('c'),
      attempt,
      status,
      at,
      input: { code: 'x' },
      durationMs: 1,
    }) as unknown as CallRecord;
  const lines = [
    record(1, 'pending', 1),
    record(2, 'pending', 2),
    record(2, 'succeeded', 3),
    // The other processes that were read before may have told it, too.
    record(1, 'pending', 1),
    record(2, 'pending', 2),
    record(2, 'succeeded', 3),
  ];
  for (const line of lines) noteRecorded(log, line);
  const told = [...log.all()].map(({ line: { attempt, status } }) => `${attempt} ${status}`);
  expect(told).toEqual(['1 pending', '2 pending', '2 succeeded']);
});
