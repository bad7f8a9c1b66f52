/** What a registry's calls look like in OpenTelemetry, by the real SDK. */
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fail, HostToolRegistry, type ToolContext } from '../../../../src/index.ts';
import { loadApi } from '../../../../src/surfaces/telemetry/otel/api.ts';
import { instrument } from '../../../../src/surfaces/telemetry/otel/index.ts';
import { define } from '../../../core/call/define.ts';
import { gate } from '../../../core/call/world.ts';
import { activeId, inSpan, instrumented } from './kit.ts';

describe('spans', () => {
  test('a call is a span of its own, with one for each phase below it', async () => {
    const { session, spans, tree } = instrumented([define('t')], { session: { principal: 'ann' } });
    await session.call('t', { secret: 1 }, { callId: 'c', surface: { name: 'mcp' } });
    expect(tree()).toEqual(['execute_tool t (policy, run)']);
    const call = spans().at(-1);
    expect(call).toMatchObject({ kind: SpanKind.INTERNAL, status: { code: SpanStatusCode.UNSET } });
    expect(call?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 't',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': 'Does t.',
      'gen_ai.tool.call.id': 'c',
      'host_tools.executor': 'inline',
      'host_tools.session.id': 's',
      'host_tools.principal': 'ann',
      'host_tools.surface': 'mcp',
    });
  });

  test('a refused call has a span that says why, and no run', async () => {
    const { session, spans, tree } = instrumented([define('t')], {
      session: { rules: [{ id: 'no', effect: 'deny', reason: 'not_today' }] },
    });
    await session.call('t');
    expect(tree()).toEqual(['execute_tool t (policy)']);
    for (const span of spans()) {
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR });
      expect(span.attributes).toMatchObject({
        'error.type': 'policy_denied',
        'host_tools.rule.id': 'no',
        'host_tools.reason': 'not_today',
      });
    }
  });

  test('a suspended call has not failed; the resumed one is a call of its own', async () => {
    const { session, spans, tree } = instrumented([define('t')], {
      session: {
        rules: [{ id: 'ask', effect: 'ask' }],
        approvalMode: 'suspend',
        principal: 'ann',
      },
      registry: { approvals: { secret: 'x'.repeat(32) } },
    });
    const waiting = await session.call('t');
    if (waiting.success) throw new Error('Not suspended.');
    const suspended = spans().at(-1);
    expect(suspended?.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(suspended?.attributes).toMatchObject({
      'error.type': 'approval_pending',
      'host_tools.approval.id': waiting.approval?.id,
    });
    await session.approvals.resume(waiting.approval?.token ?? '', {
      decision: 'allow_once',
      by: 'ben',
    });
    expect(tree()).toEqual([
      'execute_tool t (policy, approval)',
      'execute_tool t (policy, approval, run)',
    ]);
    expect(spans().at(-1)?.attributes).toMatchObject({
      'host_tools.approval.id': waiting.approval?.id,
    });
    expect(spans().at(-1)?.attributes['error.type']).toBeUndefined();
  });

  test('names that no tool has are one name, whatever they are', async () => {
    const { session, spans, points } = instrumented([]);
    for (const name of ['a', 'b\n', '__proto__', 'x'.repeat(10_000)]) await session.call(name);
    expect(new Set(spans().map(({ name }) => name))).toEqual(new Set(['execute_tool _unknown']));
    expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain('xxx');
    expect(await points()).toMatchObject([
      {
        attributes: { 'gen_ai.tool.name': '_unknown', 'error.type': 'tool_not_found' },
        value: { count: 4 },
      },
    ]);
  });

  test('texts from outside are cut at 256 characters', async () => {
    const { session, spans } = instrumented([define('t')], {
      session: {
        principal: 'p'.repeat(1_000),
        rules: [{ id: 'r'.repeat(256), effect: 'allow' }],
      },
    });
    await session.call('t');
    for (const value of Object.values(spans().at(-1)?.attributes ?? {}))
      expect(String(value).length).toBeLessThanOrEqual(256);
  });

  test('the description is bounded, hides nothing, and belongs to known tools only', async () => {
    const { session, registry, spans } = instrumented([
      define('t', { description: ` Sends\u202e\u200b\ud800 mail.\nTo ${'ä'.repeat(2_000)}` }),
    ]);
    const told = () =>
      spans()
        .filter(({ name }) => name.startsWith('execute_tool'))
        .at(-1)?.attributes['gen_ai.tool.description'] as string | undefined;
    await session.call('t');
    expect(told()).toMatch(/^Sends\ufffd mail\.\nTo ä+…$/);
    expect(Buffer.byteLength(told() ?? '')).toBeLessThanOrEqual(1_024);
    await session.call('none');
    expect(told()).toBeUndefined();
    for (let n = 0; n < 1_010; n++) {
      const own = registry.createSession({ sessionId: `s${n}` });
      own.register(define('own', { description: `Number ${n}.` }));
      await own.call('own');
      expect(told()).toBe(`Number ${n}.`);
      await own.close();
    }
  });

  test('every attribute is bounded and encodable, whatever the texts contain', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.constantFrom(
        'a\r\n[31mb',
        '\ud800',
        `${'x'.repeat(255)}😀`,
        '__proto__',
        'y'.repeat(1_000),
      ),
    );
    const made = instrumented([], { options: { content: true } });
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (principal, reason, message) => {
        const session = made.registry.createSession({
          sessionId: message,
          principal,
          policies: [{ id: 'p', check: () => ({ effect: 'deny', reason, message }) }],
        });
        const registration = session.register(define('own', { handler: () => message }));
        await session.call('own', {}, { surface: { name: reason } });
        await session.call(message, { [message]: reason }, { callId: principal });
        registration.unregister();
        await session.close();
        for (const { name, attributes, status } of made.spans()) {
          const texts = [...Object.entries(attributes), ['name', name], ['', status.message ?? '']];
          for (const [key, text] of texts as [string, string][]) {
            const isContent = /arguments$|result$/.test(key);
            expect(text).not.toMatch(/\p{Surrogate}/u);
            if (!isContent) expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
            expect(text.length).toBeLessThanOrEqual(isContent ? 65_536 : 270);
          }
          expect(['policy', 'execute_tool own', 'execute_tool _unknown']).toContain(name);
          expect(attributes['host_tools.reason'] ?? '').not.toMatch(/[\n\t]/);
        }
        made.clear();
      }),
      { numRuns: 60 },
    );
  });

  test('one failed phase fails its own span, not those before it', async () => {
    const { session, spans } = instrumented([
      define('t', {
        handler: () => {
          throw new Error('The password is hunter2.');
        },
      }),
    ]);
    await session.call('t');
    expect(spans().map(({ name, status }) => [name, status.code])).toEqual([
      ['policy', SpanStatusCode.UNSET],
      ['run', SpanStatusCode.ERROR],
      ['execute_tool t', SpanStatusCode.ERROR],
    ]);
    expect(
      JSON.stringify(spans().map(({ attributes, status }) => [attributes, status])),
    ).not.toMatch(/hunter2/);
  });
});

