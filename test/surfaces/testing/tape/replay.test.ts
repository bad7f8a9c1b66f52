import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  content,
  defineTool,
  fail,
  type JsonObject,
  type JsonValue,
  ok,
  serializeOutput,
  type ToolResult,
  type ToolSession,
} from '../../../../src/index.ts';
import {
  createTestSession,
  mockTool,
  recordTape,
  replayTape,
  type Tape,
  type TapeReplay,
  type TestSession,
  type TestSessionOptions,
} from '../../../../src/surfaces/testing/index.ts';

const any = { type: 'object' } as const;
const faithful = { mismatches: [], unconsumed: [], undeclared: [] };
type Script = (session: TestSession) => Promise<readonly ToolResult[]>;

/** The tape of a script. */
async function record(
  options: TestSessionOptions,
  script: Script,
): Promise<{ tape: Tape; results: readonly ToolResult[] }> {
  const session = createTestSession(options);
  const { tape } = recordTape(session);
  const results = await script(session);
  return { tape: tape(), results };
}

/** The same script over the tools of a tape, after a round trip through JSON. */
async function replay(
  tape: Tape,
  script: Script,
  options: TestSessionOptions = {},
): Promise<TapeReplay & { results: readonly ToolResult[] }> {
  const replayed = replayTape(JSON.parse(JSON.stringify(tape)) as Tape);
  const results = await script(createTestSession({ ...options, tools: replayed.tools }));
  return { ...replayed, results };
}

const untimed = ({ metadata: { durationMs: _, ...metadata }, ...result }: ToolResult): unknown => ({
  ...result,
  metadata,
});
const call =
  (...calls: readonly (readonly [name: string, input?: JsonValue])[]): Script =>
  async (session) => {
    const results: ToolResult[] = [];
    for (const [name, input] of calls) results.push(await session.call(name, input));
    return results;
  };

