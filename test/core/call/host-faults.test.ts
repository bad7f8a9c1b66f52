/**
 * What the host's own code throws is never lost: the logger gets it with its stack, and the result
 * holds it as its cause.
 */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type ApprovalAnswer,
  defineTool,
  HostToolRegistry,
  type Logger,
  type RegistryOptions,
  type SessionOptions,
  type ToolResult,
} from '../../../src/index.ts';
import { approvalStoreOf } from '../../stores/shared/ports.ts';
import { deferred } from '../approval/kit.ts';

const boom = new RangeError('boom');
const thrower = (): never => {
  throw boom;
};
/** Registering a tool asks for its defaults; this one throws when a call asks. */
let asked = false;
const throwsLater = (): string => (asked ? thrower() : 'x');
const vendor = (validate: () => unknown) => ({
  '~standard': {
    version: 1,
    vendor: 'v',
    validate,
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
});

interface Logged {
  readonly err: Error;
  readonly source: string;
  readonly callId?: string;
  readonly toolName?: string;
  readonly sessionId?: string;
}

async function call(
  session: Partial<SessionOptions>,
  tool: Record<string, unknown> = {},
  registry: RegistryOptions = {},
): Promise<{ readonly result: ToolResult; readonly logged: readonly Logged[] }> {
  const logged: Logged[] = [];
  const made = new HostToolRegistry({
    logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
    ...registry,
  });
  asked = false;
  made.register(
    defineTool({
      name: 't',
      description: 'd',
      parameters: { type: 'object' },
      handler: () => 1,
      ...tool,
    } as never),
  );
  asked = true;
  const result = await made
    .createSession({ sessionId: 's', ...session })
    .call('t', {}, { callId: 'c' });
  return { result, logged };
}

describe('what a host’s code throws', () => {
  test.each<
    [
      who: string,
      source: string,
      code: string,
      session: Partial<SessionOptions>,
      tool?: Record<string, unknown>,
      registry?: RegistryOptions,
    ]
  >([
    ['a policy', 'policy', 'policy_error', {}, {}, { policies: [{ id: 'p', check: thrower }] }],
    [
      'an asynchronous policy',
      'policy',
      'policy_error',
      {},
      {},
      { policies: [{ id: 'p', check: async () => thrower() }] },
    ],
    ['a check', 'check', 'policy_error', {}, { policy: { check: thrower } }],
    ['requiresApproval', 'requiresApproval', 'policy_error', {}, { requiresApproval: thrower }],
    ['a before hook', 'hook', 'policy_error', { hooks: [{ before: thrower }] }],
    [
      'an asynchronous before hook',
      'hook',
      'policy_error',
      { hooks: [{ before: async () => thrower() }] },
    ],
    [
      'an approver',
      'approver',
      'approval_denied',
      { approver: thrower },
      { requiresApproval: true },
    ],
    ['a resource key', 'resourceKey', 'policy_error', {}, { resourceKey: thrower }],
    [
      'a refinement of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: z.object({}).refine(thrower) },
    ],
    [
      'an asynchronous refinement of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: z.object({}).refine(async () => thrower()) },
    ],
    [
      'a transform of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: z.object({ a: z.any().transform(thrower) }) },
    ],
    [
      'a default of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: z.object({ a: z.string().default(throwsLater) }) },
    ],
    [
      'a vendor’s schema of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: vendor(thrower) },
    ],
    [
      'a vendor’s asynchronous schema of the input',
      'parameters',
      'invalid_input',
      {},
      { parameters: vendor(async () => thrower()) },
    ],
    [
      'a refinement of the output',
      'outputSchema',
      'invalid_output',
      {},
      { outputSchema: z.number().refine(thrower) },
    ],
    [
      'an asynchronous refinement of the output',
      'outputSchema',
      'invalid_output',
      {},
      { outputSchema: z.number().refine(async () => thrower()) },
    ],
    ['a handler', 'handler', 'handler_error', {}, { handler: thrower }],
    [
      'a handler whose errors are masked',
      'handler',
      'handler_error',
      { exposeErrors: 'masked' },
      { handler: thrower },
    ],
    [
      'the approval store',
      'approvals.store',
      'approval_denied',
      { approvalMode: 'suspend', principal: 'ada' },
      { requiresApproval: true },
      {
        approvals: {
          secret: 'a secret that is long enough to be one',
          store: approvalStoreOf({ put: thrower, take: thrower }),
        },
      },
    ],
  ])(
    '%s: reaches the logger with its stack, and the result as its cause',
    async (_, source, code, session, tool, registry) => {
      const { result, logged } = await call(session, tool, registry);
      expect(result).toMatchObject({ success: false, error: { code } });
      expect(result.error?.cause).toBe(boom);
      expect(logged).toEqual([
        expect.objectContaining({ err: boom, source, sessionId: 's', callId: 'c', toolName: 't' }),
      ]);
    },
  );

  test("by a schema, in the parse for a gate, is the cause of that gate's error", async () => {
    let reads = 0;
    const parameters = z.object({}).refine(() => (++reads < 2 ? true : thrower()));
    const { result, logged } = await call({}, { parameters, resourceKey: () => 'k' });
    expect(result.error).toMatchObject({ code: 'policy_error', reason: 'resource_key_failed' });
    expect(logged).toEqual([
      expect.objectContaining({
        source: 'resourceKey',
        err: expect.objectContaining({ cause: boom }),
      }),
    ]);
  });

  test('by the knobs’ schema is logged, and the tool is not available', async () => {
    const policy = { knobs: z.object({ k: z.string().default(throwsLater) }) };
    const { result, logged } = await call({}, { policy });
    expect(result.error).toMatchObject({ code: 'tool_not_available', reason: 'knobs_missing' });
    expect(logged).toEqual([{ err: boom, source: 'knobs', sessionId: 's', toolName: 't' }]);
  });

  test('by the knobs’ schema when a profile is defined is the cause of what is thrown', () => {
    const registry = new HostToolRegistry();
    const policy = { knobs: z.object({ k: z.string().refine(thrower) }) };
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object' },
        policy,
        handler: () => 1,
      }),
    );
    expect(() =>
      registry.defineProfile({ id: 'p', tools: [{ name: 't', knobs: { k: 'x' } }] }),
    ).toThrow(expect.objectContaining({ code: 'unknown_knob', cause: boom }));
  });

  test('differs from a refusal, which is the model’s mistake and not logged', async () => {
    const input = await call({}, { parameters: z.object({}).refine(() => false) });
    expect(input.result.error).toMatchObject({ code: 'invalid_input' });
    const output = await call({}, { outputSchema: z.number().refine(async () => false) });
    expect(output.result.error).toMatchObject({ code: 'invalid_output' });
    for (const { result, logged } of [input, output]) {
      expect(logged).toEqual([]);
      expect(result.error).not.toHaveProperty('cause');
    }
  });

  test('an after hook’s is logged; the result stays as it was', async () => {
    const { result, logged } = await call({ hooks: [{ after: thrower }] });
    expect(result).toMatchObject({ success: true, output: 1 });
    expect(logged).toEqual([expect.objectContaining({ err: boom, source: 'hook' })]);
  });

  test('a cause is seen by code alone: it is in no JSON, no copy and no event', async () => {
    const events: unknown[] = [];
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({ name: 't', description: 'd', parameters: { type: 'object' }, handler: thrower }),
    );
    registry.events.on('*', (event) => void events.push(event));
    const { error } = await registry
      .createSession({ sessionId: 's', exposeErrors: 'masked' })
      .call('t');
    expect(Object.keys(error ?? {})).not.toContain('cause');
    expect(JSON.stringify(error)).not.toContain('boom');
    expect(structuredClone(error)).not.toHaveProperty('cause');
    expect(events.every((event) => !('cause' in ((event as { error?: object }).error ?? {})))).toBe(
      true,
    );
  });

  test('what is answered instead of a decision is named, with what was expected', async () => {
    const approver = await call({ approver: (() => 'allow') as never }, { requiresApproval: true });
    expect(approver.result.error).toMatchObject({
      code: 'approval_denied',
      reason: 'invalid_answer',
    });
    expect(approver.logged[0]?.err.message).toBe(
      'Expected the approver to return "allow_once", "allow_always", "reject_once", ' +
        '"reject_always" or { decision, by?, roles?, message?, input?, grant?: { match?, uses?, ' +
        'expiresInMs? } }, got `allow` (string).',
    );
    const policy = await call({ policies: [{ id: 'p', check: (() => true) as never }] });
    expect(policy.result.error).toMatchObject({ code: 'policy_error', reason: 'policy_nonsense' });
    expect(policy.logged[0]?.err.message).toBe(
      'Expected `p` to return allow(), ask(), deny(reason) or undefined, got `true` (boolean).',
    );
    for (const nothing of [() => null, async () => ({})]) {
      const schema = await call({}, { parameters: vendor(nothing) });
      expect(schema.result.error).toMatchObject({ code: 'invalid_input' });
      expect(schema.logged[0]?.err.message).toMatch(
        /^Expected the schema to answer \{ value \} or \{ issues \}, got (null|an object)\.$/,
      );
    }
  });

  test('is logged without the call’s secrets, its causes too', async () => {
    const logged: Logged[] = [];
    const registry = new HostToolRegistry({
      logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
    });
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: z.object({ token: z.string().meta({ 'x-secret': true }) }),
        handler: ({ token }) => {
          throw Object.assign(
            new Error(`no ${token}`, { cause: new Error(`because of ${token}`) }),
            { code: `E_${token}`, request: { token } },
          );
        },
      }),
    );
    const result = await registry
      .createSession({ sessionId: 's' })
      .call('t', { token: 'hunter2hunter2' });
    expect(result.error?.message).toBe('no [redacted]');
    const { err } = logged[0] as Logged;
    expect(err).toBeInstanceOf(Error);
    expect(err).toMatchObject({
      message: 'no [redacted]',
      code: 'E_[redacted]',
      cause: { message: 'because of [redacted]' },
    });
    expect(err).not.toHaveProperty('request');
    for (const text of [err.stack, String(err.cause), JSON.stringify(err)])
      expect(text).not.toContain('hunter2');
  });

  test(
    'by a schema is logged without the secrets of the input and the output, those that a repair ' +
      'brought to light too',
    async () => {
      const logged: Logged[] = [];
      const registry = new HostToolRegistry({
        logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
      });
      const leak = (value: unknown): never => {
        throw new Error(JSON.stringify(value));
      };
      const secret = z.object({ at: z.object({ token: z.string().meta({ 'x-secret': true }) }) });
      registry.register(
        defineTool({
          name: 'in',
          description: 'd',
          parameters: secret.refine(leak),
          handler: () => 1,
        }),
      );
      const handler = (): object => ({ at: { token: 'hunter2hunter2' } });
      registry.register(
        defineTool({
          name: 'out',
          description: 'd',
          parameters: { type: 'object' },
          outputSchema: secret.refine(leak),
          handler: handler as never,
        }),
      );
      const session = registry.createSession({ sessionId: 's', repair: 'safe' });
      await session.call('in', { at: '{"token":"hunter2hunter2"}' });
      await session.call('out');
      const err = expect.objectContaining({ message: '{"at":{"token":"[redacted]"}}' });
      expect(logged).toEqual([
        expect.objectContaining({ err, toolName: 'in' }),
        expect.objectContaining({ err, toolName: 'out' }),
      ]);
    },
  );

  test(
    'after nobody waits for it any more is logged all the same, unless it stopped because it ' +
      'was told to',
    async () => {
      vi.useFakeTimers();
      const logged: Logged[] = [];
      const registry = new HostToolRegistry({
        logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
        policyTimeoutMs: 100,
      });
      const later = (error: unknown) =>
        new Promise<never>((_resolve, reject) => setTimeout(() => reject(error as Error), 1_000));
      const late = (name: string, handler: () => unknown): unknown =>
        registry.register(
          defineTool({
            name,
            description: 'd',
            parameters: { type: 'object' },
            timeoutMs: 100,
            handler: handler as () => number,
          }),
        );
      late('throws', () => later(boom));
      late('stops', () => later(new DOMException('aborted', 'AbortError')));
      const session = registry.createSession({ sessionId: 's' });
      registry.register(
        defineTool({
          name: 'validates',
          description: 'd',
          parameters: z.object({}).refine(() => later(boom)),
          handler: () => 1,
        }),
      );
      const slow = registry.createSession({
        sessionId: 'slow',
        policies: [{ id: 'p', check: () => later(boom) }],
      });
      const calls = [
        session.call('throws'),
        session.call('stops'),
        slow.call('throws'),
        session.call('validates'),
      ];
      await vi.advanceTimersByTimeAsync(2_000);
      expect((await Promise.all(calls)).map(({ error }) => error?.reason ?? error?.code)).toEqual([
        'timeout',
        'timeout',
        'policy_timeout',
        'invalid_input',
      ]);
      expect(logged.map(({ err, source }) => [err, source])).toEqual([
        [boom, 'handler'],
        [boom, 'gate'],
        [boom, 'gate'],
      ]);
    },
  );
});

