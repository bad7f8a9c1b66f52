/**
 * The way of one call through its stages: what may change while it waits, and what is left of it.
 */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Call } from '../../../src/core/call/call.ts';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  type AnyEvent,
  fail,
  HostToolRegistry,
  type RegistryOptions,
  type SessionOptions,
  type ToolContext,
} from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { gate, outcome, turns, world } from './world.ts';

/** Runs this after so many microtasks. */
async function after(count: number, run: () => void): Promise<void> {
  await turns(count);
  run();
}

describe('a rule that comes while a call waits', () => {
  const ways: readonly [string, Partial<SessionOptions>, Record<string, unknown>][] = [
    ['a policy', { policies: [{ id: 'p', check: async () => undefined }] }, {}],
    ['a hook', { hooks: [{ before: async () => undefined }] }, {}],
    [
      'a hook and a policy',
      {
        hooks: [{ before: async () => undefined }],
        policies: [{ id: 'p', check: async () => undefined }],
      },
      {},
    ],
    ['a person', { approver: async () => 'allow_once' as const }, { requiresApproval: true }],
    [
      'a person and a policy',
      {
        approver: async () => 'allow_once' as const,
        policies: [{ id: 'p', check: async () => undefined }],
      },
      { requiresApproval: true },
    ],
  ];
  test.each(ways)(
    'for %s is never broken by a handler that starts after it, in whichever turn it comes',
    async (_, options, more) => {
      const ends = new Set<unknown>();
      for (let turn = 0; turn < 60; turn++) {
        let there = false;
        const started = vi.fn(() => there);
        const { session, registry } = setup([define('t', { handler: started, ...more })], options);
        const calling = session.call('t');
        await after(turn, () => {
          there = true;
          registry.addRules([{ effect: 'deny', tools: 't' }]);
        });
        ends.add(outcome(await calling));
        expect(started.mock.results.map(({ value }) => value)).not.toContain(true);
      }
      // It came before the end of some and after that of others.
      expect([...ends].sort()).toEqual([false, 'policy_denied']);
    },
  );
});

describe('rules that change while a call is judged', () => {
  test.each([
    [8, 'ran'],
    [9, 'policy_error'],
  ])('%i times lead to: %s', async (most, end) => {
    let changes = 0;
    const { session, registry } = setup([define('t')], {
      policies: [
        {
          id: 'restless',
          check: () =>
            void (changes++ < most && registry.addRules([{ effect: 'allow', id: `r${changes}` }])),
        },
      ],
    });
    const result = await session.call('t');
    expect(outcome(result)).toBe(end);
    if (end === 'policy_error')
      expect(result.error).toMatchObject({ reason: 'rules_unstable', retryable: true });
  });
});

describe('an input that a person changed', () => {
  test('is no repetition of the call, though it is the same', async () => {
    const { session } = setup([define('t', { requiresApproval: true })], {
      limits: { loopGuard: 1 },
      approver: ({ input }) => ({ decision: 'allow_once', input }),
    });
    expect(outcome(await session.call('t', { n: 1 }))).toBe('ran');
    expect(outcome(await session.call('t', { n: 1 }))).toBe('loop_detected');
  });

  test('has no member that the schema would not see', async () => {
    const { session } = setup(
      [
        define('t', {
          requiresApproval: true,
          parameters: { '~standard': { ...vendor, validate: (value: unknown) => ({ value }) } },
        }),
      ],
      { approver: () => ({ decision: 'allow_once', input: JSON.parse('{"__proto__":{"a":1}}') }) },
    );
    expect((await session.call('t')).error).toMatchObject({
      code: 'invalid_input',
      reason: 'unsafe_key',
    });
  });
});
const vendor = {
  version: 1,
  vendor: 'v',
  jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
};

test('a fault of the library ends the call, also after it waited', async () => {
  const w = world({ policies: [{ id: 'p', check: async () => undefined }] });
  const state = stateOf(w.session);
  const calling = w.session.call('still_alive');
  const current = vi.spyOn(state, 'current').mockImplementation(() => {
    throw new Error('ours');
  });
  expect((await calling).error).toMatchObject({
    code: 'internal',
    message: 'The call failed because of an internal error. Try again or use another tool.',
    cause: expect.objectContaining({ message: 'ours' }),
  });
  expect(w.warnings).toEqual(['internal error']);
  current.mockRestore();
  await w.settle();
});

