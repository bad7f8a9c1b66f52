/** The spans of one call. */
import type { Attributes, Context, Histogram, Span, SpanOptions, Tracer } from '@opentelemetry/api';
import type { TraceContext } from '../../../core.ts';
import type { CallEnd, CallStart, CallTrace } from '../../../extend.ts';
import type { OtelApi } from './api.ts';
import { brief, briefMessage, contentText, repeatedBrief } from './attribute-text.ts';

/** `SpanKind.INTERNAL` and `SpanStatusCode.ERROR`. They are fixed by the specification. */
const internal = 0;
const failed = 2;

const phaseOptions: SpanOptions = Object.freeze({ kind: internal });

type Phase = Parameters<CallTrace['within']>[0];
type Told = Parameters<CallTrace['left']>[1];

/** What all calls of an instrumented registry share. */
export interface Instruments {
  readonly api: OtelApi;
  readonly tracer: Tracer;
  readonly durations: Histogram;
  readonly content: boolean;
  readonly labels: ToolLabels;
  /** Functions that bound a session's id and its principal. */
  readonly sessionText: (text: string) => string;
  readonly principalText: (text: string) => string;
  /** Bounds and cleans the description of a tool. */
  readonly description: (text: string) => string;
}

/** Traces a call with its own span, which has a child span for each phase. */
export class CallSpans implements CallTrace {
  readonly #shared: Instruments;
  readonly #label: string;
  readonly #executor: string | undefined;
  readonly #span: Span;
  /** The context of the call's span, for those below it. */
  readonly #context: Context;
  /** The open phase, if there is one. A call has at most one at a time. */
  #phase: { readonly name: Phase; readonly span: Span } | undefined;
  /** The context of the handler, once it runs. */
  #running: Context | undefined;

