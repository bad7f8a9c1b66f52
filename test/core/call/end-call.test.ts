import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { deny, fail, HostToolRegistry, ok, type ToolContext } from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { gate, outcome, tool, turns, type World, world } from './world.ts';

afterEach(() => void vi.restoreAllMocks());

describe('the report of the end of a call', () => {
  test('a success carries the whole result, and what is not there is no member', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(5);
    const { session, events, registry } = setup(
      [define('t', { handler: () => ({ n: 1 }) })],
      {},
      { now: () => 1_000 },
    );
    await session.call('t', {}, { callId: 'mine' });
    const fingerprint = registry.get('t')?.fingerprint;
    expect(events.at(-1)).toStrictEqual({
      type: 'tool:post',
      sessionId: 's',
      principal: '',
      actor: { principal: '', chain: [] },
      surface: '',
      at: 1_000,
      seq: 3,
      toolName: 't',
      callId: 'mine',
      result: {
        success: true,
        output: { n: 1 },
        metadata: {
          callId: 'mine',
          toolName: 't',
          status: 'succeeded',
          attempt: 1,
          durationMs: 0,
          fingerprint,
        },
      },
      durationMs: 0,
    });
  });

  test('a success contains repairs, cuts and notes for the host, too', async () => {
    const parameters = { type: 'object', properties: { list: { type: 'array' } } };
    const { session, events } = setup(
      [
        define('t', {
          parameters,
          maxOutputChars: 60,
          handler: () => ok('x'.repeat(100), { rows: 3 }),
        }),
      ],
      {
        repair: 'safe',
      },
    );
    const { metadata } = await session.call('t', { list: '[1]' });
    expect(metadata).toMatchObject({
      repaired: [{ path: 'list' }],
      truncated: { originalChars: 100 },
      handler: { rows: 3 },
    });
    expect(events.at(-1)).toMatchObject({
      type: 'tool:post',
      result: { metadata: JSON.parse(JSON.stringify(metadata)) },
    });
  });

  test('a failure carries the error and its status, as a copy', async () => {
    const { session, events } = setup([
      define('t', {
        handler: () => fail({ message: 'No.', reason: 'not_there', details: { list: [1] } }),
      }),
    ]);
    const { error } = await session.call('t', {}, { callId: 'mine' });
    const told = events.at(-1) as { error?: { details?: unknown } };
    expect(told).toMatchObject({
      type: 'tool:error',
      toolName: 't',
      callId: 'mine',
      status: 'failed',
      durationMs: expect.any(Number),
      error: { code: 'handler_error', message: 'No.', reason: 'not_there', details: { list: [1] } },
    });
    expect(told.error).not.toBe(error);
    expect(told.error?.details).not.toBe(error?.details);
  });

  test('a denial without a rule names none', async () => {
    const { session, events } = setup([define('t', { policy: { check: () => deny('not_now') } })]);
    await session.call('t');
    const violation = events.find(({ type }) => type === 'policy:violation');
    expect(violation).toMatchObject({ reason: 'not_now', source: expect.any(String) });
    expect(violation).not.toHaveProperty('ruleId');
  });

  test(
    'the result of a tool says which definition ran, and that of a name that nobody has says ' +
      'none',
    async () => {
      const { session } = setup([define('t')]);
      expect((await session.call('t')).metadata).toHaveProperty('fingerprint');
      expect((await session.call('nobody')).metadata).not.toHaveProperty('fingerprint');
    },
  );

  test('how long it took is never less than nothing, though a clock may go back', async () => {
    let now = 100;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const { session } = setup([
      define('t', {
        handler: () => {
          now = 40;
        },
      }),
      define('u', {
        handler: () => {
          now = 55;
        },
      }),
    ]);
    expect((await session.call('t')).metadata.durationMs).toBe(0);
    expect((await session.call('u')).metadata.durationMs).toBe(15);
  });
});

test(
  'an error is free of the secrets that came with the call: in its message, its reason and its ' +
    'details',
  async () => {
    const { session, events } = setup([
      define('t', {
        parameters: z.object({ key: z.string().meta({ secret: true }) }),
        handler: ({ key }: { key: string }) =>
          fail({
            message: `Not ${key}.`,
            reason: 'canary_canary',
            details: { key, text: `Not ${key}.` },
          }),
      }),
    ]);
    const { error } = await session.call('t', { key: 'canary_canary' });
    expect(error).toMatchObject({
      code: 'handler_error',
      message: expect.stringMatching(/^Not .*\.$/),
    });
    expect(JSON.stringify([error, events])).not.toContain('canary_canary');
    // Not so the one of a call whose secrets are other ones.
    expect((await session.call('t', { key: 'another_secret' })).error?.reason).toBe(
      'canary_canary',
    );
  },
);

/** Adds a tool, and answers its name. */
function added(w: World, handler: () => unknown): string {
  const made = tool(handler);
  w.add(made);
  return made.name;
}

test(
  'where a call has secrets, nothing is told of an output that was cut: half a secret is not ' +
    'found',
  async () => {
    const parameters = z.object({ key: z.string().meta({ secret: true }) });
    const { session, events } = setup([
      define('t', {
        parameters,
        maxOutputChars: 60,
        handler: ({ key }: { key: string }) => `${'x'.repeat(5)}${key.repeat(20)}`,
      }),
    ]);
    const { metadata } = await session.call('t', { key: 'canary_canary' });
    expect(metadata.truncated).toBeDefined();
    expect(events.at(-1)).toMatchObject({ type: 'tool:post', result: { output: '[redacted]' } });
  },
);