describe('what is left of a call that has ended', () => {
  /** The calls in flight, newest first. */
  const inFlight = (session: Parameters<typeof stateOf>[0]): Call[] => {
    const calls: Call[] = [];
    for (let call = stateOf(session).registry.calls; call !== undefined; call = call.next)
      calls.push(call);
    return calls;
  };

  test('leads to no other call, nor does its session lead to it', async () => {
    const { session } = setup(
      ['a', 'b', 'c'].map((name) =>
        define(name, { handler: (_: never, { signal }: ToolContext) => gateOf(signal) }),
      ),
    );
    const controllers = ['a', 'b', 'c'].map(() => new AbortController());
    const calling = ['a', 'b', 'c'].map((name, index) =>
      session.call(name, {}, { signal: (controllers[index] as AbortController).signal }),
    );
    const calls = inFlight(session);
    expect(calls.map(({ toolName }) => toolName)).toEqual(['c', 'b', 'a']);
    controllers[1]?.abort();
    await calling[1];
    expect(inFlight(session).map(({ toolName }) => toolName)).toEqual(['c', 'a']);
    controllers[2]?.abort();
    controllers[0]?.abort();
    await Promise.all(calling);
    expect(calls.flatMap(({ previous, next }) => [previous, next])).toEqual(
      Array.from({ length: 6 }, () => undefined),
    );
    expect([
      stateOf(session).events.lastAnnounced,
      stateOf(session).registry.calls,
      stateOf(session).calls.inFlight,
    ]).toEqual([undefined, undefined, 0]);
  });
  const gateOf = (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

  test('is nothing that its caller keeps, and what it waited for is none of its own', async () => {
    const left: unknown[] = [];
    const { session } = setup(
      [
        define('inner'),
        define('outer', {
          uses: ['inner'],
          handler: async (_: never, { tools }: ToolContext) => {
            for (let count = 0; count < 3; count++)
              await (tools.call as (name: string) => Promise<unknown>)('inner');
            const { extra } = inFlight(session).at(-1) as Call;
            left.push(extra?.children?.size, extra?.cleanups?.size);
          },
        }),
      ],
      { policies: [{ id: 'p', check: async () => undefined }] },
    );
    await session.call('outer');
    expect(left).toEqual([0, 0]);
  });
});

test('the end of a call ends every call that it made', async () => {
  const ended: string[] = [];
  const names = ['a', 'b', 'c'];
  const inner = names.map((name) =>
    define(name, {
      handler: (_: never, { signal }: ToolContext) =>
        new Promise(() => signal.addEventListener('abort', () => void ended.push(name))),
    }),
  );
  const outer = define('outer', {
    uses: names,
    handler: (_: never, { tools }: ToolContext) =>
      void names.map((name) => tools.call(name as never)),
  });
  const { session } = setup([...inner, outer]);
  await session.call('outer');
  expect(ended).toEqual(names);
});

describe('an event without listeners', () => {
  /** Makes events of every kind. */
  const noise = async (
    heard: AnyEvent['type'],
    options: RegistryOptions = {},
  ): Promise<number[]> => {
    const registry = new HostToolRegistry(options);
    const hold = gate<number>();
    registry.registerAll([
      define('t'),
      define('talks', {
        handler: (_: never, { emit, progress }: ToolContext) => void [emit('e'), progress(1)],
      }),
      define('yields', { handler: () => fail('no') }),
      define('asks', { requiresApproval: true }),
      define('hangs', { handler: () => hold.promise }),
    ]);
    const session = registry.createSession({
      sessionId: 's',
      rules: [{ effect: 'deny', when: { no: true } }],
      approver: ({ input }) => (input.yes === true ? 'allow_once' : 'reject_once'),
    });
    const seqs: number[] = [];
    session.events.on(heard as 'tool:post', ({ seq }) => void seqs.push(seq));
    await session.call('talks');
    await session.call('yields');
    await session.call('t', { no: true });
    await session.call('asks', { yes: true });
    await session.call('asks');
    const controller = new AbortController();
    const hanging = session.call('hangs', {}, { signal: controller.signal });
    controller.abort();
    await hanging;
    hold.open(1);
    await turns();
    await session.call('t');
    return seqs;
  };

  test.each<[AnyEvent['type'], number]>([
    ['tool:pre', 7],
    ['tool:post', 3],
    ['tool:error', 4],
    ['tool:late', 1],
    ['tool:event', 1],
    ['tool:progress', 1],
    ['policy:check', 7],
    ['policy:violation', 1],
    ['approval:required', 2],
    ['approval:granted', 1],
    ['approval:denied', 1],
  ])('takes no number from those of %s', async (type, count) => {
    expect(await noise(type)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  });
});

test.each<[string, string, string]>([
  ['whose tool nobody has', 'nobody', 'tool_not_found'],
  ['whose tool is not available', 'gated', 'tool_not_available'],
  ['that is ended by the settings of its tool, as they are read', 'closing', 'session_closed'],
])('a call %s meets no hook', async (_, name, code) => {
  const before = vi.fn();
  let close = (): void => {};
  const knobs = z.object({}).refine(() => [close(), true][1]);
  const { session } = setup(
    [
      define('gated', { requires: [{ fact: 'f', equals: 1 }] }),
      define('closing', { policy: { knobs } }),
    ],
    { hooks: [{ before }] },
  );
  if (name === 'closing') close = () => void session.close();
  expect((await session.call(name)).error?.code).toBe(code);
  expect(before).not.toHaveBeenCalled();
});