  constructor(shared: Instruments, start: CallStart) {
    const { api, tracer, labels } = shared;
    this.#shared = shared;
    this.#executor = start.executor;
    this.#label = labels.of(start.tool, start.ownTool);
    const attributes: Attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': this.#label,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': brief(start.callId),
      'host_tools.session.id': shared.sessionText(start.sessionId),
    };
    if (start.description !== undefined)
      attributes['gen_ai.tool.description'] = shared.description(start.description);
    if (start.principal !== '')
      attributes['host_tools.principal'] = shared.principalText(start.principal);
    describeActor(attributes, start.actor);
    if (start.executor !== undefined) attributes['host_tools.executor'] = start.executor;
    if (start.surface !== '') attributes['host_tools.surface'] = brief(start.surface);
    if (start.parentCallId !== undefined)
      attributes['host_tools.parent_call.id'] = brief(start.parentCallId);
    const options: SpanOptions = { kind: internal, attributes };
    const parent = this.#goesOn(
      start,
      options,
      this.#callerOf(start, options) ?? this.#parentOf(start),
    );
    this.#span = tracer.startSpan(`execute_tool ${this.#label}`, options, parent);
    this.#context = api.trace.setSpan(parent, this.#span);
  }

  /**
   * The context of a remote caller, if the host's propagator accepts it. The span that is active
   * here, such as that of the request, becomes a link, as the conventions for MCP advise.
   */
  #callerOf({ from }: CallStart, options: SpanOptions): Context | undefined {
    if (from === undefined) return undefined;
    const { api } = this.#shared;
    const active = api.context.active();
    const caller = api.propagation.extract(api.trace.deleteSpan(active), from);
    if (api.trace.getSpanContext(caller) === undefined) return undefined;
    const here = api.trace.getSpanContext(active);
    if (here !== undefined) options.links = [{ context: here }];
    return caller;
  }

  /**
   * A resumed call belongs to the trace of the suspended one, unless the answer came in a trace of
   * its own. Then the suspended one becomes a link.
   */
  #goesOn({ suspended }: CallStart, options: SpanOptions, parent: Context): Context {
    if (suspended === undefined) return parent;
    const { api } = this.#shared;
    const before = api.propagation.extract(api.trace.deleteSpan(parent), suspended);
    const context = api.trace.getSpanContext(before);
    if (context === undefined) return parent;
    if (api.trace.getSpanContext(parent) === undefined) return before;
    options.links = [...(options.links ?? []), { context }];
    return parent;
  }

  /** The caller's context. If it has no span, a handler's call belongs to the handler. */
  #parentOf({ parents }: CallStart): Context {
    const { api } = this.#shared;
    const active = api.context.active();
    if (parents === undefined || api.trace.getSpan(active) !== undefined) return active;
    for (const parent of parents)
      if (parent instanceof CallSpans && parent.#shared === this.#shared)
        return parent.#running ?? parent.#context;
    return active;
  }

  place(): TraceContext {
    const carrier = { traceparent: '' };
    this.#shared.api.propagation.inject(this.#running ?? this.#context, carrier);
    return carrier;
  }

  within(name: Phase, run: () => void): void {
    const { api, tracer } = this.#shared;
    const span = tracer.startSpan(name, phaseOptions, this.#context);
    this.#phase = { name, span };
    const inside = api.trace.setSpan(this.#context, span);
    if (name === 'run') this.#running = inside;
    api.context.with(inside, run);
  }

  left(name: Phase, told: Told): void {
    if (this.#phase?.name === name) this.#leave(told);
  }

  #leave(told: Told): void {
    if (this.#phase === undefined) return;
    const { span } = this.#phase;
    this.#phase = undefined;
    try {
      tell(span, told);
    } finally {
      span.end();
    }
  }

  ended(end: CallEnd): void {
    const { durations, content } = this.#shared;
    const span = this.#span;
    try {
      this.#leave(end);
    } finally {
      try {
        tell(span, end, content ? end.message : undefined);
        if (content && span.isRecording()) setContent(span, end);
      } finally {
        span.end();
      }
    }
    const measured: Attributes = {
      'gen_ai.tool.name': this.#label,
      'gen_ai.tool.type': 'function',
    };
    if (this.#executor !== undefined) measured['host_tools.executor'] = this.#executor;
    if (end.code !== undefined) measured['error.type'] = end.code;
    // With the context, exemplars of the metric can name the span.
    durations.record(end.durationMs / 1_000, measured, this.#context);
  }
}

/** Spans only: a metric would get a series for each agent and person. */
function describeActor(attributes: Attributes, { chain, labels }: CallStart['actor']): void {
  if (chain.length > 0) {
    attributes['host_tools.actor.agents'] = chain.map(({ agent }) => brief(agent));
    attributes['host_tools.actor.sessions'] = chain.map(({ sessionId }) => brief(sessionId));
  }
  for (const name of Object.keys(labels ?? {}))
    attributes[`host_tools.actor.label.${name}`] = brief(
      (labels as Record<string, string>)[name] ?? '',
    );
}

/** Records how a span ended. */
function tell(span: Span, told: Told, message?: string): void {
  if (!span.isRecording()) return;
  const { code, ruleId, reason, approvalId } = told;
  if (ruleId !== undefined) span.setAttribute('host_tools.rule.id', brief(ruleId));
  if (reason !== undefined) span.setAttribute('host_tools.reason', brief(reason));
  if (approvalId !== undefined && approvalId !== '')
    span.setAttribute('host_tools.approval.id', brief(approvalId));
  if (code === undefined) return;
  span.setAttribute('error.type', code);
  // A call that waits for a person has not failed.
  if (code === 'approval_pending') return;
  span.setStatus(
    message === undefined ? { code: failed } : { code: failed, message: briefMessage(message) },
  );
}

/** The arguments and the result, redacted. */
function setContent(span: Span, end: CallEnd): void {
  span.setAttribute('gen_ai.tool.call.arguments', contentText(end.input()));
  const output = end.output();
  if (output !== undefined) span.setAttribute('gen_ai.tool.call.result', contentText(output));
}

// The names of tools in spans and metrics. Their number is bounded, whoever defines the tools.

/** Most tools of sessions that have their own label. Clients may bring them. */
const maxOwnTools = 1_000;

/** The label of names that no tool has: a model can make up any number of them. */
const unknownTool = '_unknown';
/** The label of a session's own tools beyond the limit. */
const otherTool = '_other';

/** Gives tools their labels. */
interface ToolLabels {
  /** @param isOwn The tool belongs to a session alone. */
  of(tool: string | undefined, isOwn: boolean): string;
}

export function createToolLabels(): ToolLabels {
  const own = new Set<string>();
  const brief = repeatedBrief();
  return {
    of(tool, isOwn) {
      if (tool === undefined) return unknownTool;
      if (!isOwn || own.has(tool)) return brief(tool);
      if (own.size >= maxOwnTools) return otherTool;
      own.add(tool);
      return brief(tool);
    },
  };
}
