/**
 * A canary secret occurs in no event, log line, error text or prompt, whichever way it comes in.
 */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type AnyEvent,
  type AnyTool,
  type ApprovalRequest,
  type Approver,
  defineTool,
  fail,
  type Hook,
  HostToolRegistry,
  type JsonObject,
  ok,
  type RegistryOptions,
  type SessionOptions,
  serializeOutput,
  type ToolContext,
  type ToolResult,
  type ToolSession,
} from '../../../src/index.ts';
import { deferred, key } from '../../core/approval/kit.ts';
import { approvalStoreOf } from '../../stores/shared/ports.ts';

const canary = 'canary-f00dbabe';

/** What a tool of these tests is made from; the handler gets everything. */
type Config = Record<string, unknown>;
const marked = {
  type: 'object',
  properties: { token: { type: 'string', 'x-secret': true }, note: {} },
} as const;

interface Spied {
  readonly registry: HostToolRegistry;
  readonly session: ToolSession;
  readonly events: AnyEvent[];
  /** Adds a tool; its name is `probe` unless given. */
  add(config?: Config): void;
  /** Calls, and holds what came of it against the canary. */
  call(input?: unknown, name?: string, options?: object): Promise<ToolResult>;
  /** Everything that left the call but its output: events, log lines, errors, prompts. */
  told(): string;
  of(type: AnyEvent['type']): string;
}

function spy({
  registry: registryOptions = {},
  session: sessionOptions = {},
}: {
  registry?: RegistryOptions;
  session?: Partial<SessionOptions>;
} = {}): Spied {
  const lines: unknown[] = [];
  const log = (...line: unknown[]): void => void lines.push(line);
  const registry = new HostToolRegistry({
    logger: { warn: log, error: log },
    approvals: { secret: key },
    ...registryOptions,
  });
  const prompts: ApprovalRequest[] = [];
  const approver: Approver = (request) => {
    prompts.push(request);
    return 'allow_once';
  };
  const session = registry.createSession({
    sessionId: 's',
    principal: 'p',
    approver,
    ...sessionOptions,
  });
  const events: AnyEvent[] = [];
  registry.events.on('*', (event) => void events.push(event));
  const errors: unknown[] = [];
  const self: Spied = {
    registry,
    session,
    events,
    add(config = {}) {
      registry.register(
        defineTool({
          name: 'probe',
          description: 'Is tried.',
          parameters: marked,
          handler: () => 'done',
          ...config,
        } as never) as AnyTool<unknown>,
      );
    },
    async call(input = { token: canary }, name = 'probe', options = {}) {
      const result = await session.call(name, input, options);
      if (!result.success) errors.push(result.error, serializeOutput(result));
      return result;
    },
    told: () => JSON.stringify([events, lines, errors, prompts, session.metrics()]),
    of: (type) => JSON.stringify(events.filter((event) => event.type === type)),
  };
  return self;
}

const contextOf =
  (run: (context: ToolContext, input: { token: string }) => unknown) =>
  (input: never, context: never) =>
    run(context as ToolContext, input as { token: string });

