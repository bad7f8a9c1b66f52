import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../../src/core/session/session.ts';
import {
  content,
  defineTool,
  type JsonValue,
  MisuseError,
  ok,
  type ToolSession,
} from '../../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  recordEvents,
  recordTape,
  replayTape,
  type Tape,
} from '../../../../src/surfaces/testing/index.ts';

const any = { type: 'object' } as const;
/** The calls of a tape as `tool input → how it ended`. */
const told = ({ calls }: Tape): string[] =>
  calls.map(
    ({ tool, input, result }) =>
      `${tool} ${JSON.stringify(input)} → ` +
      `${result.success ? JSON.stringify(result.output) : result.error.code}`,
  );

describe('a tape', () => {
  test('is plain JSON, versioned, the same for the same run, and frozen', async () => {
    const run = async (): Promise<Tape> => {
      const session = createTestSession({ tools: [mockTool({ name: 'read', output: { n: 1 } })] });
      const { tape } = recordTape(session);
      await session.call('read', { path: 'a' });
      await session.call('nix');
      return tape();
    };
    const tape = await run();
    expect(JSON.parse(JSON.stringify(tape))).toEqual(tape);
    expect(JSON.stringify(await run())).toBe(JSON.stringify(tape));
    expect(tape.version).toBe(1);
    expect(JSON.stringify(tape)).not.toMatch(/durationMs|"at"|"seq"/);
    expect(Object.isFrozen(tape.calls[0]?.result)).toBe(true);
  });

  test('holds of each tool what is needed to register it again, and nothing to run it by', () => {
    const tool = defineTool({
      name: 'git.log',
      description: 'Shows the log.',
      title: 'Log',
      version: '2',
      category: 'vcs',
      tags: ['git'],
      annotations: { readOnly: true },
      parameters: z.object({ max: z.number().default(3) }),
      outputSchema: z.object({ lines: z.array(z.string()) }),
      requires: [{ fact: 'repo', equals: true }],
      provides: ['log'],
      resourceKey: 'repo',
      policy: {
        knobs: z.object({ deep: z.boolean().default(false) }),
        check: ({ allow }) => allow(),
      },
      requiresApproval: true,
      timeoutMs: 5,
      maxOutputChars: 7_000,
      handler: () => ({ lines: [] }),
    });
    const { tape } = recordTape(createTestSession({ tools: [tool], facts: { repo: true } }));
    const { parameters, outputSchema, fingerprint } = tool;
    expect(tape().tools).toEqual([
      {
        name: 'git.log',
        description: 'Shows the log.',
        title: 'Log',
        version: '2',
        category: 'vcs',
        tags: ['git'],
        annotations: { readOnly: true },
        parameters,
        outputSchema,
        knobs: expect.objectContaining({ type: 'object' }),
        requires: [{ fact: 'repo', equals: true }],
        provides: ['log'],
        parallelSafe: true,
        resourceKey: 'repo',
        fingerprint,
      },
    ]);
  });

  test('has the tools that the session could see or called, and no others', async () => {
    const session = createTestSession({
      tools: ['seen', 'unseen', 'denied'].map((name) => mockTool({ name })),
      profile: { id: 'p', tools: ['seen', 'denied'] },
      rules: [{ effect: 'deny', tools: 'denied' }],
    });
    const { tape } = recordTape(session);
    expect(tape().tools.map(({ name }) => name)).toEqual(['seen']);
    await session.call('denied');
    expect(tape().tools.map(({ name }) => name)).toEqual(['seen', 'denied']);
  });

  test(
    'holds tools that came later or went away, and of a replaced one each version; one that ' +
      'comes back is the last',
    () => {
      const session = createTestSession({
        tools: [mockTool({ name: 'a' }), mockTool({ name: 'b' })],
      });
      const { registry } = session;
      const { tape } = recordTape(session);
      const shown = (): string[] =>
        tape().tools.map(({ name, description }) => `${name}: ${description}`);
      registry.register(mockTool({ name: 'c' }));
      registry.unregister('a');
      registry.registerOrReplace(mockTool({ name: 'b', description: 'New.' }));
      expect(shown()).toEqual(['a: Mock tool: a', 'b: Mock tool: b', 'c: Mock tool: c', 'b: New.']);
      registry.registerOrReplace(mockTool({ name: 'b' }));
      expect(shown()).toEqual(['a: Mock tool: a', 'c: Mock tool: c', 'b: New.', 'b: Mock tool: b']);
    },
  );

  test('a call that ends on a version that was replaced does not make it the last', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'a', version: '1', delayMs: 1 })],
    });
    const { tape } = recordTape(session);
    const call = session.call('a');
    session.registry.registerOrReplace(mockTool({ name: 'a', version: '2' }));
    await call;
    const [first, second] = tape().tools;
    expect([first?.version, second?.version]).toEqual(['1', '2']);
    expect(tape().calls[0]?.fingerprint).toBe(first?.fingerprint);
  });
});

