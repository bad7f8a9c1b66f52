import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { OwnTimers, timersEndWithRequests } from '../../../src/values/limits/own-timers.ts';
import { define } from '../../core/call/define.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A deadline that writes down when it has expired. */
function entry(log: unknown[], name: string, run: () => void = () => {}) {
  return {
    expire: () => {
      log.push(name);
      run();
    },
    dlPrev: undefined,
    dlNext: undefined,
    dlAt: 0,
    dlList: undefined,
  };
}

describe('deadlines with a timer each', () => {
  test('expire once, in their order, and leave nothing behind', () => {
    const timers = new OwnTimers();
    const log: unknown[] = [];
    timers.add(entry(log, 'late'), 30, 0);
    timers.add(entry(log, 'early'), 10, 0);
    expect([timers.size, vi.getTimerCount()]).toEqual([2, 2]);
    vi.advanceTimersByTime(10);
    expect(log).toEqual(['early']);
    vi.advanceTimersByTime(100);
    expect([log, timers.size, vi.getTimerCount()]).toEqual([['early', 'late'], 0, 0]);
  });

  test('are moved by `add` and ended by `remove`, also one that has none', () => {
    const timers = new OwnTimers();
    const log: unknown[] = [];
    const [moved, removed] = [entry(log, 'moved'), entry(log, 'removed')];
    timers.add(moved, 10, 0);
    timers.add(removed, 10, 0);
    timers.add(moved, 20, 0);
    expect(moved.dlAt).toBe(20);
    timers.remove(removed);
    timers.remove(removed);
    vi.advanceTimersByTime(15);
    expect(log).toEqual([]);
    vi.advanceTimersByTime(10);
    expect([log, moved.dlList, removed.dlList]).toEqual([['moved'], undefined, undefined]);
  });

  test('may be added again when they expire, and may throw', () => {
    const timers = new OwnTimers();
    const log: unknown[] = [];
    const again = entry(log, 'again', () => {
      if (log.length === 1) timers.add(again, 10, 10);
      throw new Error('no');
    });
    timers.add(again, 10, 0);
    vi.advanceTimersByTime(100);
    expect(log).toEqual(['again', 'again']);
  });

  test('whose timers are gone with their requests expire when another one is added', () => {
    const timers = new OwnTimers();
    const log: unknown[] = [];
    timers.add(entry(log, 'gone'), 500, 0);
    timers.add(entry(log, 'not due'), 9_000, 0);
    vi.clearAllTimers();
    timers.add(entry(log, 'early'), 9_000, 1_400);
    expect(log).toEqual([]);
    timers.add(entry(log, 'later'), 9_000, 2_400);
    expect([log, timers.size]).toEqual([['gone'], 3]);
  });
});

test('a registry uses them where timers end with their requests, and only there', async () => {
  expect(timersEndWithRequests()).toBe(false);
  vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' });
  expect(timersEndWithRequests()).toBe(true);
  const registry = new HostToolRegistry();
  registry.register(define('t', { timeoutMs: 40, handler: () => new Promise(() => {}) }));
  const session = registry.createSession({ sessionId: 's' });
  const first = session.call('t', {});
  // The timers of its request are gone.
  vi.clearAllTimers();
  const second = session.call('t', {});
  await vi.advanceTimersByTimeAsync(50);
  expect((await second).error?.code).toBe('timeout');
  await vi.advanceTimersByTimeAsync(2_000);
  void session.call('t', {});
  expect((await first).error?.code).toBe('timeout');
});