describe('a faithful replay', () => {
  const counter = (): AnyTool<unknown> => {
    let count = 0;
    return defineTool({
      name: 'count',
      description: 'Counts.',
      parameters: z.object({
        by: z.number().default(1),
        from: z.object({ a: z.string(), b: z.string() }).optional(),
      }),
      outputSchema: z.object({ count: z.number() }),
      handler: ({ by }) => {
        count += by;
        return ok({ count }, { by });
      },
    });
  };

  test('gives the same results without the tools, and its report is empty', async () => {
    const tools = [
      counter(),
      mockTool({ name: 'text', output: 'hello', tags: ['t'] }),
      mockTool({
        name: 'parts',
        handler: () => [
          content.text('a'),
          content.image('AA==', 'image/png'),
          content.audio('AA==', 'audio/wav'),
          content.resource({ uri: 'x:y', text: 'r' }),
          content.link({ uri: 'x:z', name: 'z' }),
        ],
      }),
      mockTool({ name: 'alike', output: [{ type: 'text', text: 'a' }] }),
      defineTool({ name: 'none', description: 'None.', parameters: any, handler: () => undefined }),
      mockTool({
        name: 'failed',
        handler: () =>
          fail({ message: 'Busy.', reason: 'busy', details: { n: 1 }, retryable: true }),
      }),
      mockTool({ name: 'threw', error: new TypeError('x is not a function') }),
    ];
    const script = call(
      ['count', { by: 2 }],
      ['count'],
      ['count'],
      ['text', { any: 'thing' }],
      ['parts'],
      ['alike'],
      ['none'],
      ['failed'],
      ['threw'],
      ['count', { by: 'x' }],
      ['nix'],
    );
    const { tape, results } = await record({ tools }, script);
    const again = await replay(tape, script);
    expect(again.results.map(untimed)).toEqual(results.map(untimed));
    expect(again.results.map(serializeOutput)).toEqual(results.map(serializeOutput));
    expect(again.report()).toEqual(faithful);
    expect(again.tools.map(({ fingerprint }) => fingerprint)).toEqual(
      tools.map(({ fingerprint }) => fingerprint),
    );
  });

  test('the replayed tools are shown as the recorded ones were', async () => {
    const tool = defineTool({
      name: 'log',
      description: 'Shows the log.',
      title: 'Log',
      version: '2',
      category: 'vcs',
      tags: ['git'],
      annotations: { readOnly: true },
      parameters: z.object({ max: z.number().default(3) }),
      outputSchema: z.object({ lines: z.array(z.string()) }),
      policy: { knobs: z.object({ deep: z.boolean().default(false) }) },
      handler: () => ({ lines: [] }),
    });
    const { tape } = await record({ tools: [tool] }, call());
    const [replayed] = replayTape(tape).tools;
    expect(JSON.parse(JSON.stringify(replayed))).toEqual(JSON.parse(JSON.stringify(tool)));
    expect([replayed?.parameters, replayed?.outputSchema, replayed?.fingerprint]).toEqual([
      tool.parameters,
      tool.outputSchema,
      tool.fingerprint,
    ]);
    expect(
      createTestSession({
        tools: [replayed!],
        profile: { id: 'p', tools: [{ name: 'log', knobs: { deep: true } }] },
      }).tools(),
    ).toHaveLength(1);
  });

  test('of a replay gives the same tape', async () => {
    const script = call(['count', { by: 2 }], ['count'], ['nix'], ['count', { by: 'x' }]);
    const { tape } = await record({ tools: [counter()] }, script);
    const second = await record({ tools: replayTape(tape).tools }, script);
    expect(second.tape).toEqual(tape);
  });

  test('keys may come in any order, also in the tape; defaults may be written out', async () => {
    const { tape } = await record(
      { tools: [counter()] },
      call(['count', { by: 1, from: { a: 'x', b: 'y' } }]),
    );
    const shuffled = JSON.parse(JSON.stringify(tape), (_, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).reverse())
        : value,
    ) as Tape;
    for (const input of [{ from: { b: 'y', a: 'x' } }, { from: { a: 'x', b: 'y' }, by: 1 }]) {
      const { results, report } = await replay(shuffled, call(['count', input]));
      expect(results).toMatchObject([{ success: true, output: { count: 1 } }]);
      expect(report()).toEqual(faithful);
    }
  });

  test(
    'between tools the order is free; the same call answers in the order in which it was ' +
      'recorded',
    async () => {
      const { tape } = await record(
        { tools: [counter(), mockTool({ name: 'text' })] },
        call(['count'], ['text'], ['count'], ['count', { by: 5 }]),
      );
      const { results, report } = await replay(
        tape,
        call(['count', { by: 5 }], ['count'], ['count'], ['text']),
      );
      expect(results.map(({ output }) => output)).toEqual([
        { count: 7 },
        { count: 1 },
        { count: 2 },
        'Success',
      ]);
      expect(report()).toEqual(faithful);
    },
  );

  test('a batch that ran in groups replays as a batch', async () => {
    const tools = [
      mockTool({
        name: 'read',
        annotations: { readOnly: true },
        handler: async (input: JsonObject) => `read ${input.path}`,
      }),
      mockTool({ name: 'edit', output: 'edited' }),
    ];
    const calls = ['a', 'b', 'c'].map((path) => ({ id: path, name: 'read', arguments: { path } }));
    const batch: Script = async (session) =>
      (
        await session.executeBatch([...calls, { id: 'd', name: 'edit', arguments: {} }])
      ).results.map(({ result }) => result);
    const { tape, results } = await record({ tools }, batch);
    const again = await replay(tape, async (session) => [...(await batch(session))]);
    expect(again.results.map(untimed)).toEqual(results.map(untimed));
    const reversed = await replay(tape, async (session) =>
      Promise.all(
        [...calls].reverse().map(({ name, arguments: input }) => session.call(name, input)),
      ),
    );
    expect(reversed.results.map(({ output }) => output)).toEqual(['read c', 'read b', 'read a']);
    expect(reversed.report().unconsumed.map(({ tool }) => tool)).toEqual(['edit']);
  });

  test('a parent is answered from the tape; its children neither run nor count', async () => {
    const tools = [
      defineTool({
        name: 'outer',
        description: 'Calls.',
        parameters: any,
        uses: ['inner', 'hidden'],
        handler: async (_, { tools: { call: callTool } }) =>
          [
            (await callTool('inner', { n: 1 })).output,
            (await callTool('hidden', {})).output,
          ] as string[],
      }),
      mockTool({ name: 'inner', output: 'in' }),
      mockTool({ name: 'hidden', exposure: 'internal', output: 'hid' }),
    ];
    const { tape } = await record({ tools }, call(['outer'], ['inner', { n: 1 }]));
    const {
      results,
      report,
      tools: replayed,
    } = await replay(tape, call(['outer'], ['inner', { n: 1 }]));
    expect(results.map(({ output }) => output)).toEqual([['in', 'hid'], 'in']);
    expect(replayed.map(({ name }) => name)).toEqual(['outer', 'inner']);
    expect(report()).toEqual(faithful);
    const twice = await replay(tape, call(['inner', { n: 1 }], ['inner', { n: 1 }], ['outer']));
    expect(twice.report().undeclared).toMatchObject([{ tool: 'inner', callId: 'call-2' }]);
  });

  test('coerced inputs pass, and refused ones are refused with the same words', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      parameters: z.object({
        seats: z.coerce.number(),
        day: z.string().refine((day) => day !== 'Sunday', 'closed on Sundays'),
      }),
      handler: ({ seats }) => seats * 2,
    });
    const script = call(
      ['book', { seats: '2', day: 'Monday' }],
      ['book', { seats: 2, day: 'Sunday' }],
      ['book', { seats: 3, day: 'Monday' }],
    );
    const { tape, results } = await record({ tools: [tool] }, script);
    const again = await replay(tape, script);
    expect(results.map(({ success }) => success)).toEqual([true, false, true]);
    expect(again.results.map(untimed)).toEqual(results.map(untimed));
    expect(again.report()).toEqual(faithful);
  });

  test('what passed a coercion passes again when it is resumed', async () => {
    const tool = defineTool({
      name: 'book',
      description: 'Books.',
      parameters: z.object({ seats: z.coerce.number() }),
      handler: ({ seats }) => seats * 2,
    });
    const { tape } = await record({ tools: [tool] }, call(['book', { seats: '2' }]));
    const suspend: TestSessionOptions = {
      approvalMode: 'suspend',
      principal: 'ann',
      approvals: { secret: 'x'.repeat(32) },
      rules: [{ effect: 'ask' }],
    };
    const { results } = await replay(
      tape,
      async (session) => {
        const suspended = await session.call('book', { seats: '2' });
        return [
          await session.approvals.resume(
            (!suspended.success && suspended.approval?.token) as string,
            'allow_once',
          ),
        ];
      },
      suspend,
    );
    expect(results).toMatchObject([{ success: true, output: 4 }]);
  });

  test('secrets are compared after redaction, and reports do not contain them', async () => {
    const login = defineTool({
      name: 'login',
      description: 'Logs in.',
      parameters: z.object({
        user: z.string(),
        pin: z.number().meta({ secret: true }),
        apiKey: z.string(),
      }),
      outputSchema: z.object({ token: z.number().meta({ secret: true }), user: z.string() }),
      handler: ({ user }) => ({ token: 123_456, user }),
    });
    const { tape } = await record(
      { tools: [login], redact: ['apiKey'] },
      call(['login', { user: 'ann', pin: 471_100, apiKey: 'key-0815' }]),
    );
    const { results, report } = await replay(
      tape,
      call(
        ['login', { user: 'ann', pin: 999_999, apiKey: 'key-9999' }],
        ['login', { user: 'bob', pin: 888_888, apiKey: 'key-8888' }],
      ),
    );
    // The output schema wants a number; the tape no longer has it.
    expect(results[0]).toMatchObject({
      success: true,
      output: { token: '[redacted]', user: 'ann' },
    });
    expect(report().undeclared).toMatchObject([
      { input: { user: 'bob', pin: '[redacted]', apiKey: '[redacted]' } },
    ]);
    expect(
      JSON.stringify([tape.calls, results.map(({ output, error }) => [output, error]), report()]),
    ).not.toMatch(/key-|471100|999999|888888|123456/);
  });

  test('a suspended and resumed call is one answer, even if replay asks again', async () => {
    const asks = mockTool({ name: 'asks', requiresApproval: true, output: 'done' });
    const suspend: TestSessionOptions = {
      approvalMode: 'suspend',
      principal: 'ann',
      approvals: { secret: 'x'.repeat(32) },
    };
    const script: Script = async (session) => {
      const suspended = await session.call('asks');
      if (suspended.success) return [suspended];
      return [
        suspended,
        await session.approvals.resume(suspended.approval?.token as string, 'allow_once'),
      ];
    };
    const { tape } = await record({ ...suspend, tools: [asks] }, script);
    const plain = await replay(tape, script);
    expect(plain.results).toMatchObject([{ success: true, output: 'done' }]);
    expect(plain.report()).toEqual(faithful);
    const asked = await replay(tape, script, {
      ...suspend,
      rules: [{ effect: 'ask', tools: 'asks' }],
    });
    expect(asked.results).toMatchObject([
      { error: { code: 'approval_pending' } },
      { success: true, output: 'done', metadata: { attempt: 2 } },
    ]);
    expect(asked.report()).toEqual(faithful);
  });

  test('what gates refused is theirs again, and is not left over', async () => {
    const script = call(['shut'], ['read', { n: 1 }]);
    const rules = [{ effect: 'deny', tools: 'shut', reason: 'closed_today' }] as const;
    const { tape, results } = await record(
      { tools: [mockTool({ name: 'shut' }), mockTool({ name: 'read' })], rules },
      script,
    );
    const again = await replay(tape, script, { rules });
    expect(again.results.map(untimed)).toEqual(results.map(untimed));
    expect(again.report()).toEqual(faithful);
    const missing = await replay(tape, call(['read', { n: 1 }]));
    expect(missing.report()).toEqual(faithful);
  });

  test('of a replaced tool, calls of all versions answer under the last one', async () => {
    const version = (n: number): AnyTool<unknown> =>
      mockTool({
        name: 'read',
        version: String(n),
        parameters: { type: 'object', properties: { limit: { type: 'number', default: n } } },
        output: n,
      });
    const { tape } = await record({ tools: [version(1)] }, async (session) => {
      const first = await session.call('read', { a: 1 });
      session.registry.registerOrReplace(version(2));
      return [first, await session.call('read', { a: 2 })];
    });
    expect(tape.calls.map(({ input }) => input)).toEqual([
      { a: 1, limit: 1 },
      { a: 2, limit: 2 },
    ]);
    const { results, report, tools } = await replay(
      tape,
      call(['read', { a: 2 }], ['read', { a: 1, limit: 1 }]),
    );
    expect(tools.map((tool) => tool.version)).toEqual(['2']);
    expect(results.map(({ output }) => output)).toEqual([2, 1]);
    expect(report()).toEqual(faithful);
  });

  test('a tool that came later or went away is there from the start', async () => {
    const { tape } = await record({ tools: [mockTool({ name: 'early' })] }, async (session) => {
      const results = [await session.call('early')];
      session.registry.unregister('early');
      session.registry.register(mockTool({ name: 'late' }));
      return [...results, await session.call('late')];
    });
    const { report, tools } = await replay(tape, call(['late'], ['early']));
    expect(tools.map(({ name }) => name)).toEqual(['early', 'late']);
    expect(report()).toEqual(faithful);
  });
});