describe('a marked argument', () => {
  const shapes: [how: string, parameters: unknown, input: unknown, redact?: readonly string[]][] = [
    [
      'by zod .meta({ secret: true })',
      z.object({ token: z.string().meta({ secret: true }) }),
      { token: canary },
    ],
    ['by raw x-secret', marked, { token: canary }],
    [
      'by raw secret',
      { type: 'object', properties: { token: { type: 'string', secret: true } } },
      { token: canary },
    ],
    ['by a redact path at any depth', { type: 'object' }, { deep: [{ token: canary }] }, ['token']],
    ['by a dotted redact path', { type: 'object' }, { auth: { token: canary } }, ['auth.token']],
    [
      'by a dotted redact path through an array',
      { type: 'object' },
      { auth: [{ token: canary }] },
      ['auth.token'],
    ],
    ['by a star', { type: 'object' }, { auth: { anything: canary } }, ['auth.*']],
    [
      'nested',
      z.object({ a: z.object({ b: z.object({ token: z.string().meta({ secret: true }) }) }) }),
      { a: { b: { token: canary } } },
    ],
    [
      'in an array',
      z.object({ tokens: z.array(z.string().meta({ secret: true })) }),
      { tokens: ['x', canary] },
    ],
    [
      'as a whole object',
      z.object({ auth: z.object({ user: z.string(), pass: z.string() }).meta({ secret: true }) }),
      { auth: { user: 'ann', pass: canary } },
    ],
    [
      'behind a $ref',
      {
        type: 'object',
        properties: { token: { $ref: '#/$defs/secret' } },
        $defs: { secret: { type: 'string', 'x-secret': true } },
      },
      { token: canary },
    ],
    [
      'in a recursive $ref',
      { type: 'object', properties: { token: { 'x-secret': true }, child: { $ref: '#' } } },
      { child: { child: { token: canary } } },
    ],
    [
      'in one alternative',
      z.object({
        auth: z.union([
          z.string().meta({ secret: true }),
          z.object({ key: z.string().meta({ secret: true }) }),
        ]),
      }),
      { auth: { key: canary } },
    ],
    [
      'in a record',
      z.object({ keys: z.record(z.string(), z.string().meta({ secret: true })) }),
      { keys: { any: canary } },
    ],
    [
      'optional, with a default',
      z.object({ token: z.string().meta({ secret: true }).optional().default('none') }),
      { token: canary },
    ],
  ];

  test.each(shapes)('%s is in no event and no prompt', async (_, parameters, input, redact) => {
    const spied = spy({ registry: withRedact(redact) });
    let ran: unknown;
    spied.add({
      parameters,
      requiresApproval: true,
      handler: (given: unknown) => {
        ran = given;
        return 'done';
      },
    });
    expect(await spied.call(input)).toMatchObject({ success: true });
    expect(JSON.stringify(ran)).toContain(canary);
    expect(spied.of('tool:pre')).toContain('[redacted]');
    expect(spied.of('approval:required')).toContain('[redacted]');
    expect(spied.told()).not.toContain(canary);
  });

  test('repeated in a field without a mark is in no event', async () => {
    const spied = spy();
    spied.add();
    await spied.call({ token: canary, note: [`Bearer ${canary}`, { [canary]: 1 }] });
    expect(spied.told()).not.toContain(canary);
  });

  test.each<[how: string, parameters: unknown, input: unknown]>([
    ['the whole input as text', marked, JSON.stringify({ token: canary })],
    ['the whole input as broken text', marked, `{"token":"${canary}",}`],
    [
      'an object as text',
      {
        type: 'object',
        properties: { auth: { type: 'object', properties: { token: { 'x-secret': true } } } },
      },
      { auth: JSON.stringify({ token: canary }) },
    ],
    [
      'an object as broken text',
      {
        type: 'object',
        properties: { auth: { type: 'object', properties: { token: { 'x-secret': true } } } },
      },
      { auth: `{"token":"${canary}"` },
    ],
    [
      'a list as text',
      { type: 'object', properties: { tokens: { type: 'array', items: { 'x-secret': true } } } },
      { tokens: JSON.stringify([canary]) },
    ],
  ])('sent as JSON in a text (%s) is in no event, mended or not', async (_, parameters, input) => {
    for (const repair of ['safe', 'off'] as const) {
      const spied = spy({ session: { repair } });
      spied.add({ parameters });
      await spied.call(input);
      expect(spied.told()).not.toContain(canary);
    }
  });

  test('sent as text below a redact path is in no event', async () => {
    const spied = spy({
      registry: { redact: ['password', 'auth.token'] },
      session: { repair: 'safe' },
    });
    spied.add({ parameters: { type: 'object' } });
    await spied.call(
      JSON.stringify({
        list: [JSON.stringify({ password: canary })],
        auth: JSON.stringify({ token: canary }),
      }),
    );
    expect(spied.told()).not.toContain(canary);
  });

  test("of an unknown tool is hidden by the registry's paths", async () => {
    const spied = spy({ registry: { redact: ['token'] } });
    spied.add();
    await spied.call({ token: canary }, 'prob');
    expect(spied.told()).toContain('Did you mean');
    expect(spied.told()).not.toContain(canary);
  });

  test('with text around it, escaped or encoded, is found in later texts', async () => {
    const secret = 'p@ss "word" é/\\';
    const spied = spy();
    spied.add({
      handler: () => {
        throw new Error(
          `${secret} ${JSON.stringify(secret)} ${encodeURIComponent(secret)} ` +
            `${new URLSearchParams({ secret })}`,
        );
      },
    });
    await spied.call({ token: secret });
    for (const form of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      'word',
    ])
      expect(spied.told()).not.toContain(form);
  });
});

