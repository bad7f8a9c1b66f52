/** The spine: sequences the stages of one call and holds no detail. Every surface goes through it. */

import { idsInFlight, newId } from '../call/call-id.ts';
import { failureResult, late, link } from '../call/record.ts';
import { releaseAll } from '../call/release.ts';
import { collectParsedSecrets, collectSecrets, shareSecrets } from '../call/secrets.ts';
import type { Outcome, Step } from '../call/step.ts';
import { tellVerdict } from '../call/tell-verdict.ts';
import { letGo, withdrawn } from '../call/withdrawn.ts';
import type { CallOptions } from '../context.ts';
import { type ToolError, toolError } from '../errors.ts';
import { cloneJson } from '../json.ts';
import { nameOf } from '../names.ts';
import type { ToolResult } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import { Call, type Resumed } from '../state/call.ts';
import { type ReadCallOptions, readToolOptions } from '../state/call-options.ts';
import { lacksSlot } from '../state/session-limits.ts';
import type { SessionState } from '../state/session-state.ts';
import { acquire } from './acquire.ts';
import { admit } from './admit.ts';
import { approve } from './approve.ts';
import { before } from './before.ts';
import { childProblem, nestingProblem } from './child.ts';
import { decide } from './decide.ts';
import { guard } from './guard.ts';
import { gate, lookup, removedMeanwhile } from './lookup.ts';
import { type RunOptions, run } from './run.ts';
import { validate } from './validate.ts';
import { broken, fail, ran, threw } from './way-back.ts';

/** Re-judging ends in a denial if rules change faster than they can be read. */
const mostRounds = 8;

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
  const call = new Call(session, toolName, given ?? newId(session), input, options, parent, resumed);
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

/** One executor for all promises, run at once by each: a closure for every call would only carry its own call. */
function takeResolve(resolve: (result: ToolResult) => void): void {
  taken = resolve;
}
let taken: (result: ToolResult) => void = () => {};

function begin(call: Call, namedByCaller: boolean): void {
  const { session, callId, options, parent } = call;
  if (session.closed || session.registry.closed) return call.resolve(failureResult(call, toolError('session_closed', 'The session is closed. Start another.')));
  if (namedByCaller || session.ids !== undefined) {
    if (typeof callId !== 'string' || callId === '' || callId.length > 1_024) {
      call.resolve(
        failureResult(call, toolError('invalid_input', 'Expected the call id to be a string of 1 to 1024 characters.', { reason: 'invalid_call_id' })),
      );
      return;
    }
    session.ids ??= idsInFlight(session);
    if (session.ids.has(callId)) {
      // Counted, not told: every event of this id belongs to the call that is in flight.
      session.counters().unknown.calls++;
      session.counters().unknown.rejected++;
      call.resolve(failureResult(call, toolError('duplicate_call_id', `A call with the id \`${callId}\` is in flight. Use a new id for a new call.`)));
      return;
    }
    session.ids.set(callId, call);
  }
  link(call);
  const wrong = options?.fault ?? nestingProblem(session.registry.nesting);
  if (wrong !== undefined) return refuse(call, wrong);
  const signal = options?.signal;
  try {
    if (signal !== undefined && !signal.aborted) session.registry.aborts.add(signal, call);
  } catch (error) {
    // A signal of somebody else's making.
    void admit(call);
    throw error;
  }
  if (parent !== undefined) {
    shareSecrets(parent, call);
    const problem = childProblem(parent, call);
    if (problem !== undefined) return refuse(call, problem);
  }
  advance(call, 0);
}

/** Ends a call that cannot begin, announced as any other. */
function refuse(call: Call, error: ToolError): void {
  void admit(call);
  fail(call, error);
}

/** Where a call goes on after it waited, or goes back to. */
const validateStep = 4;
const approveStep = 8;
const acquireStep = 10;
const recheckStep = 11;

/** From a call's arrival, or from where it waited, to the moment its handler starts. Direct calls, so that the engine can inline what is small. */
function advance(call: Call, from: number): void {
  try {
    let next = from;
    while (next >= 0) next = walk(call, next);
  } catch (error) {
    broken(call, error);
  }
}

/**
 * Runs the stages in order, but for those that the call has no use for, until one refuses, waits or sends the call back: then the step to go on with, or -1
 * when the walk is over. A stage may run host code, and host code may end the call: what has ended goes no further.
 */
