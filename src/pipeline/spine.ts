/** The spine: sequences the stages of one call and holds no detail. Every surface goes through it. */
import type { CallOptions } from '../context.ts';
import { type ToolError, toolError } from '../errors.ts';
import { nameOf } from '../names.ts';
import type { ToolResult } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import { Call, type Resumed } from '../state/call.ts';
import type { Spine } from '../state/registry-state.ts';
import type { SessionState } from '../state/session-state.ts';
import { releaseAll } from '../call/release.ts';
import { collectOutputSecrets, collectSecrets } from '../call/secrets.ts';
import { acquire } from './acquire.ts';
import { admit } from './admit.ts';
import { after } from './after.ts';
import { approve } from './approve.ts';
import { before } from './before.ts';
import { childProblem } from './child.ts';
import { decide, verdictFields } from './decide.ts';
import { guard } from './guard.ts';
import { gate, lookup, removedMeanwhile } from './lookup.ts';
import { end, failureResult, late, link, successResult } from '../call/record.ts';
import { type Ran, run, type RunOptions } from './run.ts';
import { normalise, type Shaped } from '../call/snapshot.ts';
import { checkOutput, fit } from './shape.ts';
import type { Outcome, Step } from '../call/step.ts';
import { validate } from './validate.ts';

/** From the call's arrival to the moment its handler may start. */
const stages: readonly ((call: Call) => Step)[] = [admit, lookup, gate, before, validated, guard, decide, judged, approve, edited, acquire, recheck];
const validateStage = stages.indexOf(validated);
const approveStage = stages.indexOf(approve);

/** Re-judging ends in a denial if rules change faster than they can be read. */
const mostRounds = 8;

/** Calls a tool. Resolves always; never throws, never rejects. */
export function callTool(session: SessionState, toolName: string, input: unknown, options: CallOptions | undefined, parent?: Call, resumed?: Resumed, callId?: string): Promise<ToolResult> {
  const { registry } = session;
  const given = callId ?? options?.callId;
  const call = new Call(session, toolName, given ?? newId(session), input, options, parent, resumed);
  call.startedAt = registry.monotonic();
  return new Promise((resolve) => {
    call.resolve = resolve;
    begin(call, given !== undefined);
  });
}

/** A host's `newId` that throws or answers nonsense must not cost the call. */
function newId(session: SessionState): string {
  try {
    const id: unknown = session.registry.newId();
    if (typeof id === 'string' && id !== '') return id;
  } catch {
    // Falls through to the session's own count.
  }
  return `${session.sessionId}-${++session.fallbackIds}`;
}

