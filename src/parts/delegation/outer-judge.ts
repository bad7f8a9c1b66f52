/**
 * Asks the outer session about each call: what it may not do itself, no session does that acts for
 * it. The same code judges its own calls.
 */

import type { Surface } from '../../api/context.ts';
import type { ToolResult } from '../../api/result.ts';
import type { Binding } from '../../core/call/binding.ts';
import { Call, type FoundCall } from '../../core/call/call.ts';
import { judge } from '../../core/call/stages/decide.ts';
import { findGrant } from '../../core/call/standing-grants.ts';
import type { Judge, Tally } from '../../core/call/tally.ts';
import { bothDetails, denied, makeVerdict, type Verdict } from '../../core/rules/verdict.ts';
import { closeSession } from '../../core/session/close.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import type { JsonObject } from '../../values/json/index.ts';

/** The judges of a tool in a session: one, if the session acts for another. */
export function outerJudges({ session }: Binding): readonly Judge[] {
  return session.outer === undefined ? none : [outerJudge];
}

const none: readonly never[] = Object.freeze([]);

/** A call as if its outer session had made it. It is judged, and never runs. */
class OuterCall extends Call {
  readonly inner: FoundCall;
  /** How often the inner call had been judged again when this one was asked anew. */
  round = -1;

  constructor(inner: FoundCall, outer: SessionState) {
    const { toolName, callId, input, parent } = inner;
    super(outer, toolName, callId, input, inner.options, parent, undefined);
    this.inner = inner;
  }

  override get actual(): Call {
    return this.inner.actual;
  }

  override get ended(): boolean {
    return this.inner.ended;
  }

  override get signal(): AbortSignal {
    return this.inner.signal;
  }

  /** The scopes of a request are those of the session that got it. */
  override get surface(): Surface | undefined {
    const { surface, session } = this.inner;
    return surface?.scopes === undefined || wholeSession(session).acting?.sharesScopes === true
      ? surface
      : { ...surface, scopes: undefined };
  }

  override onEnd(cleanup: (result: ToolResult) => void): void {
    this.inner.onEnd(cleanup);
  }

  override offEnd(cleanup: (result: ToolResult) => void): void {
    this.inner.offEnd(cleanup);
  }
}

const outerCalls = new WeakMap<Call, OuterCall>();

/** The call is judged again. Forgets what was asked about it as a call of its outer session. */
export function forgetOuter(call: FoundCall, isPass: boolean): void {
  const asked = outerCalls.get(call);
  if (asked === undefined) return;
  for (const forget of call.session.registry.ports.calls.again)
    forget(asked as Call as FoundCall, isPass);
}

/** The call as its outer session would make it now; undefined if that has no such tool. */
function outerCallOf(call: FoundCall, outer: SessionState): FoundCall | undefined {
  const binding = outer.binding(call.toolName);
  if (binding === undefined) return undefined;
  let asked = outerCalls.get(call);
  if (asked === undefined) {
    asked = new OuterCall(call, outer);
    outerCalls.set(call, asked);
  }
  asked.binding = binding;
  asked.entry = binding.entry;
  asked.canonical = call.canonical;
  asked.parsed = call.parsed;
  // Its gates are asked anew with those of the call, and keep their answers with them.
  const { rounds } = call.more;
  if (asked.round !== rounds) {
    asked.round = rounds;
    asked.more.kept = undefined;
  }
  return asked as Call as FoundCall;
}

const outerJudge: Judge = (call, tally) => {
  const session = wholeSession(call.session);
  const outer = session.outer as SessionState;
  // It has expired, and its timer is late.
  if (session.closed && tally.steps === undefined) {
    void closeSession(session);
    return undefined;
  }
  const asked = outerCallOf(call, outer);
  if (asked === undefined) return add(call, tally, outer, removed, undefined);
  const steps: JsonObject[] | undefined = tally.steps === undefined ? undefined : [];
  const verdict = judge(asked, steps);
  // Nothing is kept of the answer: the gates behind it are asked again, apart from those that were
  // waited for, which keep theirs.
  return verdict instanceof Promise
    ? verdict.then((settled) => add(call, tally, outer, answered(asked, settled), steps))
    : add(call, tally, outer, answered(asked, verdict), steps);
};

const removed = denied(
  'not_delegated',
  'The call was denied, because the session for which this one acts does not have the tool.',
  'delegation',
  undefined,
);

/** A person may have rejected such calls of the outer session for good. */
function answered(asked: FoundCall, verdict: Verdict): Verdict {
  if (verdict.effect !== 'ask' || findGrant(asked)?.effect !== 'reject') return verdict;
  return denied(
    'rejected_always',
    'The call was denied, because a person has rejected such calls. Do not retry it.',
    'delegation',
    undefined,
  );
}

function add(
  call: FoundCall,
  tally: Tally,
  { sessionId }: SessionState,
  verdict: Verdict,
  steps: readonly JsonObject[] | undefined,
): void {
  const { effect, reason, ruleId } = verdict;
  tally.steps?.push({
    source: 'delegation',
    sessionId,
    effect,
    ...(ruleId === undefined ? {} : { ruleId }),
    ...(reason === undefined ? {} : { reason }),
    ...(steps === undefined ? {} : { steps }),
  });
  if (call.ended || effect === 'allow') return;
  if (effect === 'deny') tally.deny ??= verdict;
  else
    tally.ask = makeVerdict('ask', {
      ...verdict,
      ...(tally.ask ?? {}),
      details: bothDetails(tally.ask?.details, verdict.details),
    });
}
