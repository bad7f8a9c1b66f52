/** Spans and a metric for the calls of a registry. */
import type { Meter, Tracer } from '@opentelemetry/api';
import type { HostToolRegistry } from '../../../core.ts';
import { inspectRegistry, traceCalls } from '../../../extend.ts';
import {
  flag,
  readOptions,
  type TableOf,
  withDefault,
  withMethods,
} from '../../../values/options/index.ts';
import { packageVersion } from '../../../values/packages/own-version.ts';
import { loadApi } from './api.ts';
import { describer, repeatedBrief } from './attribute-text.ts';
import { CallSpans, createToolLabels, type Instruments } from './call-spans.ts';

/** Options of {@link instrument}. */
export interface InstrumentOptions {
  /** Makes the spans. @default the global tracer provider's tracer `host-tools` */
  readonly tracer?: Tracer | undefined;
  /**
   * Makes the metric. The global one is taken when `instrument` is called, so set the meter
   * provider before. @default the global meter provider's meter `host-tools`
   */
  readonly meter?: Meter | undefined;
  /**
   * Whether spans contain arguments, results and error messages, without secrets, as events do. At
   * most 65 536 characters each, and 256 of a message. @default false
   */
  readonly content?: boolean | undefined;
}

const table = {
  tracer: withMethods<Tracer>(['startSpan']),
  meter: withMethods<Meter>(['createHistogram']),
  content: withDefault(flag, false),
} satisfies TableOf<InstrumentOptions>;

/** The buckets that the conventions advise, in seconds. */
const bounds = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);

/**
 * Traces and measures every call of a registry with OpenTelemetry, by the
 * [semantic conventions for generative
 * AI](https://github.com/open-telemetry/semantic-conventions-genai) v0.1.0, whose status is
 * Development: a span `execute_tool {name}` with spans for `policy`, `approval` and `run` below it,
 * and the histogram `gen_ai.execute_tool.duration` in seconds. Refused and suspended calls have
 * spans too. Needs the package `@opentelemetry/api`.
 *
 * A call's span belongs to the place that came with the request (`surface.traceContext`), or else
 * to the span that is active when the call arrives. Spans of a handler belong to `run`. A tracer or
 * meter that throws is reported to the registry's logger and does not affect a call.
 *
 * @returns A function that detaches it. Calls that run by then are traced to their end.
 * @throws MisuseError `invalid_option` if an option is wrong or the target is not a registry;
 * `missing_dependency` without the package.
 *
 * @example
 * ```ts
 * import { instrument } from 'host-tools/otel';
 *
 * const detach = instrument(registry);
 * // later: detach();
 * ```
 */
export function instrument<S = unknown>(
  registry: HostToolRegistry<S>,
  options: InstrumentOptions = {},
): () => void {
  const where = 'instrument';
  const given = readOptions(where, options, table);
  // Checked before the package is loaded, so that a wrong target is reported first.
  inspectRegistry(registry);
  const api = loadApi();
  const meter = given.meter ?? api.metrics.getMeter('host-tools', packageVersion);
  const shared: Instruments = {
    api,
    tracer: given.tracer ?? api.trace.getTracer('host-tools', packageVersion),
    durations: meter.createHistogram('gen_ai.execute_tool.duration', {
      description: 'How long a call to a tool took.',
      unit: 's',
      advice: { explicitBucketBoundaries: bounds },
    }),
    content: given.content,
    labels: createToolLabels(),
    sessionText: repeatedBrief(),
    principalText: repeatedBrief(),
    description: describer(),
  };
  return traceCalls(registry, { begin: (start) => new CallSpans(shared, start) });
}
