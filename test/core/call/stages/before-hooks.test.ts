import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { deny, type Hook } from '../../../../src/index.ts';
import { gate, outcome, tool, turns, world } from '../world.ts';

type Before = NonNullable<Hook['before']>;

/** Calls a tool behind these hooks; what came, what ran, and what the host was told. */
const called = async (
  hooks: readonly unknown[],
  input: unknown = { x: 1 },
  more: Record<string, unknown> = {},
) => {
  const told: { err?: { message?: string }; source?: string }[] = [];
  const w = world(
    { hooks: hooks.map((before) => ({ before: before as Before })), repair: 'safe' },
    { logger: { warn: () => {}, error: (data) => void told.push(data) } },
  );
  const ran: unknown[] = [];
  const { error } = await w.run((given) => void ran.push(given), { name: 'a', ...more }, input);
  return { error, ran, told, events: w.events };
};

describe('what a before hook answers', () => {
  test.each<[string, (answer: unknown) => unknown]>([
    ['at once', (answer) => () => answer],
    ['later', (answer) => async () => answer],
  ])(
    '%s: each way of letting a call go on meets the hook after it, and each way of refusing ' +
      'does not',
    async (_, hook) => {
      for (const [answer, ran] of [
        [undefined, true],
        [null, true],
        [{ action: 'continue' }, true],
        [{ action: 'modify', input: { x: 1 } }, true],
        [{ action: 'deny', reason: 'not_now' }, false],
        [{ action: 'deny', reason: 'Not Now' }, false],
        [{ action: 'modify', input: [] }, false],
        [{ action: 'modify' }, false],
        [{}, false],
        [5, false],
      ] as const) {
        const next = vi.fn();
        expect((await called([hook(answer), next, next])).ran, JSON.stringify(answer)).toEqual(
          ran ? [{ x: 1 }] : [],
        );
        expect(next).toHaveBeenCalledTimes(ran ? 2 : 0);
      }
    },
  );

  test("a denial has the hook's message, or a default that names the hook", async () => {
    for (const [message, says] of [
      [undefined, 'A hook refused the call (not_now).'],
      [7, 'A hook refused the call (not_now).'],
      ['Later.', 'Later.'],
    ])
      expect(
        (await called([() => ({ action: 'deny', reason: 'not_now', message })])).error,
      ).toMatchObject({
        code: 'policy_denied',
        reason: 'not_now',
        source: 'hook',
        message: says,
      });
  });

  test.each<[string, unknown, string]>([
    ['what is no answer', () => 'yes', 'returned an unknown answer'],
    ['an unknown action', () => ({ action: 'allow' }), 'returned an unknown answer'],
    [
      'an action that it only inherits',
      () => Object.create({ action: 'continue' }),
      'returned an unknown answer',
    ],
    [
      'a denial without a reason',
      () => ({ action: 'deny' }),
      'denied without a reason such as `not_now`',
    ],
    [
      'an input that is no object',
      () => ({ action: 'modify', input: [] }),
      'returned an input that is not a JSON object',
    ],
    [
      'an input that is no JSON',
      () => ({ action: 'modify', input: { n: 1n } }),
      'returned an input that is not a JSON object',
    ],
  ])('%s is said to the caller', async (_, hook, says) => {
    expect((await called([hook])).error).toMatchObject({
      code: 'policy_error',
      reason: 'hook_failed',
      message: `The call was refused because a hook ${says}.`,
    });
  });

  test('an invalid answer is reported to the host, with what was expected and got', async () => {
    const message =
      'Expected a before hook to return nothing, { action: "continue" }, { action: "modify", ' +
      'input } or { action: "deny", reason, message? }, got `7` (number).';
    const { error, told } = await called([() => 7]);
    expect(error?.cause).toMatchObject({ code: 'invalid_option', message });
    expect(told).toMatchObject([{ source: 'hook', err: { message } }]);
  });

  test('its error, thrown now or later, is reported to the host and is the cause', async () => {
    const thrown = new RangeError('mine');
    for (const hook of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      const { error, told } = await called([hook]);
      expect(error).toMatchObject({
        message: 'The call was refused because a hook threw.',
        cause: thrown,
      });
      expect(told).toMatchObject([{ source: 'hook', err: { message: 'mine' } }]);
    }
  });

  test('an input has the bounds of any other: 64 deep, 50 000 values', async () => {
    const nested = (depth: number): object =>
      Array.from({ length: depth - 1 }).reduce<object>((inner) => ({ inner }), {});
    const list = (length: number): object => ({ list: Array.from({ length }, () => 0) });
    const handler = { handler: () => 'ran' };
    for (const [input, fits] of [
      [nested(64), true],
      [nested(66), false],
      [list(49_998), true],
      [list(49_999), false],
    ] as const) {
      expect((await called([() => ({ action: 'modify', input })], {}, handler)).error?.reason).toBe(
        fits ? undefined : 'hook_failed',
      );
      // As deep as what a caller may send.
      expect((await called([], input, handler)).error === undefined).toBe(fits);
    }
  });

  test('an input replaces a text that `repair` would have read', async () => {
    expect((await called([() => ({ action: 'modify', input: { x: 2 } })], '{"x":1}')).ran).toEqual([
      { x: 2 },
    ]);
  });
});