describe('context', () => {
  test("a call belongs to the caller's span, and what a handler traces to `run`", async () => {
    const made = instrumented([
      define('t', { handler: () => inSpan(made.tracer, 'query', () => 'ran') }),
    ]);
    await inSpan(made.tracer, 'turn', () => made.session.call('t'));
    await vi.waitFor(() =>
      expect(made.tree()).toEqual(['turn (execute_tool t (policy, run (query)))']),
    );
  });

  test('the caller keeps its own context', async () => {
    const { session, tracer } = instrumented([define('t')]);
    await inSpan(tracer, 'turn', async () => {
      const before = activeId();
      const call = session.call('t');
      expect(activeId()).toBe(before);
      await call;
      expect(activeId()).toBe(before);
    });
  });

  test('parallel calls and batches: each handler has its own context', async () => {
    const made = instrumented([
      define('t', {
        handler: async () => {
          await Promise.resolve();
          return inSpan(made.tracer, 'query', () => 'ran');
        },
      }),
    ]);
    await Promise.all([made.session.call('t'), made.session.call('t')]);
    await made.session.executeBatch([
      { id: 'one', name: 't' },
      { id: 'two', name: 't' },
    ]);
    expect(made.tree()).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(/query/)));
  });

  test.each([true, false])(
    'child calls are below `run`; with a context manager: %s',
    async (has) => {
      const made = instrumented([
        define('outer', {
          uses: ['t'],
          handler: (_: object, { tools }: ToolContext) => tools.call('t', {}),
        }),
        define('t'),
      ]);
      if (!has) loadApi().context.disable();
      await made.session.call('outer');
      expect(made.tree()).toEqual([
        'execute_tool outer (policy, run (execute_tool t (policy, run)))',
      ]);
    },
  );

  test('a call that waits in a queue keeps its own place', async () => {
    const held = gate<void>();
    const made = instrumented([
      define('t', { maxConcurrency: 1, handler: () => held.promise.then(() => activeId()) }),
    ]);
    const first = inSpan(made.tracer, 'one', () => made.session.call('t'));
    const second = inSpan(made.tracer, 'two', () => made.session.call('t'));
    held.open();
    const ids = (await Promise.all([first, second])).map(
      (result) => result.success && result.output,
    );
    const runs = made.spans().filter(({ name }) => name === 'run');
    expect(ids).toEqual(runs.map((span) => span.spanContext().spanId));
    await vi.waitFor(() =>
      expect(made.tree()).toEqual([
        expect.stringMatching(/^one \(execute_tool t \(policy, .*run\)\)$/),
        expect.stringMatching(/^two \(execute_tool t \(policy, .*run\)\)$/),
      ]),
    );
  });

  test('a call that runs elsewhere is open until it is settled', async () => {
    const { session, tree, open } = instrumented([define('t', { external: true })]);
    const asked = await session.authorize('t', {});
    expect(open()).toBe(2);
    if (!asked.allowed) throw new Error('Refused.');
    await asked.settle({ error: 'It broke.' });
    expect(open()).toBe(0);
    expect(tree()).toEqual(['execute_tool t (policy, run)']);
  });
});