describe('a secret of the input is in no text about the call', () => {
  const cases: [
    where: string,
    config: Config,
    options?: Parameters<typeof spy>[0],
    input?: unknown,
  ][] = [
    [
      'a thrown error',
      {
        handler: contextOf((_context, { token }) => {
          throw new Error(`bad ${token}`);
        }),
      },
    ],
    [
      'a thrown text',
      {
        handler: contextOf((_context, { token }) => {
          throw token;
        }),
      },
    ],
    [
      'a rejection',
      { handler: contextOf((_context, { token }) => Promise.reject(new Error(token))) },
    ],
    [
      'an error with a cause',
      {
        handler: contextOf((_context, { token }) => {
          throw new Error('failed', { cause: new Error(token) });
        }),
      },
    ],
    [
      'a long error that is cut in the middle of it',
      {
        handler: contextOf((_context, { token }) => {
          throw new Error(`${'x'.repeat(8_192 - 6)}${token}`);
        }),
      },
    ],
    [
      'a masked error',
      {
        handler: contextOf((_context, { token }) => {
          throw new Error(token);
        }),
      },
      { session: { exposeErrors: 'masked' } },
    ],
    [
      'a failure',
      {
        handler: contextOf((_context, { token }) =>
          fail({ message: token, reason: token, details: { list: [token, { [token]: token }] } }),
        ),
      },
    ],
    [
      "a policy's message",
      {},
      {
        registry: {
          policies: [
            {
              id: 'p',
              check: ({ input, context: _ }) =>
                ({ ...denial(), message: `no ${(input as { token: string }).token}` }) as never,
            },
          ],
        },
      },
    ],
    [
      "a check's message",
      {
        policy: {
          check: ({
            input,
            deny,
          }: {
            input: { token: string };
            deny(reason: string, message: string): unknown;
          }) => deny('not_now', `no ${input.token}`),
        },
      },
    ],
    [
      'a check that throws it',
      {
        policy: {
          check: ({ input }: { input: { token: string } }) => {
            throw new Error(input.token);
          },
        },
      },
    ],
    [
      "an ask's title",
      {
        policy: {
          check: ({ input, ask }: { input: { token: string }; ask(prompt: string): unknown }) =>
            ask(`Use ${input.token}?`),
        },
      },
    ],
    [
      "a prompt's title and message",
      {
        requiresApproval: (input: { token: string }) => ({
          title: `Use ${input.token}?`,
          message: `It is ${input.token}.`,
        }),
      },
    ],
    [
      "a person's message",
      { requiresApproval: true },
      { session: { approver: () => ({ decision: 'reject_once', message: `I saw ${canary}.` }) } },
    ],
    [
      "a before hook's deny",
      {},
      {
        session: {
          hooks: [
            {
              before: ({ input }) => ({
                action: 'deny',
                reason: 'not_now',
                message: `no ${String(input.token)}`,
              }),
            },
          ],
        },
      },
    ],
    [
      "a later hook's deny, of what an earlier one put in",
      {},
      {
        session: {
          hooks: [
            { before: () => ({ action: 'modify', input: { token: `${canary}-2` } }) },
            {
              before: ({ input }) => ({
                action: 'deny',
                reason: 'not_now',
                message: String(input.token),
              }),
            },
          ],
        },
      },
      { token: 'another' },
    ],
    [
      'a deny of what a hook has taken away',
      {},
      {
        session: {
          hooks: [
            { before: () => ({ action: 'modify', input: {} }) },
            { before: () => ({ action: 'deny', reason: 'not_now', message: canary }) },
          ],
        },
      },
    ],
    [
      'a before hook that throws it',
      {},
      {
        session: {
          hooks: [
            {
              before: ({ input }) => {
                throw new Error(String(input.token));
              },
            },
          ],
        },
      },
    ],
    [
      'an after hook that throws it',
      {},
      {
        session: {
          hooks: [
            {
              after: ({ input }) => {
                throw new Error(String(input.token));
              },
            },
          ],
        },
      },
    ],
    [
      "an after hook's failure",
      {},
      {
        session: {
          hooks: [
            {
              after: ({ input }, result) =>
                ({
                  success: false,
                  error: { code: 'handler_error', message: String(input.token), retryable: false },
                  metadata: result.metadata,
                }) as ToolResult,
            },
          ],
        },
      },
    ],
    [
      'a validation message',
      {
        parameters: z.object({
          token: z
            .string()
            .meta({ secret: true })
            .refine(() => false, { error: (issue) => `\`${String(issue.input)}\` will not do` }),
        }),
      },
    ],
    [
      'progress',
      { handler: contextOf((context, { token }) => context.progress(1, 2, `with ${token}`)) },
    ],
    [
      'progress that is cut in the middle of it',
      {
        handler: contextOf((context, { token }) =>
          context.progress(1, 2, `${'x'.repeat(65_536 - 6)}${token}`),
        ),
      },
    ],
    [
      "an event's data",
      {
        handler: contextOf((context, { token }) =>
          context.emit('step', { list: [token, { [token]: `is ${token}` }] }),
        ),
      },
    ],
    ["an event's name", { handler: contextOf((context, { token }) => context.emit(token)) }],
    [
      'the name of an event that was not declared',
      { events: ['other'], handler: contextOf((context, { token }) => context.emit(token)) },
    ],
    [
      'the name of an event that was too large',
      { handler: contextOf((context, { token }) => context.emit(token, 'x'.repeat(70_000))) },
    ],
    [
      'a log line',
      { handler: contextOf((context, { token }) => context.log('info', { said: token })) },
    ],
    [
      'what a generator yields',
      {
        handler: async function* (input: { token: string }) {
          yield `with ${input.token}`;
          yield { done: 1, message: input.token };
          yield { custom: input.token };
          return 'done';
        },
      },
    ],
    ['an output', { handler: contextOf((_context, { token }) => ({ echo: `it was ${token}` })) }],
    [
      'an output that is cut',
      { maxOutputChars: 100, handler: contextOf((_context, { token }) => token.repeat(20)) },
    ],
    [
      'an output that is cut at both ends',
      {
        maxOutputChars: 100,
        outputStrategy: 'head_tail',
        handler: contextOf((_context, { token }) => ({ text: token.repeat(20) })),
      },
    ],
    [
      'what the handler added to its result',
      { handler: contextOf((_context, { token }) => ok('done', { used: token })) },
    ],
    [
      'an output that its schema refuses',
      {
        outputSchema: z.object({
          text: z
            .string()
            .refine(() => false, { error: (issue) => `\`${String(issue.input)}\` will not do` }),
        }),
        handler: contextOf((_context, { token }) => ({ text: token })),
      },
    ],
    [
      'an output that is no JSON',
      { handler: contextOf((_context, { token }) => ({ [token]: 5n })) },
    ],
    [
      'a resource key that throws it',
      {
        resourceKey: (input: { token: string }) => {
          throw new Error(input.token);
        },
      },
    ],
    [
      'a deny by a rule that looks at it',
      {},
      { registry: { rules: [{ effect: 'deny', when: { token: { glob: '*babe' } } }] } },
    ],
  ];
  test.each(cases)('%s', async (_, config, options, input) => {
    const spied = spy(options);
    spied.add(config);
    await spied.call(input);
    expect(spied.told()).not.toContain(canary);
    // Nor half of it, where a text was cut.
    expect(spied.told()).not.toContain('canary');
  });

  test('a late settle', async () => {
    vi.useFakeTimers();
    const spied = spy();
    spied.add({
      timeoutMs: 10,
      handler: contextOf(
        (_context, { token }) =>
          new Promise((_resolve, reject) => setTimeout(reject, 50, new Error(token))),
      ),
    });
    const called = spied.call();
    await vi.advanceTimersByTimeAsync(60);
    expect((await called).success).toBe(false);
    expect(spied.of('tool:late')).toContain('threw');
    expect(spied.told()).not.toContain(canary);
  });

  test('a duplicate of a call in flight', async () => {
    const gate = deferred();
    const spied = spy();
    spied.add({ handler: () => gate.promise });
    const first = spied.call({ token: canary }, 'probe', { callId: 'same' });
    expect(await spied.call({ token: canary }, 'probe', { callId: 'same' })).toMatchObject({
      error: { code: 'duplicate_call_id' },
    });
    gate.resolve(canary);
    await first;
    expect(spied.told()).not.toContain(canary);
  });

  test('an explanation', async () => {
    const spied = spy();
    spied.add({
      policy: {
        check: ({
          input,
          deny,
        }: {
          input: { token: string };
          deny(reason: string, message: string): unknown;
        }) => deny('not_now', `no ${input.token}`),
      },
    });
    expect(JSON.stringify(await spied.session.explain('probe', { token: canary }))).not.toContain(
      canary,
    );
    spied.add({
      name: 'strict',
      parameters: z.object({
        token: z
          .string()
          .meta({ secret: true })
          .refine(() => false, { error: (issue) => String(issue.input) }),
      }),
    });
    expect(JSON.stringify(await spied.session.explain('strict', { token: canary }))).not.toContain(
      canary,
    );
  });
});