test('a verdict after an asynchronous hook has the time at which it came', async () => {
  let now = 1_000;
  for (const [wait, at] of [
    [() => undefined, 1_000],
    [
      async () => {
        now = 2_000;
      },
      2_000,
    ],
  ] as const) {
    now = 1_000;
    const w = world({ hooks: [{ before: wait }] }, { now: () => now });
    await w.session.call('still_alive');
    expect(w.of('tool:pre')[0]?.at).toBe(1_000);
    expect(w.of('policy:check')[0]?.at).toBe(at);
  }
});

test('a secret that a hook puts into the input is in no event', async () => {
  const parameters = z.object({ key: z.string().meta({ secret: true }).optional() });
  const hook = () => ({ action: 'modify', input: { key: 'CANARY-CANARY' } });
  const { events, error } = await called(
    [hook, () => ({ action: 'deny', reason: 'not_now', message: 'CANARY-CANARY is known.' })],
    {},
    { parameters },
  );
  expect(error?.message).not.toContain('CANARY');
  expect(JSON.stringify(events)).not.toContain('CANARY');
});

test('a hook that gets a secret may not repeat it', async () => {
  const parameters = z.object({ key: z.string().meta({ secret: true }) });
  const hook = ({ input }: { input: { key: string } }) => ({
    action: 'deny',
    reason: 'not_now',
    message: `${input.key} is known.`,
  });
  expect(
    (await called([hook], { key: 'CANARY-CANARY' }, { parameters })).error?.message,
  ).not.toContain('CANARY');
});

test('a hook sees a copy, and who calls what', async () => {
  const seen: unknown[] = [];
  const w = world({
    hooks: [
      { before: (call) => void (call.input as { x: number }).x++ },
      { before: (call) => void seen.push(call.input, call.callId, call.tool.name, call.sessionId) },
    ],
  });
  w.add(tool((given) => given, { name: 'a' }));
  expect(outcome(await w.session.call('a', { x: 1 }, { callId: 'mine' }))).toEqual({ x: 1 });
  expect(seen).toEqual([{ x: 1 }, 'mine', 'a', 'world']);
});

test('a call that ends during a hook runs no further hook and no policy', async () => {
  const hold = gate<void>();
  const next = vi.fn();
  const check = vi.fn(() => deny('no'));
  for (const wait of [() => hold.promise, () => undefined]) {
    const w = world({ policies: [{ id: 'p', check }] });
    w.session.use({
      before: () => {
        void w.session.close();
        return wait();
      },
    });
    w.session.use({ before: next });
    const { error } = await w.session.call('still_alive');
    expect(error?.code).toBe('session_closed');
    hold.open();
    await turns();
    await w.settle();
  }
  expect([next.mock.calls.length, check.mock.calls.length]).toEqual([0, 0]);
});
