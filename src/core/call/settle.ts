/** The second half of the spine: from what the handler returned or threw to the end of its call. */

import type { ResultMetadata } from '../../api/result.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { JsonObject } from '../../values/json/index.ts';
import type { Call, FoundCall } from './call.ts';
import { endCall, failCall, successResult } from './end-call.ts';
import { type Shaped, type Shown, snapshotOf } from './output-snapshot.ts';
import { reportFault } from './report-fault.ts';
import { afterHooks } from './stages/after-hooks.ts';
import { checkOutput, withinBudget } from './stages/output-limits.ts';

export function ran(call: FoundCall, value: unknown, given: JsonObject | undefined): void {
  try {
    const { session, binding } = call;
    stopClocks(call);
    call.state = 'shaping';
    const {
      entry,
      maxOutputChars,
      outputs,
      overBudget,
      status: { masking },
    } = binding;
    const bounded = maxOutputChars !== Number.POSITIVE_INFINITY && isShown(call);
    const plain =
      session.hooks.length === 0 && entry.internals.output === undefined && outputs.length === 0;
    // What is hidden is collected before hooks and schemas can mention them, and before a cut.
    const cleaning = call.extra?.outcome?.cleaning;
    const copied = snapshotOf(
      call,
      value,
      plain && bounded && masking === undefined && overBudget === undefined && !cleaning
        ? maxOutputChars
        : undefined,
    );
    const shaped = cleaning?.output(call, copied) ?? copied;
    const metadata = cleaning === undefined ? given : cleaning.json(given);
    masking?.collectOutput(call, shaped.ok ? shaped.output : null);
    if (!plain) return shapeOn(call, shaped, metadata);
    if (!shaped.ok) return failCall(call, shaped.error);
    if (bounded) return bound(call, shaped, metadata);
    return succeed(call, shaped.output, undefined, metadata);
  } catch (error) {
    return broken(call, error);
  }
}

/**
 * Whether a model may read the output. A program reads all of it, and the model what it returns.
 */
function isShown({ parent }: Call): boolean {
  return parent?.entry.isProgram !== true;
}

/** These deadlines are for the handler; hooks and schemas have limits of their own. */
function stopClocks(call: Call): void {
  const { deadlines } = call.session.registry.waiting;
  deadlines.remove(call);
  const idle = call.extra?.idle;
  if (idle !== undefined) deadlines.remove(idle);
}

export function threw(call: FoundCall, thrown: ToolError): void {
  // The getters of the thrown value, or the logger, may have ended the call.
  if (call.ended) return;
  try {
    stopClocks(call);
    call.state = 'shaping';
    const error = call.extra?.outcome?.cleaning?.error(call, thrown) ?? thrown;
    if (call.session.hooks.length > 0) return shapeOn(call, { ok: false, error }, undefined);
    return failCall(call, error);
  } catch (fault) {
    return broken(call, fault);
  }
}

/** Runs the after hooks, the output schema and the budget, for calls that have them. */
function shapeOn(call: FoundCall, shaped: Shaped, metadata: JsonObject | undefined): void {
  const finish = (checked: Shaped): void =>
    checked.ok && isShown(call) ? bound(call, checked, metadata) : settle(call, checked, metadata);
  const check = (passed: Shaped): void => {
    if (call.ended) return;
    if (!passed.ok) return finish(passed);
    then(call, checkOutput(call, passed), finish);
  };
  const gate = (given: Shaped, from: number): void => {
    const { outputs } = call.binding;
    if (call.ended) return;
    if (from >= outputs.length || !given.ok) return check(given);
    const next = outputs[from] as (typeof outputs)[number];
    then(call, next(call, given), (passed) => gate(passed, from + 1));
  };
  then(call, afterHooks(call, shaped, metadata), (hooked) => gate(hooked, 0));
}

/** Cuts the output to its budget, and what was sent in addition to it. */
function bound(call: FoundCall, shaped: Shown, metadata: JsonObject | undefined): void {
  const fitted = withinBudget(call, shaped);
  const alongside = call.extra?.outcome?.alongside;
  if (alongside === undefined || call.binding.maxOutputChars === Number.POSITIVE_INFINITY)
    return settle(call, fitted, metadata);
  then(call, fitted, (own) => {
    if (!call.ended) settle(call, alongside.fit(call, own), metadata);
  });
}

/** Goes on now or later. */
function then(
  call: FoundCall,
  value: Shaped | Promise<Shaped>,
  next: (value: Shaped) => void,
): void {
  if (value instanceof Promise) value.then(next, (error: unknown) => broken(call, error));
  else next(value);
}

function settle(
  call: FoundCall,
  shaped: Shaped | Promise<Shaped>,
  handler: JsonObject | undefined,
): void {
  if (shaped instanceof Promise) {
    shaped.then(
      (kept) => {
        if (!call.ended) settle(call, kept, handler);
      },
      (error: unknown) => broken(call, error),
    );
  } else if (!shaped.ok) failCall(call, shaped.error);
  else succeed(call, shaped.output, shaped.truncated, handler);
}

function succeed(
  call: FoundCall,
  output: unknown,
  truncated: ResultMetadata['truncated'],
  handler: JsonObject | undefined,
): void {
  call.binding.status.masking?.collectOutput(call, output);
  endCall(call, successResult(call, output, truncated, handler));
}

/** A fault of this library. The host's logger gets the details, but the model does not. */
export function broken(call: Call, error: unknown): void {
  reportFault(call, error, 'host-tools', 'internal error');
  failCall(
    call,
    withCause(
      toolError(
        'internal',
        'The call failed because of an internal error. Try again or use another tool.',
      ),
      error,
    ),
  );
}