describe('an approver whose answer is no longer needed', () => {
  /** A call that waits for an approver, which settles when the test says so. */
  async function waiting() {
    vi.useFakeTimers();
    const logged: Logged[] = [];
    const registry = new HostToolRegistry({
      logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
    });
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: { type: 'object' },
        requiresApproval: true,
        handler: () => 1,
      }),
    );
    const asked = deferred<ApprovalAnswer>();
    const session = registry.createSession({
      sessionId: 's',
      approvalTimeoutMs: 100,
      approver: () => asked.promise,
    });
    const controller = new AbortController();
    const call = session.call('t', {}, { callId: 'c', signal: controller.signal });
    const [question] = await session.approvals.pending();
    return { session, controller, call, question: question?.id ?? '', asked, logged };
  }
  const ends: [
    how: string,
    end: (world: Awaited<ReturnType<typeof waiting>>) => unknown,
    code: string | undefined,
  ][] = [
    ['timed out', () => vi.advanceTimersByTimeAsync(100), 'approval_timeout'],
    ['was cancelled', ({ controller }) => controller.abort(), 'cancelled'],
    ['was closed with its session', ({ session }) => session.close(), 'session_closed'],
    [
      'was answered by somebody else',
      ({ session, question }) => session.approvals.answer(question, 'allow_once'),
      undefined,
    ],
  ];

  test.each(ends)('and throws after its call %s is logged', async (_, end, code) => {
    const world = await waiting();
    await end(world);
    const { error } = await world.call;
    expect(error?.code).toBe(code);
    world.asked.reject(boom);
    await vi.advanceTimersByTimeAsync(0);
    expect(world.logged).toEqual([
      { err: boom, source: 'approver', sessionId: 's', callId: 'c', toolName: 't' },
    ]);
  });

  test.each(ends)('and stops because it was told to after its call %s is not', async (_, end) => {
    const world = await waiting();
    await end(world);
    await world.call;
    world.asked.reject(new DOMException('The question is closed.', 'AbortError'));
    await vi.advanceTimersByTimeAsync(0);
    expect(world.logged).toEqual([]);
  });

  test.each(ends)(
    'and answers after its call %s changes nothing, and is no fault',
    async (_, end, code) => {
      const world = await waiting();
      await end(world);
      await world.call;
      world.asked.resolve('reject_once');
      await vi.advanceTimersByTimeAsync(0);
      expect((await world.call).error?.code).toBe(code);
      expect(world.logged).toEqual([]);
    },
  );
});

