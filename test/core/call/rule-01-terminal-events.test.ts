import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  deny,
  fail,
  type Hook,
  HostToolRegistry,
  type Policy,
  type SessionOptions,
  type ToolContext,
} from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { expectOneEnd, gate, turns } from './world.ts';

const of = (events: readonly AnyEvent[], callId: string) =>
  events.filter((event) => 'callId' in event && event.callId === callId);

describe(
  'exactly one terminal event for every tool:pre, and nothing of that call after it but ' +
    'tool:late',
  () => {
    const unending = () => new Promise(() => {});
    const ways: [string, string, Record<string, unknown>, unknown, Partial<SessionOptions>][] = [
      ['a success', 'tool:post', {}, {}, {}],
      ['an input that is no object', 'tool:error invalid_input', {}, [], {}],
      [
        'an input that the schema refuses',
        'tool:error invalid_input',
        { parameters: z.object({ n: z.number() }) },
        {},
        {},
      ],
      [
        'a denial',
        'tool:error policy_denied',
        {},
        { n: 1 },
        { rules: [{ effect: 'deny', when: { n: 1 } }] },
      ],
      [
        'a denial by check',
        'tool:error policy_denied',
        { policy: { check: () => deny('no') } },
        {},
        {},
      ],
      [
        'a policy that throws',
        'tool:error policy_error',
        {},
        {},
        { policies: [{ id: 'p', check: () => Promise.reject(new Error('x')) }] },
      ],
      [
        'a hook that throws',
        'tool:error policy_error',
        {},
        {},
        { hooks: [{ before: () => Promise.reject(new Error('x')) }] },
      ],
      [
        'an ask that nobody can answer',
        'tool:error approval_denied',
        { requiresApproval: true },
        {},
        {},
      ],
      [
        'a rejection',
        'tool:error approval_denied',
        { requiresApproval: true },
        {},
        { approver: () => 'reject_once' },
      ],
      [
        'a handler that throws',
        'tool:error handler_error',
        { handler: () => Promise.reject(new Error('x')) },
        {},
        {},
      ],
      ['a handler that fails', 'tool:error handler_error', { handler: () => fail('no') }, {}, {}],
      [
        'an output that JSON cannot hold',
        'tool:error invalid_output',
        { handler: () => 1n },
        {},
        {},
      ],
      [
        'an output that its schema refuses',
        'tool:error invalid_output',
        { handler: () => 1, outputSchema: z.string() },
        {},
        {},
      ],
      [
        'a hook that replaces the result by a failure',
        'tool:error handler_error',
        {},
        {},
        {
          hooks: [
            {
              after: (_, { metadata }) => ({
                success: false,
                error: { code: 'handler_error', message: 'no', retryable: false },
                metadata,
              }),
            },
          ],
        },
      ],
      [
        'a limit',
        'tool:error rate_limited',
        { requiresApproval: true },
        {},
        { approver: () => 'allow_once', limits: { maxPendingApprovals: 0 } },
      ],
      ['a timeout', 'tool:error timeout', { timeoutMs: 30, handler: unending }, {}, {}],
    ];
    test.each(ways)('%s', async (_, end, more, input, options) => {
      vi.useFakeTimers();
      const { session, events, told } = setup([define('t', more)], options);
      const calling = session.call('t', input, { callId: 'mine' });
      await vi.advanceTimersByTimeAsync(100);
      const result = await calling;
      expect(result.metadata).toMatchObject({ callId: 'mine', toolName: 't', attempt: 1 });
      const mine = of(events, 'mine');
      expect(told()[0]).toBe('tool:pre');
      expect(told().at(-1)).toBe(end);
      expect(mine[0]).toMatchObject({ type: 'tool:pre', toolName: 't', attempt: 1 });
      expectOneEnd(events);
    });

    test('calls to an unknown name, to a removed tool and after closing', async () => {
      const { session, registry, events, told } = setup([define('t')]);
      await session.call('nope');
      registry.unregister('t');
      await session.call('t');
      expect(told().filter((type) => !type.startsWith('tools:'))).toEqual([
        'tool:pre',
        'tool:error tool_not_found',
        'tool:pre',
        'tool:error tool_not_available',
      ]);
      await session.close();
      events.length = 0;
      expect(await session.call('nope')).toMatchObject({ error: { code: 'session_closed' } });
      expect(events, 'a closed session tells nothing more').toEqual([]);
    });

    test('a handler that outlives its call emits only tool:late, once', async () => {
      vi.useFakeTimers();
      const going = gate<string>();
      let kept: ToolContext | undefined;
      const { session, events } = setup([
        define('t', {
          timeoutMs: 100,
          handler: (_: unknown, context: ToolContext) => {
            kept = context;
            return going.promise;
          },
        }),
      ]);
      const calling = session.call('t', {}, { callId: 'mine' });
      await vi.advanceTimersByTimeAsync(150);
      await calling;
      kept?.progress(1, 2, 'still here');
      kept?.emit('more');
      kept?.log('info', 'more');
      going.open('late');
      await turns();
      expect(of(events, 'mine').map(({ type }) => type)).toEqual([
        'tool:pre',
        'policy:check',
        'tool:error',
        'tool:late',
      ]);
    });

    test('an answer after the call was cancelled emits nothing', async () => {
      const answer = gate<'allow_once'>();
      const cancel = new AbortController();
      const { session, events } = setup([define('t', { requiresApproval: true })], {
        approver: () => answer.promise,
      });
      const calling = session.call('t', {}, { callId: 'mine', signal: cancel.signal });
      await turns();
      cancel.abort();
      expect(await calling).toMatchObject({ error: { code: 'cancelled' } });
      answer.open('allow_once');
      await turns();
      expect(of(events, 'mine').at(-1)?.type).toBe('tool:error');
    });

    test('a policy that answers after a cancellation changes nothing', async () => {
      const answer = gate<undefined>();
      const handler = vi.fn();
      const cancel = new AbortController();
      const { session, events } = setup([define('t', { handler })], {
        policies: [{ id: 'slow', check: () => answer.promise }],
      });
      const calling = session.call('t', {}, { callId: 'mine', signal: cancel.signal });
      await turns();
      cancel.abort();
      await calling;
      answer.open(undefined);
      await turns();
      expect(of(events, 'mine').map(({ type }) => type)).toEqual(['tool:pre', 'tool:error']);
      expect(handler).not.toHaveBeenCalled();
    });

    test('a child ends before its parent, and names it', async () => {
      const { session, events } = setup([
        define('child', { handler: () => new Promise(() => {}) }),
        define('parent', {
          uses: ['child'],
          handler: (_: unknown, { tools }: ToolContext) => tools.call('child', {}),
        }),
      ]);
      const cancel = new AbortController();
      const calling = session.call('parent', {}, { callId: 'p', signal: cancel.signal });
      await turns();
      cancel.abort();
      await calling;
      const ends = events.filter(({ type }) => type === 'tool:pre' || type === 'tool:error');
      expect(ends.map((event) => `${event.type} ${'callId' in event ? event.callId : ''}`)).toEqual(
        ['tool:pre p', 'tool:pre p/1', 'tool:error p/1', 'tool:error p'],
      );
      expect(ends[1]).toMatchObject({ parentCallId: 'p' });
    });

    test('many calls at once, with every kind of end: each has one', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(
            fc.constantFrom('ok', 'fail', 'bad', 'denied', 'slow', 'cancelled', 'twice', 'unknown'),
            { minLength: 1, maxLength: 12 },
          ),
          async (scheduler, kinds) => {
            const { session, events } = setup(
              [
                define('ok'),
                define('fail', {
                  handler: () =>
                    scheduler
                      .schedule(Promise.resolve())
                      .then(() => Promise.reject(new Error('no'))),
                }),
                define('bad', { parameters: z.object({ n: z.number() }) }),
                define('denied'),
                define('slow', { handler: () => scheduler.schedule(Promise.resolve(1)) }),
              ],
              {
                rules: [{ effect: 'deny', tools: 'denied', when: { n: 1 } }],
                policies: [
                  {
                    id: 'p',
                    check: () => scheduler.schedule(Promise.resolve(undefined)),
                  } as Policy,
                ],
                hooks: [{ after: () => scheduler.schedule(Promise.resolve()) } as Hook],
              },
            );
            const calls = kinds.map((kind, index) => {
              if (kind === 'twice') return session.call('slow', {}, { callId: 'same' });
              if (kind !== 'cancelled')
                return session.call(
                  kind,
                  { n: kind === 'denied' ? 1 : 'x' },
                  { callId: `c${index}` },
                );
              const cancel = new AbortController();
              void scheduler.schedule(Promise.resolve()).then(() => cancel.abort());
              return session.call('slow', {}, { callId: `c${index}`, signal: cancel.signal });
            });
            await scheduler.waitFor(Promise.all(calls));
            const results = await Promise.all(calls);
            expectOneEnd(events);
            const announced = events.filter(({ type }) => type === 'tool:pre').length;
            expect(announced).toBe(
              results.filter(({ error }) => error?.code !== 'duplicate_call_id').length,
            );
          },
        ),
        { numRuns: 40 },
      );
    });
  },
);