describe('failures', () => {
  const lost = (code: string): AnyTool<unknown> =>
    defineTool({
      name: 'run',
      description: 'Runs elsewhere.',
      parameters: any,
      executor: {
        kind: 'remote',
        execute: () =>
          Promise.reject(
            Object.assign(new Error('The worker is gone.'), {
              [Symbol.for('host-tools.executor-fault')]: true,
              code,
            }),
          ),
      },
    });

  test.each(['executor_lost', 'sandbox_unavailable'])('%s comes back as it was', async (code) => {
    const { tape, results } = await record({ tools: [lost(code)] }, call(['run']));
    const again = await replay(tape, call(['run']));
    expect(again.results[0]?.error?.code).toBe(code);
    expect(again.results.map(untimed)).toEqual(results.map(untimed));
  });

  test.each<[string, AnyTool<unknown>, (session: ToolSession) => Promise<ToolResult>]>([
    [
      'timeout',
      mockTool({ name: 'run', delayMs: 60_000 }),
      (session) => session.call('run', {}, { timeoutMs: 1 }),
    ],
    ['invalid_output', mockTool({ name: 'run', output: 1n }), (session) => session.call('run', {})],
    [
      'cancelled',
      mockTool({ name: 'run', delayMs: 60_000 }),
      (session) => {
        const controller = new AbortController();
        const running = session.call('run', {}, { signal: controller.signal });
        controller.abort();
        return running;
      },
    ],
    [
      'session_closed',
      mockTool({ name: 'run', delayMs: 60_000 }),
      (session) => {
        const running = session.call('run', {});
        void session.close();
        return running;
      },
    ],
  ])(
    '%s comes back as the nearest that a handler can do: its code is the reason, the whole ' +
      'error a detail',
    async (code, tool, run) => {
      const { tape, results } = await record({ tools: [tool] }, async (session) => [
        await run(session),
      ]);
      expect(results[0]?.error?.code).toBe(code);
      const { results: again, report } = await replay(tape, call(['run']));
      expect(again[0]?.error).toEqual({
        code: 'handler_error',
        message: results[0]?.error?.message,
        reason: code,
        retryable: results[0]?.error?.retryable,
        details: { recorded: results[0]?.error },
      });
      expect(report()).toEqual(faithful);
    },
  );

  test(
    'a masked error is masked again where errors are, and a failure that was meant to be seen ' +
      'is seen',
    async () => {
      const options: TestSessionOptions = { exposeErrors: 'masked' };
      const tools = [
        mockTool({ name: 'threw', error: new Error('disk full') }),
        mockTool({ name: 'failed', error: 'Pick another name.' }),
      ];
      const script = call(['threw'], ['failed']);
      const { tape, results } = await record({ ...options, tools }, script);
      const again = await replay(tape, script, options);
      expect(again.results.map(untimed)).toEqual(results.map(untimed));
      expect((await replay(tape, script)).results[0]?.error?.message).toBe('disk full');
    },
  );
});