function walk(call: Call, from: number): number {
  const { session } = call;
  let outcome: Step;
  if (from <= 0) {
    outcome = admit(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, 1);
  }
  if (from <= 1) {
    outcome = lookup(call);
    if (outcome !== undefined) return leave(call, outcome, 2);
  }
  if (from <= 2 && call.binding?.drop !== undefined) {
    outcome = gate(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, 3);
  }
  if (from <= 3 && session.hooks.length > 0) {
    outcome = before(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, validateStep);
  }
  if (from <= validateStep) {
    outcome = validated(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, 5);
  }
  if (from <= 5 && session.limits.loopGuard !== undefined) {
    outcome = guard(call);
    if (outcome !== undefined) return leave(call, outcome, 6);
  }
  if (from <= 6) {
    outcome = judged(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, approveStep);
  }
  // A call that was resumed brings an answer, whether or not anything asks by now.
  if (from <= approveStep && (call.extra !== undefined || call.verdict?.effect === 'ask')) {
    outcome = approve(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, 9);
  }
  if (from <= 9 && wasEdited(call)) return validateStep;
  if (from <= acquireStep && (call.binding?.isBounded === true || call.options?.resourceKey !== undefined)) {
    outcome = acquire(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, recheckStep);
  }
  if (from <= recheckStep) {
    outcome = recheck(call);
    if (outcome !== undefined || call.ended) return leave(call, outcome, recheckStep + 1);
    if (call.goto >= 0) return takeGoto(call);
  }
  start(call);
  return -1;
}

/** Ends the call, or lets it wait and go on with the step given. A call that has ended only takes care of the promise that a stage left. */
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
  // A tool that a rule hides says nothing of its schema: whatever the input, the next gate refuses it.
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

/** Decides, and tells the verdict, a denial too; the decide stage itself is shared with `explain` and emits nothing. */
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

/** What waited is judged again: availability, policy and fingerprint, until nothing changed meanwhile. */
function recheck(call: Call): Step {
  const { session } = call;
  if (call.extra?.grant !== undefined && withdrawn(call)) call.approved = false;
  else if (!call.waited && call.judgedAt === session.current()) return undefined;
  if (++call.more.rounds > mostRounds)
    return toolError('policy_error', 'The rules changed faster than the call could be judged. Try again.', { reason: 'rules_unstable', retryable: true });
  const binding = session.binding(call.toolName);
  if (binding === undefined || binding.entry !== call.entry) return removedMeanwhile(call);
  const gone = gate(call);
  if (gone !== undefined) return gone;
  const outcome = decide(call);
  return outcome instanceof Promise ? outcome.then((settled) => settled ?? again(call)) : (outcome ?? again(call));
}

function again(call: Call): Outcome {
  if (call.ended) return undefined;
  if (withdrawn(call)) call.approved = false;
  // The second judging may itself have waited for a policy; that wait alone asks for no third one, a change does.
  call.waited = false;
  if (call.verdict?.effect === 'ask' && !call.approved) {
    releaseAll(call);
    call.goto = approveStep;
  } else if (call.judgedAt !== call.session.current()) call.goto = recheckStep;
  else if (lacksSlot(call)) call.goto = acquireStep;
  return undefined;
}

function start(call: Call): void {
  letGo(call);
  // A handler may change its input, and its parse may share parts with the canonical one, which after hooks are still to see.
  if (call.session.hooks.length > 0) call.canonical = cloneJson(call.canonical);
  run(call, runOptions);
}

const runOptions: RunOptions = {
  returned: ran,
  threw,
  late: (call, settled) => late(call, settled, releaseAll),
};

/** Calls a tool for a handler, the whole way. */
export function callChild(parent: Call, tool: unknown, input: unknown, options: CallOptions | undefined): Promise<ToolResult> {
  return callTool(parent.session, nameOf(tool), input, readToolOptions(options, true), parent, undefined, childId(parent));
}

/** The parent's id and a number. A caller may have given such an id to a call that is in flight; then the next number. */
function childId(parent: Call): string {
  const { session, callId, more } = parent;
  let id: string;
  do id = `${callId}/${++more.childCount}`;
  while (session.ids?.has(id) === true);
  return id;
}