describe('the report of a success', () => {
  const heard = async (listeners: number): Promise<readonly unknown[]> => {
    const registry = new HostToolRegistry();
    const parameters = { type: 'object', properties: { list: { type: 'array' } } };
    registry.register(
      define('t', {
        parameters,
        maxOutputChars: 60,
        handler: () => ok('x'.repeat(100), { rows: 3 }),
      }),
    );
    const events: object[] = [];
    for (let count = 0; count < listeners; count++)
      registry.events.on('tool:post', (event) => void events.push(event));
    await registry.createSession({ sessionId: 's', repair: 'safe' }).call('t', { list: '[1]' });
    expect(events).toHaveLength(listeners);
    const [event] = events as { result: { metadata: Record<string, object> } }[];
    const { metadata } = event?.result ?? {};
    return [
      event,
      event?.result,
      metadata,
      metadata?.repaired,
      metadata?.truncated,
      metadata?.handler,
    ];
  };

  test("is deeply frozen for several listeners, and one listener's own otherwise", async () => {
    expect((await heard(2)).map(Object.isFrozen)).toEqual(Array.from({ length: 6 }, () => true));
    expect((await heard(1)).map(Object.isFrozen)).toEqual(Array.from({ length: 6 }, () => false));
  });
});

describe('what is counted at the end of a call', () => {
  test('its status, its reason, and whether it was denied', async () => {
    const { session } = setup([
      define('runs'),
      define('denied', { policy: { check: () => deny('not_now') } }),
      define('broken', { policy: { check: () => Promise.reject(new Error('no')) } }),
      define('rejected', { requiresApproval: true }),
      define('fails', { handler: () => fail('no') }),
    ]);
    for (const name of ['runs', 'denied', 'broken', 'rejected', 'fails', 'nobody'])
      await session.call(name);
    expect(session.metrics()).toMatchObject({
      calls: 6,
      succeeded: 1,
      failed: 1,
      rejected: 4,
      denied: 3,
    });
    expect(session.metrics().byReason).toMatchObject({ not_now: 1, handler_error: 1 });
  });

  test(
    'what settles at the moment of its end, or before it by a clock that went back, as nothing ' +
      'later',
    async () => {
      let now = 100;
      vi.spyOn(performance, 'now').mockImplementation(() => now);
      for (const then of [100, 40]) {
        const w = world();
        const hold = gate();
        const controller = new AbortController();
        now = 100;
        const calling = w.session.call(
          added(w, () => hold.promise),
          {},
          { signal: controller.signal },
        );
        controller.abort();
        await calling;
        now = then;
        hold.open();
        await turns();
        expect(w.of('tool:late')).toMatchObject([{ afterMs: 0 }]);
      }
    },
  );

  test('what settles later, since its end', async () => {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const w = world();
    const hold = gate();
    const controller = new AbortController();
    w.add(tool(() => hold.promise, { name: 'a', maxConcurrency: 1 }));
    const calling = w.session.call('a', {}, { signal: controller.signal });
    await turns();
    now = 100;
    controller.abort();
    await calling;
    now = 130;
    hold.open();
    await turns();
    expect(w.of('tool:late')).toMatchObject([{ toolName: 'a', settled: 'returned', afterMs: 30 }]);
    expect(w.session.metrics().lateSettles).toBe(1);
    expect(w.session.metrics().calls).toBe(1);
  });
});

describe('when a call ends', () => {
  test('so do the calls that it made, which learn why', async () => {
    const w = world();
    let signal: AbortSignal | undefined;
    w.add(
      tool(
        (_: never, context: ToolContext) => {
          signal = context.signal;
          return new Promise(() => {});
        },
        { name: 'inner' },
      ),
      tool(
        (_: never, { tools }: ToolContext) =>
          void (tools.call as (name: string) => unknown)('inner'),
        { name: 'outer', uses: ['inner'] },
      ),
    );
    expect(outcome(await w.session.call('outer'))).toBe(null);
    expect(signal?.reason).toMatchObject({
      name: 'AbortError',
      message: 'The call that made this call has ended.',
    });
    await w.settle();
  });

  test('its signal aborts after a failure, even if read later, and not after success', async () => {
    const kept: ToolContext[] = [];
    const w = world();
    w.add(
      tool((_: never, context: ToolContext) => void kept.push(context), { name: 'good' }),
      tool(
        (_: never, context: ToolContext) => {
          kept.push(context);
          return new Promise(() => {});
        },
        { name: 'bad' },
      ),
    );
    const controller = new AbortController();
    await w.session.call('good');
    const calling = w.session.call('bad', {}, { signal: controller.signal });
    controller.abort('enough');
    await calling;
    expect(kept.map(({ signal }) => [signal.aborted, signal.reason])).toEqual([
      [false, undefined],
      [true, 'enough'],
    ]);
  });

  test('as pending, though it was never suspended, there is no approval to answer', async () => {
    const w = world({
      hooks: [{ after: () => ({ success: false, error: { code: 'approval_pending' } }) as never }],
    });
    expect(Object.hasOwn(await w.session.call('still_alive'), 'approval')).toBe(false);
  });

  test('its id may be used again', async () => {
    const { session } = setup([define('t')]);
    for (const _ of [1, 2])
      expect(outcome(await session.call('t', {}, { callId: 'mine' }))).toBe('ran');
  });
});