function withRedact(redact: readonly string[] | undefined): RegistryOptions {
  return redact === undefined ? {} : { redact };
}

function denial(): JsonObject {
  return { effect: 'deny', reason: 'not_now' };
}

describe('an output', () => {
  test.each<[how: string, config: Config, redact?: readonly string[]]>([
    [
      'by its schema',
      { outputSchema: z.object({ key: z.string().meta({ secret: true }), also: z.string() }) },
    ],
    ['by a redact path', {}, ['key']],
  ])(
    'that is marked secret (%s) reaches the caller, and is in no event',
    async (_, config, redact) => {
      const spied = spy({ registry: withRedact(redact) });
      spied.add({
        ...config,
        handler: () => ok({ key: canary, also: `it is ${canary}` }, { key: 'x', seen: canary }),
      });
      expect(await spied.call({})).toMatchObject({ success: true, output: { key: canary } });
      expect(spied.told()).not.toContain(canary);
    },
  );

  test.each<[what: string, hook: Hook]>([
    [
      'throws it',
      {
        after: (_call, result) => {
          throw new Error(JSON.stringify(result));
        },
      },
    ],
    [
      'makes it a failure',
      {
        after: (_call, result) =>
          ({
            success: false,
            error: {
              code: 'handler_error',
              message: JSON.stringify(result.output),
              retryable: false,
            },
            metadata: result.metadata,
          }) as ToolResult,
      },
    ],
  ])('of which an after hook speaks (%s) is in nothing that is told', async (_, hook) => {
    const spied = spy({ session: { hooks: [hook] } });
    spied.add({
      outputSchema: { type: 'object', properties: { key: { 'x-secret': true } } },
      handler: () => ({ key: canary }),
    });
    await spied.call({});
    expect(spied.told()).not.toContain(canary);
  });

  test.each(['head', 'head_tail'] as const)(
    'that is marked and then cut (%s) is in no event, nor is half of it',
    async (outputStrategy) => {
      for (let pad = 0; pad < 40; pad++) {
        const spied = spy({ registry: { redact: ['key'] } });
        spied.add({
          maxOutputChars: 80,
          outputStrategy,
          handler: () => ({ pad: 'x'.repeat(pad), key: canary, more: 'y'.repeat(200) }),
        });
        await spied.call({});
        expect(spied.told()).not.toContain('cana');
      }
    },
  );

  test('that its schema refuses is in no error', async () => {
    const spied = spy();
    spied.add({
      outputSchema: z.object({
        key: z
          .string()
          .meta({ secret: true })
          .refine(() => false, { error: (issue) => `\`${String(issue.input)}\` will not do` }),
      }),
      handler: () => ({ key: canary }),
    });
    expect(await spied.call({})).toMatchObject({ error: { code: 'invalid_output' } });
    expect(spied.told()).not.toContain(canary);
  });
});

