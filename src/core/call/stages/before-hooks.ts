/**
 * Before hooks: host code that may change the input or refuse the call. If a hook fails, the call
 * is refused.
 */

import type { BeforeAnswer, Hook } from '../../../api/policy.ts';
import {
  describe,
  MisuseError,
  type ToolError,
  toolError,
  withCause,
} from '../../../values/errors/index.ts';
import { cloneJson, copyJson, isJsonObject } from '../../../values/json/index.ts';
import { isThenable, type MaybePromise } from '../../../values/maybe-promise.ts';
import { isReason } from '../../rules/decision.ts';
import type { Call, FoundCall } from '../call.ts';
import { reportFault } from '../report-fault.ts';
import type { Outcome } from '../step.ts';
import { answerInTime, tooLate } from '../with-deadline.ts';

/**
 * Runs each hook once per call. Hooks do not run again after a resume, or after a person has edited
 * the input.
 */
export function beforeHooks(call: FoundCall): MaybePromise<Outcome> {
  const { hooks } = call.session;
  if (call.resumed !== undefined) return undefined;
  // A hook's reason or message may quote the input.
  call.binding.status.masking?.collectInput(call);
  return runFrom(call, hooks, 0);
}

function runFrom(call: FoundCall, hooks: readonly Hook[], from: number): MaybePromise<Outcome> {
  for (let index = from; index < hooks.length; index++) {
    const hook = hooks[index] as Hook;
    if (hook.before === undefined) continue;
    try {
      const answer = hook.before({
        callId: call.callId,
        tool: call.entry.summary,
        input: cloneJson(call.canonical),
        sessionId: call.session.sessionId,
      });
      if (isThenable(answer)) return later(call, hooks, index, answer as Promise<BeforeAnswer>);
      const refused = read(call, answer as BeforeAnswer);
      if (refused !== undefined || call.ended) return refused;
    } catch (error) {
      return hookThrew(call, error);
    }
  }
  return undefined;
}

async function later(
  call: FoundCall,
  hooks: readonly Hook[],
  index: number,
  answer: Promise<BeforeAnswer>,
): Promise<Outcome> {
  let refused: ToolError | undefined;
  try {
    const settled = await answerInTime(
      call,
      answer,
      call.session.registry.settings.policyTimeoutMs,
    );
    if (call.ended) return undefined;
    refused = settled === tooLate ? hookFailed('took too long') : read(call, settled);
  } catch (error) {
    return hookThrew(call, error);
  }
  return refused ?? runFrom(call, hooks, index + 1);
}

function read(call: FoundCall, answer: BeforeAnswer): ToolError | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer !== 'object') return hookAnswered(call, answer);
  // Own members only: a member of `Object.prototype` is not an answer.
  const { action, input, reason, message } = { ...nothing, ...answer };
  switch (action) {
    case 'continue':
      return undefined;
    case 'modify': {
      const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000 });
      if (!copy.ok || !isJsonObject(copy.value))
        return hookFailed('returned an input that is not a JSON object');
      call.canonical = copy.value;
      call.unsafe = copy.unsafe;
      call.more.text = undefined;
      call.binding.status.masking?.collectInput(call);
      return undefined;
    }
    case 'deny': {
      if (!isReason(reason)) return hookFailed('denied without a reason such as `not_now`');
      return toolError(
        'policy_denied',
        typeof message === 'string' ? message : `A hook refused the call (${reason}).`,
        { reason, source: 'hook' },
      );
    }
    default:
      return hookAnswered(call, answer);
  }
}

const nothing: {
  readonly action?: unknown;
  readonly input?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
} = {
  action: undefined,
  input: undefined,
  reason: undefined,
  message: undefined,
};

/** Refuses the call, and logs what the hook returned for the host. */
function hookAnswered(call: Call, answer: unknown): ToolError {
  const fault = new MisuseError(
    'invalid_option',
    'Expected a before hook to return nothing, { action: "continue" }, { action: "modify", ' +
      `input } or { action: "deny", reason, message? }, got ${describe(answer)}.`,
  );
  reportFault(call, fault, 'hook', 'a before hook returned an unknown answer');
  return withCause(hookFailed('returned an unknown answer'), fault);
}

function hookThrew(call: Call, thrown: unknown): ToolError {
  reportFault(call, thrown, 'hook', 'a before hook threw');
  return withCause(hookFailed('threw'), thrown);
}

function hookFailed(what: string): ToolError {
  return toolError('policy_error', `The call was refused because a hook ${what}.`, {
    reason: 'hook_failed',
    source: 'hook',
  });
}