describe('a logger', () => {
  test.each<[string, () => unknown]>([
    ['throws', thrower],
    ['rejects', () => Promise.reject(boom)],
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what this row is about.
    ['answers a thenable that throws', () => ({ then: thrower })],
    [
      'answers an object whose `then` throws',
      () => Object.defineProperty({}, 'then', { get: thrower }),
    ],
  ])('that %s affects nothing', async (_, answer) => {
    const { result } = await call(
      {},
      { handler: thrower },
      { logger: { warn: answer as () => void, error: answer as () => void } },
    );
    expect(result).toMatchObject({
      success: false,
      error: { code: 'handler_error', message: 'boom' },
    });
  });
});

describe('a promise where an answer is due at once', () => {
  test('refuses the call, and its rejection ends no process', async () => {
    const { result, logged } = await call({}, { resourceKey: async () => thrower() });
    expect(result.error).toMatchObject({ code: 'policy_error', reason: 'resource_key_failed' });
    expect(logged[0]?.err.message).toBe(
      'Expected `resourceKey` to return a string synchronously, got a promise.',
    );
  });

  test('of an adapter that is informed of the start is ignored', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({ name: 't', description: 'd', parameters: { type: 'object' }, handler: () => 1 }),
    );
    const surface = { name: 'x', started: (async () => thrower()) as () => void };
    expect(
      await registry.createSession({ sessionId: 's' }).call('t', {}, { surface }),
    ).toMatchObject({ success: true });
  });
});

