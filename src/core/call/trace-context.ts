/** Reads a place in a trace that came from elsewhere. */
import type { TraceContext } from '../../api/trace-context.ts';

/** The form of version 00, with which later versions begin. */
const traceparentForm = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;
/** Texts longer than 512 characters may be dropped, as W3C Trace Context says. */
const tracestateForm = /^[ -~]{1,512}$/;

/**
 * The place that an object names, such as the `_meta` of a request; undefined if there is none or
 * it has the wrong form. Only own members count. Reading them may throw if the object's getters
 * throw.
 */
export function takeTraceContext(from: unknown): TraceContext | undefined {
  if (typeof from !== 'object' || from === null || !Object.hasOwn(from, 'traceparent'))
    return undefined;
  const { traceparent } = from as { readonly traceparent?: unknown };
  if (typeof traceparent !== 'string' || !traceparentForm.test(traceparent)) return undefined;
  const tracestate: unknown = Object.hasOwn(from, 'tracestate')
    ? (from as { readonly tracestate?: unknown }).tracestate
    : undefined;
  return typeof tracestate === 'string' && tracestateForm.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent };
}