describe('every span ends', () => {
  const endless = () => define('t', { handler: () => new Promise(() => {}) });
  const errorOf = ({ spans }: ReturnType<typeof instrumented>) =>
    spans().at(-1)?.attributes['error.type'];

  test('timed out', async () => {
    const made = instrumented([endless()]);
    await made.session.call('t', {}, { timeoutMs: 5 });
    expect([errorOf(made), made.open()]).toEqual(['timeout', 0]);
    expect(made.tree()).toEqual(['execute_tool t (policy, run)']);
  });

  test('cancelled, also while it waits for a person', async () => {
    const made = instrumented([endless(), define('asked')], {
      session: {
        rules: [{ id: 'ask', effect: 'ask', tools: 'asked' }],
        approver: () => new Promise(() => {}),
      },
    });
    for (const name of ['t', 'asked']) {
      const stop = new AbortController();
      const call = made.session.call(name, {}, { signal: stop.signal });
      await Promise.resolve();
      stop.abort();
      await call;
      expect([errorOf(made), made.open()]).toEqual(['cancelled', 0]);
    }
  });

  test('closed in flight', async () => {
    const made = instrumented([endless()]);
    const call = made.session.call('t');
    await made.registry.close();
    await call;
    expect([errorOf(made), made.open()]).toEqual(['session_closed', 0]);
  });

  test('detached while it runs: traced to its end, and nothing after', async () => {
    const held = gate<void>();
    const made = instrumented([define('t', { handler: () => held.promise })]);
    const call = made.session.call('t');
    made.detach();
    made.detach();
    held.open();
    await call;
    await made.session.call('t');
    expect([made.tree(), made.open()]).toEqual([['execute_tool t (policy, run)'], 0]);
  });
});