describe('calls', () => {
  test(
    'stand in the order in which they started; those in flight are left out until they have ' +
      'ended',
    async () => {
      const gates = new Map<string, () => void>();
      const slow = defineTool({
        name: 'slow',
        description: 'Waits.',
        parameters: z.object({ id: z.string() }),
        handler: ({ id }) => new Promise<string>((resolve) => gates.set(id, () => resolve(id))),
      });
      const session = createTestSession({ tools: [slow] });
      const { tape } = recordTape(session);
      const first = session.call('slow', { id: 'first' });
      const second = session.call('slow', { id: 'second' });
      gates.get('second')?.();
      await second;
      expect(told(tape())).toEqual(['slow {"id":"second"} → "second"']);
      gates.get('first')?.();
      await first;
      expect(told(tape())).toEqual([
        'slow {"id":"first"} → "first"',
        'slow {"id":"second"} → "second"',
      ]);
    },
  );

  test(
    'hold the canonical input: after hooks and repair, with the defaults of the JSON Schema, ' +
      'whatever the handler does to its own',
    async () => {
      const tool = defineTool({
        name: 'read',
        description: 'Reads.',
        parameters: {
          type: 'object',
          properties: { list: { type: 'array' }, limit: { type: 'number', default: 5 } },
        },
        handler: (input) => {
          (input.list as unknown[]).push('changed');
          return null;
        },
      });
      const zod = defineTool({
        name: 'zod',
        description: 'Reads.',
        parameters: z.object({ limit: z.number().default(5) }),
        handler: () => null,
      });
      const session = createTestSession({ tools: [tool, zod], repair: 'safe' });
      session.use({
        before: ({ tool: { name }, input }) =>
          name === 'read' ? { action: 'modify', input: { ...input, hooked: true } } : undefined,
      });
      const { tape } = recordTape(session);
      await session.call('read', { list: '[1]' });
      await session.call('zod', '{}');
      expect(tape().calls.map(({ input }) => input)).toEqual([
        { list: [1], hooked: true, limit: 5 },
        { limit: 5 },
      ]);
    },
  );

  test(
    'hold arguments that came as text, were repaired and then refused as the object that they ' +
      'were, and replay as they were',
    async () => {
      const parameters = z.object({
        o: z.object({ n: z.number() }).refine(({ n }) => n !== 2, 'not two'),
      });
      const tool = defineTool({
        name: 'pick',
        description: 'Picks.',
        parameters,
        handler: () => 1,
      });
      const live = createTestSession({ tools: [tool], repair: 'safe' });
      const { tape } = recordTape(live);
      const inputs = ['{"o":{"n":2}}', { o: '{"n":2}' }, '{"o":{"n":1}}', 'no JSON', '[1]'];
      const run = async (session: ToolSession) => {
        const codes: unknown[] = [];
        for (const input of inputs)
          codes.push((await session.call('pick', input)).error?.code ?? 'ok');
        return codes;
      };
      const recorded = await run(live);
      expect(recorded).toEqual([
        'invalid_input',
        'invalid_input',
        'ok',
        'invalid_input',
        'invalid_input',
      ]);
      expect(tape().calls.map(({ input }) => input)).toEqual([
        { o: { n: 2 } },
        { o: { n: 2 } },
        { o: { n: 1 } },
        'no JSON',
        '[1]',
      ]);
      const { tools, report } = replayTape(JSON.parse(JSON.stringify(tape())) as Tape);
      expect(await run(createTestSession({ tools, repair: 'safe' }))).toEqual(recorded);
      expect(report()).toEqual({ mismatches: [], unconsumed: [], undeclared: [] });
    },
  );

  test(
    'that a person edited hold the edited input; a handler that changes its own does not change ' +
      'them',
    async () => {
      const tool = mockTool({
        name: 'write',
        parameters: { type: 'object', properties: { mode: { default: 'new' } } },
        requiresApproval: true,
        handler: (input: Record<string, JsonValue>) => {
          input.path = 'changed';
          return null;
        },
      });
      const session = createTestSession({
        tools: [tool],
        approver: () => ({ decision: 'allow_once', input: { path: 'edited' } }),
      });
      const { tape } = recordTape(session);
      await session.call('write', { path: 'sent' });
      expect(tape().calls.map(({ input }) => input)).toEqual([{ path: 'edited', mode: 'new' }]);
    },
  );

  test('what no gate has read is there as it was sent', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'read' })] });
    const { tape } = recordTape(session);
    for (const input of ['text', [1], 1n]) await session.call('read', input as JsonValue);
    await session.call('nix', { a: 1 });
    expect(tape().calls.map(({ tool, input, ran }) => [tool, input, ran])).toEqual([
      ['read', null, false],
      ['read', null, false],
      ['read', null, false],
      ['nix', { a: 1 }, false],
    ]);
  });

  test('say how they ended and whether the handler was started', async () => {
    const controller = new AbortController();
    const session = createTestSession({
      tools: [
        mockTool({ name: 'good' }),
        mockTool({ name: 'bad', error: 'no' }),
        mockTool({ name: 'shut' }),
        mockTool({ name: 'asks', requiresApproval: true }),
        mockTool({ name: 'hangs', delayMs: 60_000 }),
        defineTool({
          name: 'lost',
          description: 'Runs elsewhere.',
          parameters: any,
          executor: {
            kind: 'remote',
            execute: () =>
              Promise.reject(
                Object.assign(new Error('away'), {
                  [Symbol.for('host-tools.executor-fault')]: true,
                  code: 'sandbox_unavailable',
                }),
              ),
          },
        }),
      ],
      rules: [{ effect: 'deny', tools: 'shut' }],
      approver: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        ),
    });
    const { tape } = recordTape(session);
    const asked = session.call('asks', {}, { signal: controller.signal });
    for (const name of ['good', 'bad', 'shut', 'lost']) await session.call(name);
    const hanging = session.call('hangs', {}, { signal: controller.signal });
    controller.abort();
    await Promise.all([asked, hanging]);
    await session.call('hangs', {}, { timeoutMs: 1 });
    expect(
      tape().calls.map(({ tool, status, ran }) => `${tool} ${status} ${ran ? 'ran' : '-'}`),
    ).toEqual([
      'asks cancelled -',
      'good succeeded ran',
      'bad failed ran',
      'shut rejected -',
      'lost rejected ran',
      'hangs cancelled ran',
      'hangs failed ran',
    ]);
  });

  test('name their parent; a suspended call and its resume are two', async () => {
    const session = createTestSession({
      tools: [
        defineTool({
          name: 'outer',
          description: 'Calls.',
          parameters: any,
          uses: ['inner'],
          handler: (_, { tools }) =>
            tools.call('inner', { n: 1 }).then(({ output }) => output as string),
        }),
        mockTool({ name: 'inner', exposure: 'internal' }),
        mockTool({ name: 'asks', requiresApproval: true }),
      ],
      approvalMode: 'suspend',
      principal: 'ann',
      approvals: { secret: 'x'.repeat(32) },
    });
    const { tape } = recordTape(session);
    await session.call('outer');
    const suspended = await session.call('asks');
    await session.approvals.resume(
      (!suspended.success && suspended.approval?.token) as string,
      'allow_once',
    );
    expect(
      tape().calls.map(({ callId, tool, status, parentCallId, attempt }) => [
        callId,
        tool,
        status,
        parentCallId ?? attempt,
      ]),
    ).toEqual([
      ['call-1', 'outer', 'succeeded', undefined],
      ['call-1/1', 'inner', 'succeeded', 'call-1'],
      ['call-2', 'asks', 'pending', undefined],
      ['call-2', 'asks', 'succeeded', 2],
    ]);
    expect(tape().tools.map(({ name }) => name)).toEqual(['outer', 'asks']);
    expect(JSON.stringify(tape())).not.toContain('token');
  });

  test('say that an output was cut, was made of content parts, or had metadata', async () => {
    const look = { type: 'text', text: 'a' };
    const session = createTestSession({
      tools: [
        mockTool({ name: 'long', output: 'x'.repeat(200), maxOutputChars: 60 }),
        mockTool({ name: 'parts', output: [content.text('a')] }),
        mockTool({ name: 'alike', output: [look] }),
        mockTool({ name: 'noted', output: ok(1, { source: 'cache' }) }),
        defineTool({
          name: 'none',
          description: 'None.',
          parameters: any,
          handler: () => undefined,
        }),
      ],
    });
    const { tape } = recordTape(session);
    for (const name of ['long', 'parts', 'alike', 'noted', 'none']) await session.call(name);
    const [long, ...others] = tape().calls.map(({ result }) => result);
    expect(long).toMatchObject({
      output: expect.stringContaining('output cut'),
      truncated: { originalChars: 200 },
    });
    expect(others).toEqual([
      { success: true, output: [look], content: true },
      { success: true, output: [look] },
      { success: true, output: 1, handler: { source: 'cache' } },
      { success: true, output: null },
    ]);
  });

  test('without events are left out; a late handler changes nothing', async () => {
    const session = createTestSession({
      tools: [
        defineTool({
          name: 'late',
          description: 'Late.',
          parameters: any,
          handler: () => new Promise((resolve) => setTimeout(resolve, 5, 'late')),
        }),
      ],
    });
    const { tape } = recordTape(session);
    const log = recordEvents(session);
    const call = session.call('late', { n: 1 }, { callId: 'same', timeoutMs: 1 });
    await session.call('late', { n: 2 }, { callId: 'same' });
    await session.call('late', {}, { callId: '' });
    await call;
    const before = tape();
    await expect.poll(() => log.of('tool:late').length).toBe(1);
    expect(told(tape())).toEqual(['late {"n":1} → timeout']);
    expect(tape()).toEqual(before);
  });

  test('of a listener that calls back are included, even if they end early', async () => {
    const session = createTestSession({
      tools: [
        mockTool({ name: 'outer' }),
        defineTool({
          name: 'inner',
          description: 'I.',
          parameters: z.object({ n: z.number().default(1) }),
          handler: () => 'in',
        }),
      ],
    });
    let inner: Promise<unknown> | undefined;
    session.events.on('tool:pre', ({ toolName }) => {
      if (toolName === 'outer') inner = session.call('inner', {});
    });
    const { tape } = recordTape(session);
    await session.call('outer');
    await inner;
    expect(told(tape()).sort()).toEqual(['inner {"n":1} → "in"', 'outer {} → "Success"']);
    expect(tape().calls.every(({ ran }) => ran)).toBe(true);
  });
});

