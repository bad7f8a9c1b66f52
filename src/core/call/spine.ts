/** The spine: runs the steps of a call in order. Every surface calls tools through it. */

import type { ToolResult } from '../../api/result.ts';
import type { ToolError } from '../../values/errors/index.ts';
import type { CopyOutcome } from '../../values/json/index.ts';
import { logDeprecation } from '../tool/deprecation.ts';
import { Call, type FoundCall, isFound, type Resumed } from './call.ts';
import type { ReadCallOptions } from './call-options.ts';
import { link, newId } from './calls-in-flight.ts';
import { EarlyCall, judgeEarly } from './early-call.ts';
import { failCall, failureResult } from './end-call.ts';
import type { CallSession } from './session-port.ts';
import { broken } from './settle.ts';
import { admit, enter, nestingProblem, watchSignal } from './stages/admit.ts';
import { childProblem } from './stages/child-calls.ts';
import { checkAvailable, lookup } from './stages/lookup.ts';
import { takeValidated, validate } from './stages/validate.ts';
import { start } from './start.ts';
import { type CallStep, GoTo, type Next, type Outcome, places, type Step } from './step.ts';
import { decideAndTell, ordinary, stepsOf } from './steps.ts';

/** Calls a tool. Never throws and never rejects. */
export function callTool(
  session: CallSession,
  name: string,
  input: unknown,
  options: ReadCallOptions | undefined,
  parent = session.within,
  resumed?: Resumed,
  callId?: string,
): Promise<ToolResult> {
  const { masking, channel, children } = session.registry.ports.calls;
  if (parent !== undefined && parent === session.within) for (const hear of children) hear(parent);
  const toolName = masking === undefined ? name : masking.name(session, name, input, parent);
  const publish = channel?.();
  if (
    publish === undefined &&
    options === undefined &&
    parent === undefined &&
    resumed === undefined &&
    callId === undefined
  ) {
    const early = judgeEarly(session, toolName, input);
    if (early !== undefined)
      return early instanceof EarlyCall ? goOn(early, toolName, input) : Promise.resolve(early);
  }
  if (publish === undefined)
    return callWithoutTrace(session, toolName, input, options, parent, resumed, callId);
  return publish(session, toolName, () =>
    callWithoutTrace(session, toolName, input, options, parent, resumed, callId),
  );
}

function callWithoutTrace(
  session: CallSession,
  toolName: string,
  input: unknown,
  options: ReadCallOptions | undefined,
  parent: FoundCall | undefined,
  resumed: Resumed | undefined,
  callId: string | undefined,
): Promise<ToolResult> {
  const { registry } = session;
  const { masking } = registry.ports.calls;
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
  registry.nesting++;
  try {
    begin(call, given !== undefined);
  } catch (error) {
    broken(call, error);
  } finally {
    registry.nesting--;
  }
  return promiseOf(call);
}

function promiseOf(call: Call): Promise<ToolResult> {
  // The row `deny` of the benchmarks fails if every call has functions that resolve its promise.
  if (call.result !== undefined) return Promise.resolve(call.result);
  const result = new Promise<ToolResult>(takeResolve);
  call.resolve = taken;
  return result;
}

/** Shared by all promises: a closure per call would only capture that call. */
function takeResolve(resolve: (result: ToolResult) => void): void {
  taken = resolve;
}
let taken: (result: ToolResult) => void = () => {};

/** Gives a record to a call that was read early, and takes it from where it is. */
function goOn(early: EarlyCall, toolName: string, input: unknown): Promise<ToolResult> {
  const { session, startedAt } = early;
  const { registry } = session;
  const id = newId(session);
  const call = new Call(session, toolName, id, input, undefined, undefined, undefined);
  call.startedAt = startedAt;
  registry.nesting++;
  try {
    enterEarly(call, early);
  } catch (error) {
    broken(call, error);
  } finally {
    registry.nesting--;
  }
  return promiseOf(call);
}

function enterEarly(call: Call, early: EarlyCall): void {
  const unreported = enter(call, false);
  if (unreported !== undefined) return call.answer(failureResult(call, unreported));
  link(call);
  if (early.validated === undefined) {
    call.session.registry.ports.calls.masking?.begin(call);
    return arrive(call, early.copy);
  }
  // Its tool was found before: what a schema says of a fault may be the host's code.
  const found = early.found(call);
  const next =
    early.verdict === undefined
      ? placeAfter(found, places.validation, takeValidated(found, early.validated))
      : proceed(found);
  if (next !== undefined) walk(found, next);
}