describe('the metric', () => {
  test('counts seconds by tool and error, in the buckets of the conventions', async () => {
    const { session, points } = instrumented([
      define('t', {
        handler: ({ ok }: { ok: boolean }) => (ok ? 'ran' : fail('No.')),
      }),
    ]);
    const { metadata } = await session.call('t', { ok: true });
    await session.call('t', { ok: false });
    const found = await points();
    expect(found.map(({ name, unit, attributes }) => ({ name, unit, attributes }))).toEqual([
      {
        name: 'gen_ai.execute_tool.duration',
        unit: 's',
        attributes: {
          'gen_ai.tool.name': 't',
          'gen_ai.tool.type': 'function',
          'host_tools.executor': 'inline',
        },
      },
      {
        name: 'gen_ai.execute_tool.duration',
        unit: 's',
        attributes: {
          'gen_ai.tool.name': 't',
          'gen_ai.tool.type': 'function',
          'host_tools.executor': 'inline',
          'error.type': 'handler_error',
        },
      },
    ]);
    expect(found[0]?.value.sum).toBe(metadata.durationMs / 1_000);
    expect(found[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ]);
  });

  test("a session's own tools have names of their own up to 1 000", async () => {
    const { session, points } = instrumented([]);
    for (let index = 0; index < 1_002; index++) {
      const registration = session.register(define(`own_${index}`));
      await session.call(`own_${index}`);
      registration.unregister();
    }
    const names = (await points()).map(({ attributes }) => attributes['gen_ai.tool.name']);
    expect(names).toHaveLength(1_001);
    expect(names).toContain('_other');
  });
});

describe('content', () => {
  test('arguments, results and messages appear if asked, without secrets', async () => {
    const tool = define('t', {
      parameters: z.object({ user: z.string(), password: z.string().meta({ secret: true }) }),
      handler: () => ({ answer: 'for hunter2' }),
    });
    const { session, spans } = instrumented([tool], { options: { content: true } });
    await session.call('t', { user: 'ann', password: 'hunter2' });
    const call = spans().at(-1);
    expect(JSON.parse(String(call?.attributes['gen_ai.tool.call.arguments']))).toMatchObject({
      user: 'ann',
    });
    expect(call?.attributes['gen_ai.tool.call.result']).toMatch(/answer/);
    expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain('hunter2');
    await session.call('t', { user: 5, password: 'hunter2' });
    expect(spans().at(-1)?.status).toMatchObject({
      code: SpanStatusCode.ERROR,
      message: expect.stringMatching(/user/),
    });
    expect(spans().at(-1)?.status.message).not.toContain('hunter2');
  });

  test('long ones are cut', async () => {
    const { session, spans } = instrumented([define('t', { handler: () => 'y'.repeat(90_000) })], {
      options: { content: true },
    });
    await session.call('t');
    expect(String(spans().at(-1)?.attributes['gen_ai.tool.call.result'])).toHaveLength(65_536);
  });
});

describe('what fails stays outside', () => {
  test('without an SDK nothing is recorded and nothing breaks', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t'));
    const detach = instrument(registry);
    expect(await registry.createSession({ sessionId: 's' }).call('t')).toMatchObject({
      success: true,
    });
    detach();
  });

  test('wrong options and targets are refused', () => {
    const registry = new HostToolRegistry();
    expect(() => instrument({} as never)).toThrow(/Expected a HostToolRegistry/);
    expect(() => instrument(registry, { tracer: {} as never })).toThrow(
      /instrument: expected `tracer` to be an object with the method `startSpan`/,
    );
    expect(() => instrument(registry, { contents: true } as never)).toThrow(
      /did you mean `content`/i,
    );
  });

  test('without the package, the error says how to install it', () => {
    expect(() =>
      loadApi((specifier) => {
        throw Object.assign(new Error(`Cannot find module '${specifier}'`), {
          code: 'MODULE_NOT_FOUND',
        });
      }),
    ).toThrow(/npm install @opentelemetry\/api@1`$/);
  });
});
