/**
 * The spine: sequences the stages of one call and holds no detail. Every surface goes through it.
 */

import type { CallOptions } from '../context.ts';
import type { ToolError } from '../errors.ts';
import { cloneJson } from '../json.ts';
import type { ToolResult } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import { Call, type Resumed } from '../state/call.ts';
import { type ReadCallOptions, readToolOptions } from '../state/call-options.ts';
import type { SessionState } from '../state/session-state.ts';
import { nameOf } from '../text/names.ts';
import { collectParsedSecrets, collectSecrets, shareSecrets } from './call-secrets.ts';
import { countLateSettle, failureResult, link } from './end-call.ts';
import { newId } from './ids-in-flight.ts';
import { recheck } from './recheck.ts';
import { releaseAll } from './release.ts';
import { broken, fail, ran, threw } from './settle.ts';
import { acquire } from './stages/acquire.ts';
import { admit, enter, watchSignal } from './stages/admit.ts';
import { approve } from './stages/approve.ts';
import { beforeHooks } from './stages/before-hooks.ts';
import { childProblem, nestingProblem } from './stages/child-calls.ts';
import { decide } from './stages/decide.ts';
import { checkAvailable, lookup } from './stages/lookup.ts';
import { loopGuard } from './stages/loop-guard.ts';
import { type RunOptions, run } from './stages/run.ts';
import { validate } from './stages/validate.ts';
import { type Step, steps } from './step.ts';
import { tellVerdict } from './tell-verdict.ts';
import { letGo } from './withdrawn.ts';

/** Calls a tool. Resolves always; never throws, never rejects. */
export function callTool(
  session: SessionState,
  toolName: string,
  input: unknown,
  options: ReadCallOptions | undefined,
  parent?: Call,
  resumed?: Resumed,
  callId?: string,
): Promise<ToolResult> {
  const { registry } = session;
  const given = callId ?? options?.callId;
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

/**
 * One executor for all promises, run at once by each: a closure for every call would only carry its
 * own call.
 */
function takeResolve(resolve: (result: ToolResult) => void): void {
  taken = resolve;
}
let taken: (result: ToolResult) => void = () => {};

function begin(call: Call, namedByCaller: boolean): void {
  const unheard = enter(call, namedByCaller);
  if (unheard !== undefined) return call.resolve(failureResult(call, unheard));
  link(call);
  const wrong = call.options?.fault ?? nestingProblem(call.session.registry.nesting);
  if (wrong !== undefined) return refuse(call, wrong);
  try {
    watchSignal(call);
  } catch (error) {
    // The host may have passed an object that only looks like a signal.
    void admit(call);
    throw error;
  }
  const { parent } = call;
  if (parent !== undefined) {
    shareSecrets(parent, call);
    const problem = childProblem(parent, call);
    if (problem !== undefined) return refuse(call, problem);
  }
  advance(call, steps.arrive);
}

/** Ends a call that cannot begin, announced as any other. */
function refuse(call: Call, error: ToolError): void {
  void admit(call);
  fail(call, error);
}

/**
 * From a call's arrival, or from where it waited, to the moment its handler starts. Direct calls,
 * so that the engine can inline what is small.
 */
function advance(call: Call, from: number): void {
  try {
    let next = from;
    while (next >= 0) next = walk(call, next);
  } catch (error) {
    broken(call, error);
  }
}

/**
 * Runs the stages in order, but for those that the call has no use for, until one refuses, waits or
 * sends the call back: then the step to go on with, or -1 when the walk is over. A stage may run
 * host code, and host code may end the call: what has ended goes no further.
 */
function walk(call: Call, from: number): number {
  let outcome: Step;
  if (from === steps.arrive) {
    outcome = arrive(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.validate);
  }
  if (from <= steps.validate) {
    outcome = validated(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.judge);
  }
  if (from <= steps.judge) {
    outcome = loopGuard(call) ?? judged(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.approve);
  }
  if (from <= steps.approve) {
    outcome = approve(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.acquire);
  }
  if (wasEdited(call)) return steps.validate;
  if (
    from <= steps.acquire &&
    (call.binding?.isBounded === true || call.options?.resourceKey !== undefined)
  ) {
    outcome = acquire(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
  }
  // Also after it waited itself: what changed between its end and this moment counts.
  outcome = recheck(call);
  if (outcome !== undefined || call.ended) return leave(call, outcome, steps.recheck);
  if (call.goto >= 0) return takeGoto(call);
  start(call);
  return -1;
}

/**
 * What happens once: the call is announced, its tool is found, and hooks see it. Of these stages
 * only hooks wait.
 */
function arrive(call: Call): Step {
  const refused = admit(call);
  if (refused !== undefined || call.ended) return refused;
  const missing =
    lookup(call) ?? (call.binding?.drop === undefined ? undefined : checkAvailable(call));
  if (missing !== undefined || call.ended || call.session.hooks.length === 0) return missing;
  return beforeHooks(call);
}

/**
 * Ends the call, or lets it wait and go on with the step given. A call that has ended only takes
 * care of the promise that a stage left.
 */
function leave(call: Call, outcome: Step, next: number): -1 {
  if (outcome === undefined) return -1;
  if (!(outcome instanceof Promise)) {
    fail(call, outcome);
    return -1;
  }
  call.paused = true;
  outcome.then(
    (settled) => {
      if (call.ended) return;
      if (settled !== undefined) return fail(call, settled);
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

function validated(call: Call): Step {
  // A tool that a rule hides says nothing of its schema: whatever the input, the next gate refuses
  // it.
  if ((call.binding as Binding).drop === 'denied') return undefined;
  if (call.binding?.secretive !== true) return validate(call);
  collectSecrets(call);
  const outcome = validate(call);
  if (!(outcome instanceof Promise)) {
    collectParsedSecrets(call);
    return outcome;
  }
  return outcome.then((settled) => {
    collectParsedSecrets(call);
    return settled;
  });
}

/**
 * Decides, and tells the verdict, a denial too; the decide stage itself is shared with `explain`
 * and emits nothing.
 */
function judged(call: Call): Step {
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

/** A person changed the input: it is validated and judged like any other. */
function wasEdited(call: Call): boolean {
  const { extra } = call;
  if (extra === undefined || !extra.edited) return false;
  extra.edited = false;
  extra.wasEdited = true;
  return true;
}

function start(call: Call): void {
  letGo(call);
  // A handler may change its input, and its parse may share parts with the canonical one, which
  // after hooks are still to see.
  if (call.session.hooks.length > 0) call.canonical = cloneJson(call.canonical);
  run(call, runOptions);
}

const runOptions: RunOptions = {
  returned: ran,
  threw,
  late: (call, settled) => countLateSettle(call, settled, releaseAll),
};

/** Calls a tool for a handler, the whole way. */
export function callChild(
  parent: Call,
  tool: unknown,
  input: unknown,
  options: CallOptions | undefined,
): Promise<ToolResult> {
  return callTool(
    parent.session,
    nameOf(tool),
    input,
    readToolOptions(options, true),
    parent,
    undefined,
    childId(parent),
  );
}

/**
 * The parent's id and a number. A caller may have given such an id to a call that is in flight;
 * then the next number.
 */
function childId(parent: Call): string {
  const { session, callId, more } = parent;
  let id: string;
  do id = `${callId}/${++more.childCount}`;
  while (session.ids?.has(id) === true);
  return id;
}