describe('secrets', () => {
  test('a tape has no secret that a schema or a path marks, in any member', async () => {
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      parameters: z.object({
        user: z.string(),
        password: z.string().meta({ secret: true }),
        apiKey: z.string().optional(),
        fails: z.boolean().default(false),
      }),
      outputSchema: z.object({ session: z.string().meta({ secret: true }), user: z.string() }),
      handler: ({ user, password, fails }) => {
        if (fails) throw new Error(`refused ${password}`);
        return ok({ session: 'session-4711', user }, { header: `Bearer ${password}` });
      },
    });
    const session = createTestSession({ tools: [login], redact: ['apiKey'] });
    const { tape } = recordTape(session);
    const input = { user: 'correct horse is mine', password: 'correct horse', apiKey: 'key-0815' };
    await session.call('login', input);
    await session.call('login', { ...input, fails: true });
    await session.call('nix', { apiKey: 'key-0815' });
    const text = JSON.stringify(tape());
    for (const secret of ['correct horse', 'key-0815', 'session-4711'])
      expect(text).not.toContain(secret);
    expect(tape().redact).toEqual(['apiKey']);
    expect(tape().calls[0]).toMatchObject({
      input: { user: '[redacted] is mine', password: '[redacted]', apiKey: '[redacted]' },
      result: {
        output: { session: '[redacted]', user: '[redacted] is mine' },
        handler: { header: 'Bearer [redacted]' },
      },
    });
    expect(tape().calls[1]?.result).toMatchObject({ error: { message: 'refused [redacted]' } });
  });

  test('secrets of a parent are not in the calls that it makes', async () => {
    const outer = defineTool({
      name: 'outer',
      description: 'Calls.',
      parameters: z.object({ password: z.string().meta({ secret: true }) }),
      uses: ['inner'],
      handler: async ({ password }, { tools }) =>
        (await tools.call('inner', { note: `sent ${password}` })).success,
    });
    const session = createTestSession({ tools: [outer, mockTool({ name: 'inner' })] });
    const { tape } = recordTape(session);
    await session.call('outer', { password: 'correct horse' });
    expect(tape().calls.map(({ input }) => input)).toEqual([
      { password: '[redacted]' },
      { note: 'sent [redacted]' },
    ]);
  });

  test('it has what really happened where the model was shown a masked error', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'bad', error: new Error('disk full') })],
      exposeErrors: 'masked',
    });
    const { tape } = recordTape(session);
    expect((await session.call('bad')).error?.message).not.toContain('disk full');
    expect(tape().calls[0]?.result).toMatchObject({
      error: { code: 'handler_error', message: 'disk full' },
      masked: true,
    });
  });
});

