/** How a client reports the progress of its calls. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RelayHttp } from '../../../src/surfaces/relay-client/http.ts';
import { createProgressReports } from '../../../src/surfaces/relay-client/progress.ts';
import {
  type RelayClientError,
  relayClientError,
} from '../../../src/surfaces/relay-client/relay-client-error.ts';
import { createScope } from '../../../src/surfaces/relay-client/scope.ts';

/** The time between two reports of a call. */
const pauseMs = 250;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function started(refusal?: () => RelayClientError | undefined) {
  const sent: unknown[] = [];
  const life = createScope();
  const http = {
    async call(_scope: unknown, method: string, path: string, { body = '' } = {}) {
      expect([method, path]).toEqual(['POST', '/progress']);
      sent.push(JSON.parse(body));
      const error = refusal?.();
      if (error !== undefined) throw error;
      return {};
    },
  } as unknown as RelayHttp;
  return { sent, life, ...createProgressReports({ http, life }) };
}

const later = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('reports', () => {
  test('go one at a time, the newest of each call', async () => {
    const { sent, report } = started();
    report('a', 1, 10, 'first');
    report('a', 2, undefined, undefined);
    report('b', 1, undefined, undefined);
    report('a', 3, 10, undefined);
    await later(0);
    expect(sent).toEqual([{ requestId: 'a', done: 1, total: 10, message: 'first' }]);
    await later(pauseMs);
    await later(pauseMs);
    expect(sent.slice(1)).toEqual([
      { requestId: 'a', done: 3, total: 10 },
      { requestId: 'b', done: 1 },
    ]);
    await later(60_000);
    expect(sent).toHaveLength(3);
  });

  test('of a call that has ended are dropped', async () => {
    const { sent, report, forget } = started();
    report('a', 1, undefined, undefined);
    report('b', 1, undefined, undefined);
    forget('b');
    await later(60_000);
    expect(sent).toEqual([{ requestId: 'a', done: 1 }]);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, '1', null, undefined, {}])(
    'of %s done are ignored',
    async (done) => {
      const { sent, report } = started();
      report('a', done, 1, 'm');
      await later(60_000);
      expect(sent).toEqual([]);
    },
  );

  test('leave out what does not fit', async () => {
    const { sent, report } = started();
    report('a', 1, '2', { toString: () => 'm' });
    await later(0);
    expect(sent).toEqual([{ requestId: 'a', done: 1 }]);
  });

  test('are at most four a second, however many come', async () => {
    const { sent, report } = started();
    for (let done = 0; done < 10_000; done++) {
      report(`call-${done % 64}`, done, undefined, 'x'.repeat(10_000));
      if (done % 100 === 0) await later(10);
    }
    expect(sent.length).toBeLessThanOrEqual(6);
    expect(String((sent[0] as { message: string }).message)).toHaveLength(256);
  });

  test('wait as long as the relay asks for', async () => {
    const limited = relayClientError('rate_limit_exceeded', 'later', {
      status: 429,
      retryAfterMs: 5_000,
    });
    let refusals = 1;
    const { sent, report } = started(() => (refusals-- > 0 ? limited : undefined));
    report('a', 1, undefined, undefined);
    await later(0);
    report('a', 2, undefined, undefined);
    await later(4_900);
    expect(sent).toHaveLength(1);
    await later(200);
    expect(sent).toHaveLength(2);
  });

  test('stop for good if the relay has no route for them', async () => {
    const { sent, report } = started(() => relayClientError('not_found', 'no', { status: 404 }));
    report('a', 1, undefined, undefined);
    await later(0);
    report('a', 2, undefined, undefined);
    await later(60_000);
    expect(sent).toHaveLength(1);
  });

  test('continue after one about a call that the relay does not know', async () => {
    const { sent, report } = started(() =>
      relayClientError('request_not_found', 'no', { status: 404 }),
    );
    report('a', 1, undefined, undefined);
    await later(0);
    report('b', 2, undefined, undefined);
    await later(60_000);
    expect(sent).toHaveLength(2);
  });

  test('end with the connection', async () => {
    const { sent, report, life } = started();
    report('a', 1, undefined, undefined);
    report('a', 2, undefined, undefined);
    await later(0);
    life.end(undefined);
    report('a', 3, undefined, undefined);
    await later(60_000);
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
