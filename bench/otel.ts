/** What the spans of a call cost, against the SDK's own cost of the same spans, made by hand. */
import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { HostToolRegistry, type ToolSession } from '../src/index.ts';
import { instrument } from '../src/surfaces/telemetry/otel/index.ts';
import { input, zodTool } from './fixtures.ts';
import { type Case, compare } from './harness.ts';
import type { FamilyResult } from './targets.ts';

/** Ends are told to nobody: an exporter's work is the same on both sides, and would hide ours. */
const silent = {
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

function sessionOf(): { registry: HostToolRegistry; session: ToolSession } {
  const registry = new HostToolRegistry();
  registry.register(zodTool);
  return { registry, session: registry.createSession({ sessionId: 'bench', principal: 'ann' }) };
}

export async function measure(): Promise<FamilyResult> {
  // As hosts have it. Both sides pay for what it costs every promise of the process.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const provider = new BasicTracerProvider({ spanProcessors: [silent] });
  const tracer = provider.getTracer('bench');
  const plainCalls = sessionOf();
  const traced = sessionOf();
  instrument(traced.registry, { tracer });

  let calls = 0;
  /** The spans of such a call: names, attributes, parents, and what is active inside. */
  const byHand = (): void => {
    const parent = context.active();
    const span = tracer.startSpan(
      'execute_tool forecast',
      {
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'forecast',
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.call.id': `call-${calls++}`,
          'host_tools.session.id': 'bench',
          'host_tools.principal': 'ann',
        },
      },
      parent,
    );
    const inside = trace.setSpan(parent, span);
    for (const name of ['policy', 'run']) {
      const phase = tracer.startSpan(name, {}, inside);
      context.with(trace.setSpan(inside, phase), nothing);
      phase.end();
    }
    span.end();
  };
  const sequential = (name: string, { session }: { session: ToolSession }): Case => ({
    name,
    run: async (times) => {
      for (let index = 0; index < times; index++) await session.call('forecast', input);
    },
  });
  const [spans, bare, full] = await compare([
    {
      name: 'spans by hand',
      run: (times) => {
        for (let index = 0; index < times; index++) byHand();
      },
    },
    sequential('calls', plainCalls),
    sequential('traced calls', traced),
  ]);
  await provider.shutdown();
  context.disable();
  if (spans === undefined || bare === undefined || full === undefined) throw new Error('None.');
  const own = full.best - bare.best;
  return {
    rows: [
      {
        id: 'otel',
        value: own / spans.best,
        note:
          `${Math.round(spans.best)} → ${Math.round(own)} ns a call; the call alone ` +
          `${Math.round(bare.best)} ns`,
      },
    ],
  };
}

function nothing(): void {}