describe('the report', () => {
  const tools = [mockTool({ name: 'read', output: 'text' }), mockTool({ name: 'edit' })];
  const recorded = (): Promise<{ tape: Tape }> =>
    record(
      { tools },
      call(
        ['read', { path: 'a', range: [1, 2] }],
        ['read', { path: 'b', deep: { x: 1 } }],
        ['edit', { path: 'a' }],
      ),
    );

  test(
    'input_mismatch: names the nearest call that is left and the first place that differs; ' +
      'nothing is taken from the tape',
    async () => {
      const { tape } = await recorded();
      const { results, report } = await replay(
        tape,
        call(
          ['read', { path: 'a', range: [1, 3] }],
          ['read', { path: 'a', range: [1, 2] }],
          ['edit', { path: 'a' }],
        ),
      );
      expect(results[0]).toMatchObject({
        error: {
          code: 'handler_error',
          reason: 'tape_input_mismatch',
          message: expect.stringMatching(/`read`.*call 0.*\/range\/1.*record the tape again/),
          details: { index: 0, path: '/range/1' },
        },
      });
      expect(results[1]).toMatchObject({ success: true, output: 'text' });
      expect(report()).toEqual({
        mismatches: [
          {
            code: 'input_mismatch',
            tool: 'read',
            callId: 'call-1',
            input: { path: 'a', range: [1, 3] },
            expected: { path: 'a', range: [1, 2] },
            path: '/range/1',
          },
        ],
        unconsumed: [
          {
            code: 'unconsumed',
            tool: 'read',
            index: 1,
            callId: 'call-2',
            input: { path: 'b', deep: { x: 1 } },
          },
        ],
        undeclared: [],
      });
    },
  );

  test.each<[string, JsonObject, string, JsonObject]>([
    ['a member that is missing', { path: 'b', deep: {} }, '/deep/x', { path: 'b', deep: { x: 1 } }],
    [
      'a member on top',
      { path: 'b', deep: { x: 1, 'y/z': 1 } },
      '/deep/y~1z',
      { path: 'b', deep: { x: 1 } },
    ],
    ['another kind of value', { path: 'b', deep: [1] }, '/deep', { path: 'b', deep: { x: 1 } }],
    [
      'an array that is shorter',
      { path: 'a', range: [1] },
      '/range/1',
      { path: 'a', range: [1, 2] },
    ],
    ['everything', {}, '/path', { path: 'a', range: [1, 2] }],
  ])('path: %s', async (_, input, path, expected) => {
    const { tape } = await recorded();
    const { report } = await replay(tape, call(['read', input]));
    expect(report().mismatches).toEqual([expect.objectContaining({ input, path, expected })]);
  });

  test('unconsumed: in recorded order, with the place on the tape', async () => {
    const { tape } = await recorded();
    const { report } = await replay(tape, call(['read', { path: 'a', range: [1, 2] }]));
    expect(report().unconsumed.map(({ tool, index, callId }) => [tool, index, callId])).toEqual([
      ['read', 1, 'call-2'],
      ['edit', 2, 'call-3'],
    ]);
  });

  test(
    'undeclared_call: the tape has no further call of the tool, or this one was played as often ' +
      'as it was recorded',
    async () => {
      const { tape } = await recorded();
      const { results, report } = await replay(
        tape,
        call(
          ['edit', { path: 'a' }],
          ['edit', { path: 'b' }],
          ['read', { path: 'a', range: [1, 2] }],
          ['read', { path: 'a', range: [1, 2] }],
        ),
      );
      expect(results.map(({ error }) => error?.reason)).toEqual([
        undefined,
        'tape_undeclared_call',
        undefined,
        'tape_undeclared_call',
      ]);
      expect(results[1]?.error).toMatchObject({
        code: 'handler_error',
        message: expect.stringContaining('record the tape again'),
      });
      expect(report().undeclared).toEqual([
        { code: 'undeclared_call', tool: 'edit', callId: 'call-2', input: { path: 'b' } },
        {
          code: 'undeclared_call',
          tool: 'read',
          callId: 'call-4',
          input: { path: 'a', range: [1, 2] },
        },
      ]);
    },
  );

  test('a call that gates had refused and now allow is undeclared, with its code', async () => {
    const { tape } = await record(
      { tools, rules: [{ effect: 'deny', tools: 'edit' }] },
      call(['edit', { path: 'a' }]),
    );
    const { results, report } = await replay(tape, call(['edit', { path: 'a' }]));
    expect(results[0]).toMatchObject({
      error: { reason: 'tape_undeclared_call', message: expect.stringContaining('policy_denied') },
    });
    expect(report().undeclared).toEqual([
      {
        code: 'undeclared_call',
        tool: 'edit',
        callId: 'call-1',
        input: { path: 'a' },
        recorded: 'policy_denied',
      },
    ]);
  });

  test('is a picture of the moment; asking what would happen plays nothing', async () => {
    const { tape } = await recorded();
    const { tools: replayed, report } = replayTape(tape);
    const session = createTestSession({ tools: replayed });
    await session.explain('edit', { path: 'a' });
    const before = report();
    await session.call('edit', { path: 'a' });
    expect(before.unconsumed).toHaveLength(3);
    expect(report().unconsumed).toHaveLength(2);
    expect(Object.isFrozen(before.unconsumed[0])).toBe(true);
  });

  test('two replays of one tape do not know each other', async () => {
    const { tape } = await recorded();
    for (let round = 0; round < 2; round++)
      expect((await replay(tape, call(['edit', { path: 'a' }]))).report().unconsumed).toHaveLength(
        2,
      );
  });
});
