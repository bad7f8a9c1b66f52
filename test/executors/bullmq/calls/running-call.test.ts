/** A call in a worker: when it times out, and what happens if Redis does not take its outcome. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FleetJob } from '../../../../src/executors/bullmq/job.ts';
import { type Report, RunningCall } from '../../../../src/executors/bullmq/running-call.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const job: FleetJob = {
  format: 1,
  tool: 'render',
  input: {},
  context: {
    sessionId: 's',
    cwd: '/',
    callId: 'c',
    toolName: 'render',
    idempotencyKey: 'k',
    metadata: {},
    environment: {},
    knobs: {},
    sample: false,
    elicit: false,
  } as FleetJob['context'],
  fingerprint: 'f',
  host: '0'.repeat(24),
  leaseMs: 15_000,
};

function begin(
  report: Report,
  handler: (signal: AbortSignal) => unknown,
  more: { readonly leftMs?: number; readonly leaseMs?: number } = {},
) {
  const { leftMs = -1, leaseMs = 15_000 } = more;
  const errors: Error[] = [];
  const call = new RunningCall({
    job: { ...job, leaseMs },
    claim: 'worker.1',
    leftMs,
    services: undefined,
    report,
    onError: (error) => errors.push(error),
  });
  let ended = false;
  void call.ended.then(() => {
    ended = true;
  });
  void call.start((_input, { signal }) => handler(signal));
  return {
    errors,
    get ended() {
      return ended;
    },
  };
}

test('a deadline that is further away than a timer can wait is kept', async () => {
  const days = 86_400_000;
  let reason: unknown;
  begin(
    async () => true,
    (signal) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
      });
      return new Promise(() => {});
    },
    { leftMs: 60 * days },
  );
  await vi.advanceTimersByTimeAsync(60 * days - 1);
  expect(reason).toBeUndefined();
  await vi.advanceTimersByTimeAsync(2);
  expect(reason).toMatchObject({ name: 'TimeoutError' });
});

describe('an outcome that Redis refuses', () => {
  const refusing = (tries: number) => {
    const seen = { tries: 0 };
    const report: Report = async () => {
      seen.tries++;
      if (seen.tries <= tries) throw new Error('OOM command not allowed');
      return true;
    };
    return { seen, report };
  };

  test('is sent again until Redis takes it', async () => {
    const { seen, report } = refusing(100);
    const call = begin(report, () => 'done');
    await vi.advanceTimersByTimeAsync(29_000);
    expect([call.ended, call.errors, seen.tries]).toEqual([true, [], 101]);
  });

  test.each([
    { leaseMs: 15_000, givenUpMs: 30_000 },
    { leaseMs: 50, givenUpMs: 10_000 },
  ])(
    'for two leases and ten seconds is given up, and the worker tells why ($leaseMs)',
    async ({ leaseMs, givenUpMs }) => {
      const { seen, report } = refusing(Number.POSITIVE_INFINITY);
      const call = begin(report, () => 'done', { leaseMs });
      await vi.advanceTimersByTimeAsync(givenUpMs - 1_000);
      expect([call.ended, call.errors]).toEqual([false, []]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(call.ended).toBe(true);
      expect(call.errors).toMatchObject([
        {
          message: expect.stringMatching(/^A call to `render` was given up, because Redis did not/),
          cause: { message: 'OOM command not allowed' },
        },
      ]);
      const { tries } = seen;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(seen.tries).toBe(tries);
    },
  );

  test('is given up only after two leases in a row', async () => {
    let isAway = true;
    let sent = 0;
    const call = begin(
      async (texts) => {
        if (isAway) throw new Error('The connection is closed.');
        sent += texts.length;
        return true;
      },
      () => 'done',
    );
    await vi.advanceTimersByTimeAsync(25_000);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([call.ended, call.errors, sent]).toEqual([true, [], 1]);
  });
});