function begin(call: Call, namedByCaller: boolean): void {
  const { session, callId, options, parent } = call;
  if (session.closed || session.registry.closed) {
    call.resolve(failureResult(call, toolError('session_closed', 'The session is closed. Start another.')));
    return;
  }
  if (namedByCaller || session.ids !== undefined) {
    if (typeof callId !== 'string' || callId === '' || callId.length > 1_024) {
      call.resolve(failureResult(call, toolError('invalid_input', 'Expected the call id to be a string of 1 to 1024 characters.', { reason: 'invalid_call_id' })));
      return;
    }
    session.ids ??= new Map();
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
  const signal = options?.signal;
  if (signal !== undefined && !signal.aborted) session.registry.aborts.add(signal, call);
  if (parent !== undefined) {
    const problem = childProblem(parent, call);
    if (problem !== undefined) {
      void admit(call);
      fail(call, problem);
      return;
    }
  }
  advance(call, 0);
}

/** Runs stages until one ends the call, waits, or the handler starts. */
function advance(call: Call, from: number): void {
  try {
    for (let step = from; step < stages.length; step++) {
      const outcome = (stages[step] as (call: Call) => Step)(call);
      if (outcome === undefined) {
        if (call.goto >= 0) {
          step = call.goto - 1;
          call.goto = -1;
        }
        continue;
      }
      if (outcome instanceof Promise) {
        wait(call, outcome, step);
        return;
      }
      fail(call, outcome);
      return;
    }
    start(call);
  } catch (error) {
    broken(call, error);
  }
}

function wait(call: Call, pending: Promise<Outcome>, step: number): void {
  pending.then(
    (outcome) => {
      if (call.ended) return;
      if (outcome !== undefined) return fail(call, outcome);
      let next = step + 1;
      if (call.goto >= 0) {
        next = call.goto;
        call.goto = -1;
      }
      advance(call, next);
    },
    (error: unknown) => broken(call, error),
  );
}

function validated(call: Call): Step {
  collectSecrets(call);
  const outcome = validate(call);
  if (call.extra?.repaired !== undefined) collectSecrets(call);
  return outcome;
}

/** Tells the verdict; the decide stage itself is shared with `explain` and emits nothing. */
function judged(call: Call): Step {
  const { session, toolName, callId, verdict } = call;
  if (verdict !== undefined && !call.rejudged && session.hears('policy:check')) session.emit('policy:check', { toolName, callId, ...verdictFields(verdict) });
  return undefined;
}

/** A person changed the input: it is validated and judged like any other. */
function edited(call: Call): Step {
  if (!call.edited) return undefined;
  call.edited = false;
  call.goto = validateStage;
  return undefined;
}

/** What waited is judged again: availability, policy and fingerprint, until nothing changed meanwhile. */
function recheck(call: Call): Step {
  const { session } = call;
  if (!call.waited && call.judgedAt === session.current()) return undefined;
  if (++call.rounds > mostRounds) return toolError('policy_error', 'The rules changed faster than the call could be judged. Try again.', { reason: 'rules_unstable', retryable: true });
  const binding = session.binding(call.toolName);
  if (binding === undefined || binding.entry !== call.entry) return removedMeanwhile(call.toolName);
  const gone = gate(call);
  if (gone !== undefined) return gone;
  call.waited = false;
  call.rejudged = true;
  const outcome = decide(call);
  return outcome instanceof Promise ? outcome.then((settled) => settled ?? again(call)) : (outcome ?? again(call));
}

function again(call: Call): Outcome {
  if (call.ended) return undefined;
  // The second judging may itself have waited for a policy; that wait alone asks for no third one, a change does.
  call.waited = false;
  if (call.verdict?.effect === 'ask' && !call.approved) {
    releaseAll(call);
    call.goto = approveStage;
  } else if (call.judgedAt !== call.session.current()) call.goto = stages.indexOf(recheck);
  return undefined;
}

function start(call: Call): void {
  run(call, runOptions);
}

const runOptions: RunOptions = {
  callChild: (parent, tool, input, options) => callChild(parent, tool, input, options),
  done: ran,
  late: (call, settled) => late(call, settled, releaseAll),
};

function callChild(parent: Call, tool: unknown, input: unknown, options: CallOptions | undefined): Promise<ToolResult> {
  const { session, more } = parent;
  const name = nameOf(tool);
  const { callId: _ignored, ...rest } = options ?? {};
  return callTool(session, name, input, rest, parent, undefined, `${parent.callId}/${++more.childCount}`);
}

function ran(call: Call, outcome: Ran): void {
  try {
    // The clock is the handler's; what hooks and schemas still do has limits of its own.
    call.session.registry.deadlines.remove(call);
    if (!outcome.ok) return settle(call, { ok: false, error: outcome.error }, undefined);
    call.state = 'shaping';
    const { session, binding } = call;
    const { entry, maxOutputChars } = binding as Binding;
    const plain = session.hooks.length === 0 && entry.internals.output === undefined;
    const shaped = normalise(call, outcome.value, plain && maxOutputChars !== Number.POSITIVE_INFINITY ? maxOutputChars : undefined);
    if (plain) {
      if (!shaped.ok) return settle(call, shaped, outcome.metadata);
      return settle(call, fit(call, shaped.output, shaped.overflow), outcome.metadata);
    }
    return shapeOn(call, shaped, outcome.metadata);
  } catch (error) {
    return broken(call, error);
  }
}

/** After hooks, output schema and budget, for the tools that have them. */
function shapeOn(call: Call, shaped: Shaped, metadata: Parameters<typeof settle>[2]): void {
  const finish = (checked: Shaped): void => (checked.ok ? settle(call, fit(call, checked.output, undefined), metadata) : settle(call, checked, metadata));
  const check = (hooked: Shaped): void => {
    if (call.ended) return;
    if (!hooked.ok) return finish(hooked);
    const checked = checkOutput(call, hooked.output);
    if (checked instanceof Promise) {
      checked.then((settled) => (call.ended ? undefined : finish(settled)), (error: unknown) => broken(call, error));
      return;
    }
    finish(checked);
  };
  const hooked = after(call, shaped, metadata);
  if (hooked instanceof Promise) hooked.then(check, (error: unknown) => broken(call, error));
  else check(hooked);
}

function settle(call: Call, shaped: Shaped, handler: Parameters<typeof successResult>[1]['handler']): void {
  if (call.ended) return;
  if (!shaped.ok) {
    if (call.session.hooks.length > 0 && call.state === 'running') {
      call.state = 'shaping';
      return shapeOn(call, shaped, handler);
    }
    return fail(call, shaped.error);
  }
  collectOutputSecrets(call, shaped.output);
  end(call, successResult(call, { output: shaped.output, truncated: shaped.truncated, handler }), releaseAll);
}

function fail(call: Call, error: ToolError): void {
  end(call, failureResult(call, error), releaseAll);
}

/** A fault of ours. The host's logger learns of it; the model is told no more than that. */
function broken(call: Call, error: unknown): void {
  call.session.registry.warn({ tool: call.toolName, error: error instanceof Error ? error.stack : typeof error }, 'internal error');
  fail(call, toolError('internal', 'The call failed by an internal error. Try again or use another tool.'));
}

function stop(call: Call, error: ToolError, reason: unknown): void {
  if (call.ended) return;
  const { more } = call;
  more.abortReason = reason;
  call.endedAt = call.session.registry.monotonic();
  fail(call, error);
}

/** What deadlines, signals and closing do to a call. */
export const spine: Spine = {
  expired(call, idleMs) {
    if (call.ended) return;
    const seconds = (idleMs ?? call.timeoutMs) / 1000;
    const message = idleMs === undefined ? `\`${call.toolName}\` timed out after ${seconds}s. It may have run; check before you call it again.` : `\`${call.toolName}\` timed out after ${seconds}s without progress. It may have run; check before you call it again.`;
    stop(call, toolError('timeout', message, { reason: idleMs === undefined ? 'timeout' : 'idle_timeout' }), new DOMException(message, 'TimeoutError'));
  },
  cancelled(call, reason) {
    const text = call.state === 'gates' ? 'The call was cancelled before it started.' : 'The call was cancelled. The tool may have run.';
    stop(call, toolError('cancelled', text), reason);
  },
  closed(call) {
    stop(call, toolError('session_closed', 'The session was closed before the call ended.'), new DOMException('The session was closed.', 'AbortError'));
  },
};