describe('what the events carry', () => {
  test('tool:pre carries the input as it was sent, before hooks, repair and defaults', async () => {
    const { session, events } = setup(
      [
        define('t', {
          parameters: {
            type: 'object',
            properties: { list: { type: 'array' }, n: { type: 'number', default: 3 } },
          },
          requiresApproval: true,
        }),
      ],
      {
        repair: 'safe',
        hooks: [
          { before: ({ input }) => ({ action: 'modify', input: { ...input, hooked: true } }) },
        ],
        approver: () => 'allow_once',
      },
    );
    await session.call('t', { list: '[1]' });
    expect(events.find(({ type }) => type === 'tool:pre')).toMatchObject({
      input: { list: '[1]' },
    });
    expect(
      events.find(({ type }) => type === 'approval:required'),
      'later events carry the canonical input',
    ).toMatchObject({ request: { input: { list: [1], n: 3, hooked: true } } });
  });

  test(
    'tool:pre hides what the schema of the tool marks as secret, and what the redact paths name ' +
      'for an unknown tool',
    async () => {
      const { session, events } = setup(
        [
          define('t', {
            parameters: z.object({ key: z.string().meta({ secret: true }), n: z.number() }),
          }),
        ],
        {},
        { redact: ['password'] },
      );
      await session.call('t', { key: 'CANARY', n: 'bad' });
      await session.call('nope', { password: 'CANARY' });
      expect(events.filter(({ type }) => type === 'tool:pre')).toMatchObject([
        { input: { n: 'bad' } },
        { toolName: 'nope' },
      ]);
      expect(JSON.stringify(events)).not.toContain('CANARY');
    },
  );

  test('an input that cannot be read is announced without it', async () => {
    const { session, events } = setup([define('t')]);
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await session.call('t', cyclic);
    expect(events).toMatchObject([
      { type: 'tool:pre', input: null },
      { type: 'tool:error', error: { code: 'invalid_input' } },
    ]);
  });

  test(
    'payloads are JSON with sessionId, callId, toolName, at and a growing seq; where several ' +
      'listen they are frozen to the bottom',
    async () => {
      let now = 1_000;
      const { session, events } = setup(
        [define('t', { requiresApproval: true })],
        { approver: () => 'allow_once' },
        { now: () => now++, newId: () => 'id-1' },
      );
      session.events.on('*', () => {});
      await session.call('t', { a: { b: [1] } });
      expect(events.map((event) => ('seq' in event ? event.seq : 0))).toEqual([1, 2, 3, 4, 5, 6]);
      for (const event of events) {
        expect(isFrozenThrough(event), event.type).toBe(true);
        expect(JSON.parse(JSON.stringify(event)), event.type).toEqual(event);
        expect(event).toMatchObject({ sessionId: 's', at: expect.any(Number) });
        if (event.type !== 'approval:required')
          expect(event).toMatchObject({ toolName: 't', callId: 'id-1' });
      }
    },
  );

  test('an event with one listener is its own, whatever others listen to', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t', { handler: (input: unknown) => input }));
    const session = registry.createSession({ sessionId: 's' });
    const frozen: string[] = [];
    for (const type of ['tool:pre', 'policy:check', 'tool:post'] as const)
      session.events.on(type, (event) => {
        if (Object.isFrozen(event)) frozen.push(type);
        Object.assign(event, { hacked: true });
        if (type === 'tool:post')
          Object.assign((event as unknown as { result: { output: object } }).result.output, {
            hacked: true,
          });
      });
    const result = await session.call('t', { a: 1 });
    expect(frozen).toEqual([]);
    expect(result.output).toEqual({ a: 1 });
    registry.events.on(
      'tool:post',
      (event) => void (isFrozenThrough(event) && frozen.push('both')),
    );
    await session.call('t', { a: 1 });
    expect(frozen).toEqual(['tool:post', 'both']);
  });

  test(
    'whoever subscribes while an event is told hears the next one, and never one that its only ' +
      'listener changed',
    async () => {
      const registry = new HostToolRegistry();
      registry.register(define('t'));
      const session = registry.createSession({ sessionId: 's' });
      const heard: { type: string; hacked?: boolean }[] = [];
      let subscribed = false;
      session.events.on('tool:pre', (event) => {
        Object.assign(event, { hacked: true });
        if (subscribed) return;
        subscribed = true;
        session.events.on('*', (own) => void heard.push(own));
        registry.events.on('*', (own) => void heard.push(own));
      });
      await session.call('t');
      expect(heard.map(({ type }) => type)).toEqual([
        'policy:check',
        'policy:check',
        'tool:post',
        'tool:post',
      ]);
      expect(heard.every((event) => event.hacked === undefined && isFrozenThrough(event))).toBe(
        true,
      );
    },
  );

  test('a queued event is frozen, because others may listen by then', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t'));
    const own = registry.createSession({ sessionId: 's' });
    const seen: boolean[] = [];
    let calls = 0;
    own.events.on('tool:pre', (event) => {
      seen.push(isFrozenThrough(event));
      if (calls++ === 0) void own.call('t', { a: { b: 1 } });
    });
    await own.call('t');
    expect(seen).toEqual([false, true]);
  });

  test('a listener cannot change what runs or what the caller gets', async () => {
    const handler = vi.fn((input: unknown) => input);
    const { session } = setup([define('t', { handler })]);
    session.events.on('*', (event) => {
      try {
        Object.assign((event as { input?: object }).input ?? {}, { hacked: true });
        Object.assign((event as { result?: { output?: object } }).result?.output ?? {}, {
          hacked: true,
        });
      } catch {
        // Frozen.
      }
    });
    expect(await session.call('t', { a: 1 })).toMatchObject({ output: { a: 1 } });
    expect((await session.call('t', { a: 1 })).output).not.toHaveProperty('hacked');
  });

  test('a denial emits policy:violation and then tool:error, which say the same', async () => {
    const { session, events } = setup([define('t')], {
      rules: [{ id: 'r1', effect: 'deny', reason: 'too_early' }],
    });
    const result = await session.call('t');
    const same = { reason: 'too_early', ruleId: 'r1', source: 'session' };
    expect(events.map(({ type }) => type)).toEqual([
      'tool:pre',
      'policy:check',
      'policy:violation',
      'tool:error',
    ]);
    expect(events[1]).toMatchObject({ effect: 'deny', ...same });
    expect(events[2]).toMatchObject(same);
    expect(events[3]).toMatchObject({ error: same, status: 'rejected' });
    expect(result).toMatchObject({ error: same, metadata: { status: 'rejected' } });
  });

  test('the session and the registry hear the same events', async () => {
    const { session, events } = setup([define('t')]);
    const heard: unknown[] = [];
    session.events.on('*', (event) => void heard.push(event));
    await session.call('t');
    expect(heard).toEqual(events);
  });
});

function isFrozenThrough(value: unknown): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough))
  );
}