describe('a knob', () => {
  const knobs = z.object({ apiKey: z.string().meta({ secret: true }).default('none') });
  test.each<[where: string, config: Config]>([
    [
      'an error',
      {
        handler: contextOf((context) => {
          throw new Error((context.knobs as { apiKey: string }).apiKey);
        }),
      },
    ],
    [
      'an output',
      { handler: contextOf((context) => ({ key: (context.knobs as { apiKey: string }).apiKey })) },
    ],
    [
      'an event',
      {
        handler: contextOf((context) =>
          context.emit('step', { key: (context.knobs as { apiKey: string }).apiKey }),
        ),
      },
    ],
    ["a check's message", { check: true }],
  ])('that is marked secret is not in %s', async (_, { check, ...config }) => {
    const spied = spy();
    const policy = {
      knobs,
      ...(check === true
        ? {
            check: (call: {
              knobs: { apiKey: string };
              deny(reason: string, message: string): unknown;
            }) => call.deny('not_now', call.knobs.apiKey),
          }
        : {}),
    };
    spied.add({ ...config, policy });
    spied.registry.defineProfile({
      id: 'live',
      tools: [{ name: 'probe', knobs: { apiKey: canary } }],
    });
    spied.session.setProfile('live');
    await spied.call({});
    expect(spied.told()).not.toContain(canary);
  });
});

