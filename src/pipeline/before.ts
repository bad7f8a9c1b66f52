/** Before hooks: host code that may change the input or refuse the call. One that fails, refuses. */

import { bounded, late } from '../call/bounded.ts';
import { collectSecrets } from '../call/secrets.ts';
import type { Outcome, Step } from '../call/step.ts';
import { isReason } from '../decision.ts';
import { type ToolError, toolError } from '../errors.ts';
import type { BeforeAnswer, Hook } from '../hooks.ts';
import { cloneJson, copyJson, isJsonObject } from '../json.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';

/** Runs each hook once a call: not again after an edit or a resume. */
export function before(call: Call): Step {
  const { hooks } = call.session;
  if (hooks.length === 0 || call.resumed !== undefined || call.more.hooked) return undefined;
  call.more.hooked = true;
  // A hook may speak of what it saw.
  collectSecrets(call);
  return runFrom(call, hooks, 0);
}

function runFrom(call: Call, hooks: readonly Hook[], from: number): Step {
  for (let index = from; index < hooks.length; index++) {
    const hook = hooks[index] as Hook;
    if (hook.before === undefined) continue;
    try {
      const answer = hook.before({
        callId: call.callId,
        tool: (call.binding as Binding).entry.summary,
        input: cloneJson(call.canonical),
        sessionId: call.session.sessionId,
      });
      if (typeof answer === 'object' && answer !== null && typeof (answer as PromiseLike<unknown>).then === 'function')
        return later(call, hooks, index, answer as Promise<BeforeAnswer>);
      const refused = read(call, answer as BeforeAnswer);
      if (refused !== undefined) return refused;
    } catch {
      return hookFailed('threw');
    }
  }
  return undefined;
}

async function later(call: Call, hooks: readonly Hook[], index: number, answer: Promise<BeforeAnswer>): Promise<Outcome> {
  call.waited = true;
  let refused: ToolError | undefined;
  try {
    const settled = await bounded(call, answer, call.session.registry.policyTimeoutMs);
    if (call.ended) return undefined;
    refused = settled === late ? hookFailed('took too long') : read(call, settled);
  } catch {
    return hookFailed('failed');
  }
  return refused ?? runFrom(call, hooks, index + 1);
}

function read(call: Call, answer: BeforeAnswer): ToolError | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer !== 'object') return hookFailed('answered nonsense');
  switch (answer.action) {
    case 'continue':
      return undefined;
    case 'modify': {
      const copy = copyJson(answer.input, { maxDepth: 64, maxValues: 50_000 });
      if (!copy.ok || !isJsonObject(copy.value)) return hookFailed('answered an input that is not a JSON object');
      call.canonical = copy.value;
      call.unsafe = copy.unsafe;
      call.more.text = undefined;
      collectSecrets(call);
      return undefined;
    }
    case 'deny': {
      if (!isReason(answer.reason)) return hookFailed('denied without a reason such as `not_now`');
      const message = typeof answer.message === 'string' ? answer.message : `A hook refused the call (${answer.reason}).`;
      return toolError('policy_denied', message, { reason: answer.reason, source: 'hook' });
    }
    default:
      return hookFailed('answered nonsense');
  }
}

function hookFailed(what: string): ToolError {
  return toolError('policy_error', `The call was refused because a hook ${what}.`, { reason: 'hook_failed', source: 'hook' });
}
