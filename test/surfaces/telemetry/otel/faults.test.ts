/** Telemetry that fails in any of its methods, in any combination, changes no call. */
import { context, propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  type AnyEvent,
  fail,
  HostToolRegistry,
  type ToolContext,
  type ToolResult,
} from '../../../../src/index.ts';
import { instrument } from '../../../../src/surfaces/telemetry/otel/index.ts';
import { define } from '../../../core/call/define.ts';
import { telemetry } from './kit.ts';

afterEach(() => {
  context.disable();
  propagation.disable();
});

/** What of telemetry runs in a call. `with` belongs to the context manager. */
const methods = [
  'startSpan',
  'spanContext',
  'isRecording',
  'setAttribute',
  'setStatus',
  'end',
  'record',
  'active',
  'with',
  'inject',
  'extract',
] as const;
type Method = (typeof methods)[number];

/** How a method fails. */
const ways = ['throws', 'throws no error', 'gives nothing', 'gives nonsense'] as const;
type Way = (typeof ways)[number];

type Faults = ReadonlyMap<Method, Way>;

/** The same object, whose methods fail as they are told; also those of what it makes. */
function failing<T extends object>(target: T, faults: Faults): T {
  return new Proxy(target, {
    get(from, key) {
      const value: unknown = Reflect.get(from, key);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const way = faults.get(key as Method);
        if (way === 'throws') throw new Error(`broken ${String(key)}`);
        if (way === 'throws no error') throw null;
        if (way === 'gives nothing') return undefined;
        if (way === 'gives nonsense') return { end: 5, toString: null };
        const made: unknown = Reflect.apply(value, from, given);
        return key === 'startSpan' || key === 'createHistogram'
          ? failing(made as object, faults)
          : made;
      };
    },
  });
}

/** What came of every kind of call: results, events, and how often each handler ran. */
async function outcomes(faults: Faults | undefined): Promise<unknown> {
  let ids = 0;
  const errors: unknown[] = [];
  const registry = new HostToolRegistry({
    logger: { warn: () => {}, error: (data: object) => void errors.push(data) },
    now: () => 1_000,
    newId: () => `id-${ids++}`,
  });
  const ran = vi.fn(() => 'ran');
  registry.registerAll([
    define('ok', { handler: ran }),
    define('later', { handler: () => Promise.resolve().then(ran) }),
    define('fails', { handler: () => fail('No.') }),
    define('denied', { handler: ran }),
    define('asked', { handler: ran }),
    define('parent', {
      uses: ['ok'],
      handler: (_: object, { tools }: ToolContext) =>
        tools.call('ok', {}).then(({ success, output }) => ({ success, output: output as string })),
    }),
  ]);
  const events: AnyEvent[] = [];
  registry.events.on('*', (event) => void events.push(event));
  if (faults !== undefined) {
    const { tracer, meter } = telemetry();
    // The global parts of the interface; `telemetry` has set up those that work.
    const manager = new (
      await import('@opentelemetry/context-async-hooks')
    ).AsyncLocalStorageContextManager();
    context.disable();
    context.setGlobalContextManager(failing(manager.enable(), faults));
    propagation.setGlobalPropagator(failing(new W3CTraceContextPropagator(), faults));
    instrument(registry, {
      tracer: failing(tracer, faults),
      meter: failing(meter, faults),
      content: true,
    });
  }
  const session = registry.createSession({
    sessionId: 's',
    rules: [
      { id: 'no', effect: 'deny', tools: 'denied', reason: 'not_today' },
      { id: 'ask', effect: 'ask', tools: 'asked' },
    ],
    approver: () => 'allow_once',
  });
  const surface = {
    name: 'queue',
    traceContext: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  };
  const results: ToolResult[] = [];
  for (const name of ['ok', 'later', 'fails', 'denied', 'asked', 'parent', 'made_up'])
    results.push(await session.call(name, { a: 1 }, { callId: name, surface }));
  await registry.close();
  return {
    results: results.map(({ success, output, error, metadata: { status } }) => ({
      success,
      output,
      error,
      status,
    })),
    events: events.map((event) =>
      [event.type, 'callId' in event ? event.callId : ''].join(' ').replace(/id-\d+/, 'id'),
    ),
    ran: ran.mock.calls.length,
    told: faults === undefined ? undefined : errors,
  };
}

describe('tracer, meter, spans, context manager and propagator', () => {
  test('in whatever combination they fail, calls are as they are without telemetry', async () => {
    const { told: _, ...expected } = (await outcomes(undefined)) as { told: unknown };
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(fc.constantFrom(...methods), fc.constantFrom(...ways)), {
          selector: ([method]) => method,
          minLength: 1,
        }),
        async (chosen) => {
          const { told: _told, ...got } = (await outcomes(new Map(chosen))) as { told: unknown };
          expect(got).toEqual(expected);
        },
      ),
      {
        numRuns: 60,
        // Each method alone, in each way; chance finds the combinations.
        examples: methods.flatMap((method) => ways.map((way) => [[[method, way]]] as never)),
      },
    );
  });

  test.each(['startSpan', 'setAttribute', 'setStatus', 'end', 'record'] as const)(
    '%s throws: the logger is told what was thrown, and of which call',
    async (method) => {
      const { told } = (await outcomes(new Map([[method, 'throws']]))) as {
        told: { err?: Error; callId?: string; source?: string }[];
      };
      expect(told).toContainEqual(
        expect.objectContaining({
          err: expect.objectContaining({ message: `broken ${method}` }),
          sessionId: 's',
          callId: 'fails',
          source: 'telemetry',
        }),
      );
    },
  );

  test('a meter that cannot make the histogram is refused, and nothing is attached', async () => {
    const registry = new HostToolRegistry();
    registry.register(define('t'));
    const { tracer } = telemetry();
    const meter = {
      createHistogram: () => {
        throw new Error('broken meter');
      },
    } as never;
    const started = vi.spyOn(tracer, 'startSpan');
    expect(() => instrument(registry, { tracer, meter })).toThrow('broken meter');
    await registry.createSession({ sessionId: 's' }).call('t');
    expect(started).not.toHaveBeenCalled();
  });
});

describe('exporters and processors', () => {
  const places = ['onStart', 'onEnd', 'export'] as const;

  test.each(places)('%s throws: the call runs', async (place) => {
    const broken = (): never => {
      throw new Error(`broken ${place}`);
    };
    const silent = { forceFlush: async () => {}, shutdown: async () => {} };
    const provider = new BasicTracerProvider({
      spanProcessors:
        place === 'export'
          ? [new SimpleSpanProcessor({ export: broken, shutdown: async () => {} })]
          : [{ onStart() {}, onEnd() {}, ...silent, [place]: broken }],
    });
    const registry = new HostToolRegistry({ logger: { warn() {}, error() {} } });
    registry.register(define('t'));
    instrument(registry, { tracer: provider.getTracer('test') });
    const result = await registry.createSession({ sessionId: 's' }).call('t');
    expect(result).toMatchObject({ success: true, output: 'ran' });
    expect(trace.getSpan(context.active())).toBeUndefined();
    await provider.shutdown();
  });
});