describe('a chain of calls keeps one secret together', () => {
  const parent = (run: (context: ToolContext, input: { token: string }) => unknown): Config => ({
    name: 'parent',
    uses: ['probe'],
    handler: contextOf(run),
  });

  test('what a parent gives on in a field without a mark is in no event of the child', async () => {
    const spied = spy();
    spied.add({
      parameters: { type: 'object' },
      requiresApproval: true,
      handler: contextOf((context, input) => {
        context.progress(1, 1, JSON.stringify(input));
        context.log('info', input);
        return input;
      }),
    });
    spied.add(
      parent(
        async (context, { token }) => (await context.tools.call('probe', { text: token })).success,
      ),
    );
    expect(await spied.call({ token: canary }, 'parent')).toMatchObject({ output: true });
    const prompts = spied.events.filter(({ type }) => type === 'approval:required');
    expect(prompts).toHaveLength(1);
    expect(JSON.stringify(spied.events)).not.toContain(canary);
  });

  test('nor in its errors', async () => {
    const spied = spy();
    spied.add({
      parameters: { type: 'object' },
      handler: (input: unknown) => {
        throw new Error(JSON.stringify(input));
      },
    });
    spied.add(
      parent(async (context, { token }) => {
        const result = await context.tools.call('probe', { text: token });
        throw new Error(result.success ? 'no' : result.error.message);
      }),
    );
    await spied.call({ token: canary }, 'parent');
    expect(spied.told()).not.toContain(canary);
  });

  test('a secret output of a child is in no text about its parent', async () => {
    const spied = spy();
    spied.add({
      parameters: { type: 'object' },
      outputSchema: { type: 'object', properties: { key: { 'x-secret': true } } },
      handler: () => ({ key: canary }),
    });
    spied.add(
      parent(async (context) => {
        const result = await context.tools.call('probe', {});
        context.log('info', { got: result.output as string });
        return { text: `I got ${JSON.stringify(result.output)}` };
      }),
    );
    expect(await spied.call({}, 'parent')).toMatchObject({ success: true });
    expect(spied.told()).not.toContain(canary);
  });
});

describe('a suspended call', () => {
  test('reveals neither its secrets nor its token, asked, resumed, refused or failed', async () => {
    const spied = spy({ session: { approvalMode: 'suspend' } });
    spied.add({
      requiresApproval: true,
      handler: contextOf((context, { token }) => {
        context.log('info', token);
        throw new Error(token);
      }),
    });
    const first = await spied.call();
    const { token: approval } = (first.success ? undefined : first.approval) as { token: string };
    const pending = await spied.session.approvals.pending();
    expect(JSON.stringify(pending.map(({ token: _, ...request }) => request))).not.toContain(
      canary,
    );
    const results = [
      await spied.session.approvals.resume(`${approval}x`, 'allow_once'),
      await spied.session.approvals.resume(approval, {
        decision: 'allow_once',
        input: { token: `${canary}-edited` },
      }),
      await spied.session.approvals.resume(approval, 'allow_once'),
    ];
    expect(results.map((result) => (result.success ? undefined : result.error.code))).toEqual([
      'approval_denied',
      'handler_error',
      'approval_denied',
    ]);
    const told = spied.told() + JSON.stringify(results) + results.map(serializeOutput).join();
    expect(told).not.toContain(canary);
    for (const part of approval.split('.')) expect(told).not.toContain(part);
  });

  test('in a store that fails with the record in its message is not logged', async () => {
    const spied = spy({
      registry: {
        approvals: {
          secret: key,
          store: approvalStoreOf({
            put: (record) => {
              throw new Error(JSON.stringify(record));
            },
          }),
        },
      },
      session: { approvalMode: 'suspend' },
    });
    spied.add({ requiresApproval: true });
    expect(await spied.call()).toMatchObject({ error: { reason: 'store_unavailable' } });
    expect(spied.told()).not.toContain(canary);
  });
});

test('a clock that throws a secret fails no call and reveals nothing', async () => {
  const spied = spy({
    registry: {
      now: () => {
        throw new Error(canary);
      },
    },
  });
  spied.add({ requiresApproval: true });
  expect(await spied.call()).toMatchObject({ success: true });
  expect(spied.told()).not.toContain(canary);
});

test('a listener that throws what it heard logs no more than that it threw', async () => {
  const spied = spy();
  spied.add();
  spied.session.events.on('tool:pre', () => {
    throw new Error(canary);
  });
  spied.session.events.on('tool:post', () => Promise.reject(new Error(canary)) as never);
  await spied.call({});
  await Promise.resolve();
  expect(spied.told()).toContain('an event listener failed');
  expect(spied.told()).not.toContain(canary);
});
