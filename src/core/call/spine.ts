/** The spine: runs the stages of a call in order. Every surface calls tools through it. */

import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { Masking } from '../ports.ts';
import type { SessionState } from '../session/session-state.ts';
import { Call, type FoundCall, isFound, type Resumed } from './call.ts';
import { heardChannel, publishCall } from './call-channel.ts';
import type { ReadCallOptions } from './call-options.ts';
import { link, newId } from './calls-in-flight.ts';
import { denyAtOnce } from './constant-denial.ts';
import { failCall, failureResult } from './end-call.ts';
import { recheck } from './recheck.ts';
import { broken, threw } from './settle.ts';
import { acquire } from './stages/acquire.ts';
import { admit, enter, nestingProblem, watchSignal } from './stages/admit.ts';
import { approve } from './stages/approve.ts';
import { beforeHooks } from './stages/before-hooks.ts';
import { childProblem } from './stages/child-calls.ts';
import { decide, tellVerdict } from './stages/decide.ts';
import { checkAvailable, lookup } from './stages/lookup.ts';
import { loopGuard } from './stages/loop-guard.ts';
import { prepare } from './stages/prepare.ts';
import { recordStart } from './stages/record-start.ts';
import { validate } from './stages/validate.ts';
import { start } from './start.ts';
import { type Outcome, type Step, steps } from './step.ts';
import { tellDeprecated } from './tell-deprecated.ts';
import { beginTraces, inPhase } from './traced.ts';

/** Calls a tool. Never throws and never rejects. */
export function callTool(
  session: SessionState,
  name: string,
  input: unknown,
  options: ReadCallOptions | undefined,
  parent?: FoundCall,
  resumed?: Resumed,
  callId?: string,
): Promise<ToolResult> {
  const { masking } = session.registry.ports;
  const toolName = masking === undefined ? name : masking.name(session, name, input, parent);
  const channel = heardChannel();
  if (
    channel === undefined &&
    options === undefined &&
    parent === undefined &&
    resumed === undefined &&
    callId === undefined
  ) {
    const denied = denyAtOnce(session, toolName);
    if (denied !== undefined) return Promise.resolve(denied);
  }
  if (channel === undefined)
    return callUnheard(session, toolName, input, options, parent, resumed, callId);
  return publishCall(channel, session, toolName, () =>
    callUnheard(session, toolName, input, options, parent, resumed, callId),
  );
}

function callUnheard(
  session: SessionState,
  toolName: string,
  input: unknown,
  options: ReadCallOptions | undefined,
  parent: FoundCall | undefined,
  resumed: Resumed | undefined,
  callId: string | undefined,
): Promise<ToolResult> {
  const { registry } = session;
  const { masking } = registry.ports;
  const own = options?.callId;
  const given =
    callId ??
    (own === undefined || masking === undefined
      ? own
      : masking.id(session, own, toolName, input, parent));
  const call = new Call(
    session,
    toolName,
    given ?? newId(session),
    input,
    options,
    parent,
    resumed,
  );
  call.startedAt = registry.monotonic();
  const result = new Promise<ToolResult>(takeResolve);
  call.resolve = taken;
  registry.nesting++;
  try {
    begin(call, given !== undefined);
  } catch (error) {
    broken(call, error);
  } finally {
    registry.nesting--;
  }
  return result;
}

/** Shared by all promises: a closure per call would only capture that call. */
function takeResolve(resolve: (result: ToolResult) => void): void {
  taken = resolve;
}
let taken: (result: ToolResult) => void = () => {};

function begin(call: Call, namedByCaller: boolean): void {
  const unheard = enter(call, namedByCaller);
  if (unheard !== undefined) return call.resolve(failureResult(call, unheard));
  link(call);
  const { ports, tracers } = call.session.registry;
  ports.masking?.begin(call);
  if (tracers !== undefined) beginTraces(call, tracers);
  const wrong = call.options?.fault ?? nestingProblem(call.session.registry.nesting);
  if (wrong !== undefined) return refuse(call, wrong);
  if (call.options?.signal !== undefined) {
    try {
      watchSignal(call);
    } catch (error) {
      // The host may have passed an object that only looks like a signal.
      void admit(call);
      throw error;
    }
  }
  const { parent } = call;
  if (parent !== undefined) {
    const problem = childProblem(parent, call);
    if (problem !== undefined) return refuse(call, problem);
  }
  arrive(call);
}

/** Ends a call that cannot begin. The call is announced like any other. */
function refuse(call: Call, error: ToolError): void {
  void admit(call);
  failCall(call, error);
}

/** Announces the call and finds its tool. This never waits and happens only once. */
function arrive(call: Call): void {
  let refused: Outcome = admit(call);
  if (refused === undefined && !call.ended) refused = lookup(call);
  if (call.entry?.untold === true) tellDeprecated(call.session.registry, call.entry);
  if (refused === undefined && isFound(call) && call.binding.drop !== undefined)
    refused = checkAvailable(call);
  if (refused !== undefined) return failCall(call, refused);
  if (!call.ended && isFound(call)) advance(call, steps.hooks);
}