describe('a recording', () => {
  test('starts with the calls that start after it, and ends with stop, for good', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'read', delayMs: 1 })] });
    const early = session.call('read', { n: 0 });
    const { tape, stop } = recordTape(session);
    await early;
    await session.call('read', { n: 1 });
    const open = session.call('read', { n: 2 });
    stop();
    stop();
    expect(stateOf(session).hub?.hasListener('tool:post')).toBe(false);
    await open;
    await session.call('read', { n: 3 });
    expect(told(tape())).toEqual(['read {"n":1} → "Success"']);
  });

  test('ends with its session, whose last calls are on it', async () => {
    const session = createTestSession({ tools: [mockTool({ name: 'hangs', delayMs: 60_000 })] });
    const { tape, stop } = recordTape(session);
    const call = session.call('hangs');
    await session.close();
    await call;
    expect(stateOf(session).hub?.hasListener('tool:post')).toBe(false);
    stop();
    expect(told(tape())).toEqual(['hangs {} → session_closed']);
  });

  test('does not disturb another, and changes no result', async () => {
    const session = createTestSession({
      tools: [mockTool({ name: 'parts', output: [content.text('a')] })],
    });
    const [one, other] = [recordTape(session), recordTape(session)];
    const log = recordEvents(session);
    expect(await session.call('parts', {})).toMatchObject({
      success: true,
      output: [{ type: 'text' }],
    });
    one.stop();
    await session.call('parts', { n: 2 });
    expect(one.tape().calls).toHaveLength(1);
    expect(other.tape().calls).toHaveLength(2);
    expect(other.tape().calls[0]).toEqual(one.tape().calls[0]);
    expect(log.of('tool:post')).toHaveLength(2);
  });

  test('of a session over services takes their type', () => {
    const session: ToolSession<{ db: string }> = createTestSession<{ db: string }>({
      services: { db: 'x' },
    });
    expect(recordTape(session).tape().calls).toEqual([]);
  });

  test('needs an open session of this copy', async () => {
    const session = createTestSession();
    await session.close();
    expect(() => recordTape(session)).toThrow(expect.objectContaining({ code: 'closed' }));
    expect(() => recordTape({} as ToolSession)).toThrow(MisuseError);
  });
});