function begin(call: Call, namedByCaller: boolean): void {
  const unreported = enter(call, namedByCaller);
  if (unreported !== undefined) return call.answer(failureResult(call, unreported));
  link(call);
  const { ports, tracers } = call.session.registry;
  ports.calls.masking?.begin(call);
  tracers?.begin(call);
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

/**
 * Announces the call and finds its tool. This never waits and happens only once.
 * @param copy The input, if it has been read.
 */
function arrive(call: Call, copy?: CopyOutcome): void {
  let refused: Outcome = admit(call, copy);
  if (refused === undefined && !call.ended) refused = lookup(call);
  if (call.entry?.deprecationNotLogged === true) logDeprecation(call.session.registry, call.entry);
  if (
    refused === undefined &&
    isFound(call) &&
    (call.binding.status.drop !== undefined || call.options?.surface?.name === 'app')
  )
    refused = checkAvailable(call);
  if (refused !== undefined) return failCall(call, refused);
  if (!call.ended && isFound(call)) advance(call, places.hooks);
}

/** Takes a call from a place to the start of its handler, to its end, or to where it waits. */
function advance(call: FoundCall, from: number): void {
  try {
    const next = from === places.hooks ? runOrdinary(call) : from;
    if (next !== undefined) walk(call, next);
  } catch (error) {
    broken(call, error);
  }
}

/**
 * Takes a call of an ordinary tool through the steps that have something to do, called by name, so
 * that the engine compiles them as one. Without it, the rows `call`, `normal` and `deny` of the
 * benchmarks are beyond their gates.
 * @returns where the list goes on; undefined if the call runs, waits or has ended
 */
function runOrdinary(call: FoundCall): number | undefined {
  const { session, binding } = call;
  if (stepsOf(binding) !== ordinary || session.hooks.length > 0 || call.extra !== undefined)
    return places.hooks;
  const invalid = validate(call);
  if (invalid !== undefined || call.state !== 'gates')
    return placeAfter(call, places.validation, invalid);
  if (typeof session.limits.loopGuard === 'number') return places.loopGuard;
  const refused = decideAndTell(call);
  if (refused !== undefined || call.state !== 'gates')
    return placeAfter(call, places.policy, refused);
  return proceed(call);
}

/** Starts a call that was judged without a wait, unless it has to wait now. */
function proceed(call: FoundCall): number | undefined {
  const { session, binding } = call;
  if (
    call.extra !== undefined ||
    call.verdict?.effect === 'ask' ||
    binding.isBounded ||
    call.options?.resourceKey !== undefined ||
    call.judgedAt !== session.current() ||
    binding.steps !== ordinary ||
    session.registry.observers !== undefined
  )
    return places.approval;
  start(call);
  return undefined;
}

/**
 * Runs the steps in order. A step may run host code that ends the call, so its state is looked at
 * after each.
 */
function walk(call: FoundCall, from: number): void {
  let steps = stepsOf(call.binding);
  let index = indexOf(steps, from);
  for (;;) {
    const { place, run } = steps[index] as CallStep;
    const next = placeAfter(call, place, run(call));
    if (next === undefined) return;
    if (next === place + 1 && call.binding.steps === steps) index++;
    else {
      steps = stepsOf(call.binding);
      index = indexOf(steps, next);
    }
  }
}

/** Where a call goes after a step; undefined if it runs, waits or has ended. */
function placeAfter(call: FoundCall, place: number, outcome: Step): number | undefined {
  if (outcome instanceof Promise) {
    // After the recheck, every change up to the last moment counts.
    wait(call, outcome, Math.min(place + 1, places.recheck));
    return undefined;
  }
  if (call.state !== 'gates') return undefined;
  if (outcome instanceof GoTo) return outcome.place;
  if (outcome !== undefined) {
    failCall(call, outcome);
    return undefined;
  }
  // A gate that answers at once may have run host code, which may have changed the rules.
  return place >= places.start && call.judgedAt !== call.session.current()
    ? places.recheck
    : place + 1;
}

function indexOf(steps: readonly CallStep[], from: number): number {
  let index = 0;
  while ((steps[index] as CallStep).place < from) index++;
  return index;
}

/** Lets the call wait, and continue at the place given or the one that it is sent to. */
function wait(call: FoundCall, outcome: Promise<Next>, next: number): void {
  call.paused = true;
  call.waited = true;
  call.keepScope();
  // Handled even if the call has ended, so that no rejection stays unhandled.
  outcome.then(
    (settled) => {
      // It has ended, or is about to.
      if (call.state !== 'gates') return;
      if (settled instanceof GoTo) advance(call, settled.place);
      else if (settled !== undefined) failCall(call, settled);
      else advance(call, next);
    },
    (error: unknown) => broken(call, error),
  );
}
