/** The place of a call in a trace. */

/**
 * A place in a trace, in the form of [W3C Trace Context](https://www.w3.org/TR/trace-context/).
 *
 * @example
 * ```ts
 * import type { TraceContext } from 'host-tools';
 *
 * const traceContext: TraceContext = {
 *   traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
 * };
 * await session.call('deploy', {}, { surface: { name: 'queue', traceContext } });
 * ```
 */
export interface TraceContext {
  /** Version, trace id, span id and flags: 55 characters. */
  readonly traceparent: string;
  /** What tracing systems add, up to 512 characters. @default none */
  readonly tracestate?: string | undefined;
}
