/** The real SDK with exporters in memory, over a registry. */

import { type Context, context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { onTestFinished } from 'vitest';
import type { AnyTool, RegistryOptions, SessionOptions } from '../../../../src/index.ts';
import {
  type InstrumentOptions,
  instrument,
} from '../../../../src/surfaces/telemetry/otel/index.ts';
import { setup } from '../../../core/call/define.ts';

/** Spans and measurements of a provider of one's own, and the context manager of the process. */
export function telemetry() {
  const exporter = new InMemorySpanExporter();
  let open = 0;
  const provider = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(exporter),
      {
        onStart: () => void open++,
        onEnd: () => void open--,
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  // Nothing is exported by time: each test asks.
  const reader = new PeriodicExportingMetricReader({
    exporter: metrics,
    exportIntervalMillis: 2 ** 30,
  });
  const meters = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(async () => {
    context.disable();
    await Promise.all([provider.shutdown(), meters.shutdown()]);
  });
  return {
    tracer: provider.getTracer('test'),
    meter: meters.getMeter('test'),
    /** How many spans have no end yet. */
    open: () => open,
    spans: (): ReadableSpan[] => exporter.getFinishedSpans(),
    /** Forgets the spans that have ended. */
    clear: () => exporter.reset(),
    /** The points of the histogram: attributes, how many, and their sum. */
    async points() {
      await reader.forceFlush();
      const all =
        metrics
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
      return all.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({
          name: descriptor.name,
          unit: descriptor.unit,
          attributes,
          value: value as { count: number; sum: number; buckets: { boundaries: number[] } },
        })),
      );
    },
  };
}

/** An instrumented registry and a session. */
export function instrumented(
  tools: readonly AnyTool<unknown>[],
  {
    session = {},
    registry = {},
    options = {},
  }: {
    session?: Partial<SessionOptions>;
    registry?: RegistryOptions;
    options?: InstrumentOptions;
  } = {},
) {
  const told = telemetry();
  const faults: string[] = [];
  const made = setup(tools, session, {
    logger: {
      warn: () => {},
      error: (data: object, message?: string) =>
        void faults.push(`${message}: ${(data as { err?: Error }).err?.message}`),
    },
    ...registry,
  });
  const { tracer, meter } = told;
  const detach = instrument(made.registry, { tracer, meter, ...options });
  return { ...made, ...told, detach, faults, tree: () => treeOf(told.spans()) };
}

/** The spans as `name (children)`, by the time of their start. */
export function treeOf(spans: readonly ReadableSpan[]): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const below = (id: string | undefined): string[] =>
    spans
      .filter(({ parentSpanContext: parent }) =>
        id === undefined ? parent === undefined || !ids.has(parent.spanId) : parent?.spanId === id,
      )
      .map((span) => {
        const inner = below(span.spanContext().spanId);
        return inner.length === 0 ? span.name : `${span.name} (${inner.join(', ')})`;
      });
  return below(undefined);
}

/** Runs inside a span, as a host does that traces its own work. */
export function inSpan<T>(
  tracer: ReturnType<typeof trace.getTracer>,
  name: string,
  run: () => T,
): T {
  return tracer.startActiveSpan(name, (span) => {
    const value = run();
    if (value instanceof Promise) void value.finally(() => span.end());
    else span.end();
    return value;
  });
}

/** The id of the span that is active. */
export const activeId = (at: Context = context.active()): string | undefined =>
  trace.getSpan(at)?.spanContext().spanId;