/**
 * Takes a call from a step to the start of its handler, or to its end. The stages are called
 * directly, so that the engine can inline the small ones.
 */
function advance(call: FoundCall, from: number): void {
  try {
    let next = from;
    while (next >= 0) next = walk(call, next);
  } catch (error) {
    broken(call, error);
  }
}

/**
 * Runs the stages in order, without those that the call does not need. Returns the step to go back
 * to, or -1 if the call was refused, waits, or runs its handler. A stage may run host code that
 * ends the call, so `call.ended` is checked after every stage.
 */
function walk(call: FoundCall, from: number): number {
  const { session, binding } = call;
  let outcome: Step;
  if (from === steps.hooks && session.hooks.length > 0) {
    outcome = beforeHooks(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.validate);
  }
  // A tool that a rule hides must not reveal its schema. The next gate refuses any input.
  if (from <= steps.validate && binding.drop !== 'denied') {
    outcome =
      binding.masking === undefined ? validate(call) : validateMasked(call, binding.masking);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.judge);
  }
  if (from <= steps.judge) {
    outcome = typeof session.limits.loopGuard === 'number' ? loopGuard(call) : undefined;
    outcome ??= inPhase(call, 'policy', decideAndTell);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.approve);
  }
  // An allowed call without extras neither has an answer nor needs one.
  if (from <= steps.approve && (call.verdict?.effect === 'ask' || call.extra !== undefined)) {
    outcome = isAsked(call) ? inPhase(call, 'approval', approve) : approve(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.acquire);
  }
  if (call.extra?.edited === true) return backToValidation(call.extra);
  if (from <= steps.acquire && (binding.isBounded || call.options?.resourceKey !== undefined)) {
    outcome = acquire(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
  }
  // Also checked after a recheck that waited, because every change up to this moment counts.
  outcome = recheck(call);
  if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
  if (call.goto >= 0) return takeGoto(call);
  for (const start of binding.starts ?? noStarts) {
    outcome = start(call);
    // A call that waited is judged again before it starts.
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
    if (call.goto >= 0) return takeGoto(call);
    // A gate that answers at once may have run host code, which may have changed the rules.
    if (call.judgedAt !== session.current()) return steps.recheck;
  }
  if (binding.entry.internals.handler === undefined && binding.handler?.now === undefined) {
    outcome = prepare(call, threw);
    if (outcome !== undefined || call.state !== 'gates') return leave(call, outcome, steps.recheck);
  }
  if (session.registry.observers !== undefined) {
    outcome = recordStart(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
    if (call.judgedAt !== session.current()) return steps.recheck;
  }
  start(call);
  return -1;
}

const noStarts: readonly never[] = Object.freeze([]);

/** Ends the call, or lets it wait and continue with the step given. */
function leave(call: FoundCall, outcome: Step, next: number): -1 {
  if (outcome === undefined) return -1;
  if (!(outcome instanceof Promise)) {
    failCall(call, outcome);
    return -1;
  }
  call.paused = true;
  call.waited = true;
  call.keepScope();
  // Handled even if the call has ended, so that no rejection stays unhandled.
  outcome.then(
    (settled) => {
      // It has ended, or is about to.
      if (call.state !== 'gates') return;
      if (settled !== undefined) return failCall(call, settled);
      advance(call, call.goto >= 0 ? takeGoto(call) : next);
    },
    (error: unknown) => broken(call, error),
  );
  return -1;
}

function takeGoto(call: Call): number {
  const { goto } = call;
  call.goto = -1;
  return goto;
}

function validateMasked(call: FoundCall, masking: Masking): Step {
  masking.collectInput(call);
  const outcome = validate(call);
  if (!(outcome instanceof Promise)) {
    masking.collectParse(call);
    return outcome;
  }
  return outcome.then((settled) => {
    masking.collectParse(call);
    return settled;
  });
}

/** Decides, and announces the verdict, even if it is a denial. */
function decideAndTell(call: FoundCall): Step {
  const outcome = decide(call);
  if (outcome instanceof Promise) {
    return outcome.then((settled) => {
      if (!call.ended) tellVerdict(call);
      return settled;
    });
  }
  if (!call.ended) tellVerdict(call);
  return outcome;
}

/** A person changed the input. It is validated and judged like any other. */
function backToValidation(extra: NonNullable<Call['extra']>): number {
  extra.edited = false;
  extra.wasEdited = true;
  // They are about the input as it was before.
  extra.kept = undefined;
  return steps.validate;
}

/** Whether the call needs the answer of a person, or brings one. */
function isAsked({ approved, verdict, resumed, extra }: FoundCall): boolean {
  if (approved) return false;
  return verdict?.effect === 'ask' || (resumed !== undefined && extra?.answered !== true);
}
