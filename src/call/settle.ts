/**
 * The way back: from what a handler came to, to the end of its call. The second half of the spine.
 */

import { type ToolError, toolError, withCause } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { ResultMetadata } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import { collectOutputSecrets } from './call-secrets.ts';
import { endCall, failureResult, successResult } from './end-call.ts';
import { type Shaped, snapshotOf } from './output-snapshot.ts';
import { releaseAll } from './release.ts';
import { reportFault } from './report-fault.ts';
import { afterHooks } from './stages/after-hooks.ts';
import { checkOutput, withinBudget } from './stages/output-limits.ts';

export function ran(call: Call, value: unknown, metadata: JsonObject | undefined): void {
  try {
    const { session, binding } = call;
    stopClocks(call);
    call.state = 'shaping';
    const { entry, maxOutputChars, secretive } = binding as Binding;
    const bounded = maxOutputChars !== Number.POSITIVE_INFINITY;
    const plain = session.hooks.length === 0 && entry.internals.output === undefined;
    // Secrets are collected before hooks and schemas speak of the output, and before it is cut.
    const shaped = snapshotOf(
      call,
      value,
      plain && bounded && !secretive ? maxOutputChars : undefined,
    );
    if (secretive && shaped.ok) collectOutputSecrets(call, shaped.output);
    if (!plain) return shapeOn(call, shaped, metadata);
    if (!shaped.ok) return fail(call, shaped.error);
    if (bounded) return settle(call, withinBudget(call, shaped), metadata);
    return succeed(call, shaped.output, undefined, metadata);
  } catch (error) {
    return broken(call, error);
  }
}

/** The clocks are the handler's; what hooks and schemas still do has limits of its own. */
function stopClocks(call: Call): void {
  const { deadlines } = call.session.registry;
  deadlines.remove(call);
  const idle = call.extra?.idle;
  if (idle !== undefined) deadlines.remove(idle);
}

export function threw(call: Call, error: ToolError): void {
  // Reading what was thrown runs its getters, and telling of it runs the logger: either may have
  // ended the call.
  if (call.ended) return;
  try {
    stopClocks(call);
    call.state = 'shaping';
    if (call.session.hooks.length > 0) return shapeOn(call, { ok: false, error }, undefined);
    return fail(call, error);
  } catch (fault) {
    return broken(call, fault);
  }
}

/** After hooks, output schema and budget, for the tools that have them. */
function shapeOn(call: Call, shaped: Shaped, metadata: JsonObject | undefined): void {
  const finish = (checked: Shaped): void =>
    checked.ok
      ? settle(call, withinBudget(call, checked), metadata)
      : settle(call, checked, metadata);
  const check = (hooked: Shaped): void => {
    if (call.ended) return;
    if (!hooked.ok) return finish(hooked);
    const checked = checkOutput(call, hooked);
    if (checked instanceof Promise) {
      checked.then(finish, (error: unknown) => broken(call, error));
      return;
    }
    finish(checked);
  };
  const hooked = afterHooks(call, shaped, metadata);
  if (hooked instanceof Promise) hooked.then(check, (error: unknown) => broken(call, error));
  else check(hooked);
}

function settle(call: Call, shaped: Shaped, handler: JsonObject | undefined): void {
  if (!shaped.ok) fail(call, shaped.error);
  else succeed(call, shaped.output, shaped.truncated, handler);
}

function succeed(
  call: Call,
  output: unknown,
  truncated: ResultMetadata['truncated'],
  handler: JsonObject | undefined,
): void {
  if ((call.binding as Binding).secretive) collectOutputSecrets(call, output);
  endCall(call, successResult(call, output, truncated, handler), releaseAll);
}

export function fail(call: Call, error: ToolError): void {
  endCall(call, failureResult(call, error), releaseAll);
}

/** A fault of ours. The host's logger learns of it; the model is told no more than that. */
export function broken(call: Call, error: unknown): void {
  reportFault(call, error, 'host-tools', 'internal error');
  fail(
    call,
    withCause(
      toolError('internal', 'The call failed by an internal error. Try again or use another tool.'),
      error,
    ),
  );
}