describe('odd host code at the edges of a call', () => {
  const anything = { type: 'object' } as const;
  const hostile = Object.defineProperty(new Error('x'), 'stack', { get: thrower });
  const odd = (more: object): AbortSignal =>
    ({
      aborted: false,
      addEventListener: () => {},
      removeEventListener: () => {},
      ...more,
    }) as unknown as AbortSignal;

  test.each<[string, () => AbortSignal]>([
    ['whose removal throws', () => odd({ removeEventListener: thrower })],
    [
      'whose listening throws what cannot be read',
      () =>
        odd({
          addEventListener: () => {
            throw hostile;
          },
        }),
    ],
  ])(
    'a signal %s: the call ends, is told and counted once, and gives its id back',
    async (_, signal) => {
      const registry = new HostToolRegistry();
      registry.register(
        defineTool({ name: 't', description: 'd', parameters: anything, handler: () => 1 }),
      );
      const session = registry.createSession({ sessionId: 's' });
      const ends: string[] = [];
      for (const type of ['tool:post', 'tool:error'] as const)
        registry.events.on(type, ({ callId }) => void ends.push(callId));
      await session.call('t', {}, { signal: signal(), callId: 'x' });
      expect(ends).toEqual(['x']);
      const again = await session.call('t', {}, { callId: 'x' });
      expect(again).toMatchObject({ success: true });
      expect(ends).toEqual(['x', 'x']);
      expect(session.metrics()).toMatchObject({ calls: 2 });
    },
  );

  const enders: readonly [
    string,
    (end: () => undefined) => { readonly thrown: unknown; readonly logger?: Logger },
  ][] = [
    [
      'a getter of what a handler throws',
      (end) => ({
        thrown: Object.defineProperty(new Error('x'), 'message', { get: () => end() ?? 'x' }),
      }),
    ],
    [
      'a logger that is told what a handler threw',
      (end) => ({ thrown: new Error('x'), logger: { warn: () => {}, error: end } }),
    ],
  ];
  test.each(enders)(
    '%s ends the call: it ends once, is counted once, and its tool drains',
    async (_, make) => {
      const caller = new AbortController();
      const { thrown, logger } = make(() => void caller.abort() as undefined);
      const registry = new HostToolRegistry({ logger });
      const throws = async (): Promise<never> => {
        throw thrown;
      };
      const tool = registry.register(
        defineTool({ name: 't', description: 'd', parameters: anything, handler: throws }),
      );
      const session = registry.createSession({ sessionId: 's' });
      const ends: string[] = [];
      registry.events.on('tool:error', ({ error }) => void ends.push(error.code));
      const result = await session.call('t', {}, { signal: caller.signal });
      expect(result).toMatchObject({ success: false, error: { code: 'cancelled' } });
      expect(ends).toEqual(['cancelled']);
      expect(session.metrics()).toMatchObject({ calls: 1, cancelled: 1, failed: 0 });
      await tool.drain();
      await session.close();
    },
  );

  test('a message that changes while it is read costs the call its text at most', async () => {
    let reads = 0;
    const changing = {
      get message(): unknown {
        return reads++ % 2 === 0 ? 'a text' : 7;
      },
    };
    const registry = new HostToolRegistry();
    const throws = async (): Promise<never> => {
      throw changing;
    };
    registry.register(
      defineTool({ name: 't', description: 'd', parameters: anything, handler: throws }),
    );
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('t')).toMatchObject({
      success: false,
      error: { code: 'handler_error', message: 'a text' },
    });
  });

  test('a schema that refuses what it has accepted leaves no gate without an input', async () => {
    for (const more of [
      { policy: { check: ({ allow }: { allow(): unknown }) => allow() } },
      { requiresApproval: () => false },
      { resourceKey: () => 'k' },
    ]) {
      let reads = 0;
      const parameters = z.object({ a: z.string().refine(() => ++reads < 2) });
      const registry = new HostToolRegistry();
      registry.register(
        defineTool({ name: 't', description: 'd', parameters, handler: () => 1, ...more } as never),
      );
      expect(await registry.createSession({ sessionId: 's' }).call('t', { a: 'x' })).toMatchObject({
        success: false,
        error: { code: 'policy_error' },
      });
    }
  });

  test('a resource key that rejects ends no process in a plan or a batch either', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: anything,
        resourceKey: (async () => thrower()) as never,
        handler: () => 1,
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    session.plan([{ id: '1', name: 't', arguments: {} }]);
    const { results } = await session.executeBatch([{ id: '1', name: 't', arguments: {} }]);
    expect(results[0]?.result).toMatchObject({ error: { reason: 'resource_key_failed' } });
  });

  test.each([
    ['zod', z.object({ k: z.string().default('hunter2hunter2') })],
    [
      'raw',
      { type: 'object', properties: { k: { type: 'string', default: 'hunter2hunter2' } } } as const,
    ],
  ])(
    'a secret that a %s schema fills in by default is in no error and no log',
    async (_, parameters) => {
      const logged: Logged[] = [];
      const registry = new HostToolRegistry({
        redact: ['k'],
        logger: { warn: () => {}, error: (data) => void logged.push(data as Logged) },
      });
      const handler = ({ k }: { k: string }): never => {
        throw new Error(`bad ${k}`);
      };
      registry.register(defineTool({ name: 't', description: 'd', parameters, handler } as never));
      const { error } = await registry.createSession({ sessionId: 's' }).call('t', {});
      expect(error?.message).toBe('bad [redacted]');
      expect(logged[0]?.err.message).toBe('bad [redacted]');
    },
  );

  test('the clean-up of a generator that throws is logged, and changes nothing', async () => {
    const logged: unknown[] = [];
    const registry = new HostToolRegistry({
      logger: { warn: () => {}, error: (data, message) => void logged.push([message, data]) },
    });
    const controller = new AbortController();
    async function* handler() {
      try {
        while (true) yield 'going on';
      } finally {
        thrower();
      }
    }
    registry.register(
      defineTool({ name: 't', description: 'd', parameters: anything, handler: handler as never }),
    );
    const session = registry.createSession({ sessionId: 's' });
    registry.events.on('tool:progress', () => controller.abort());
    const { error } = await session.call('t', {}, { callId: 'c', signal: controller.signal });
    expect(error).toMatchObject({ code: 'cancelled' });
    await vi.waitFor(() =>
      expect(logged).toEqual([
        [
          'the clean-up of a generator threw',
          { err: boom, source: 'handler', sessionId: 's', callId: 'c', toolName: 't' },
        ],
      ]),
    );
  });

  test('a generator that is answered after its call has ended runs no step', async () => {
    const registry = new HostToolRegistry();
    let steps = 0;
    async function* generator() {
      steps++;
      yield 1;
    }
    registry.register(
      defineTool({
        name: 't',
        description: 'd',
        parameters: anything,
        handler: (() => {
          void session.close();
          return generator();
        }) as never,
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.call('t')).toMatchObject({ error: { code: 'session_closed' } });
    expect(steps).toBe(0);
  });
});
