/** After hooks: host code that may replace a call's result. A hook that fails changes nothing. */

import type { Hook } from '../../../api/policy.ts';
import type { ToolResult } from '../../../api/result.ts';
import { contentOutputs, markAs } from '../../../values/content-parts.ts';
import { codes, type ToolError, toolError } from '../../../values/errors/index.ts';
import { cloneJson, type JsonObject, type JsonValue } from '../../../values/json/index.ts';
import { isThenable } from '../../../values/maybe-promise.ts';
import type { Call, FoundCall } from '../call.ts';
import { failureResult, successResult } from '../end-call.ts';
import { type Shaped, snapshotOf } from '../output-snapshot.ts';
import { reportFault } from '../report-fault.ts';
import { answerInTime, tooLate } from '../with-deadline.ts';

/** Runs the hooks in reverse order of registration. Each gets the result of the one before it. */
export function afterHooks(
  call: FoundCall,
  shaped: Shaped,
  handler: JsonObject | undefined,
): Shaped | Promise<Shaped> {
  const hooks = call.session.hooks.filter((hook) => hook.after !== undefined).reverse();
  return runFrom(call, hooks, 0, shaped, handler);
}

function runFrom(
  call: FoundCall,
  hooks: readonly Hook[],
  from: number,
  given: Shaped,
  handler: JsonObject | undefined,
): Shaped | Promise<Shaped> {
  let shaped = given;
  for (let index = from; index < hooks.length && !call.ended; index++) {
    const hook = hooks[index] as Hook;
    const { session, callId, entry, canonical } = call;
    try {
      const shown = resultOf(call, shaped, handler);
      const answer = hook.after?.(
        {
          callId,
          tool: entry.summary,
          input: cloneJson(canonical),
          sessionId: session.sessionId,
        },
        shown,
      );
      if (isThenable(answer)) {
        const current = shaped;
        return answerInTime(
          call,
          answer as Promise<ToolResult | void>,
          session.registry.settings.policyTimeoutMs,
        ).then(
          (settled) => {
            if (call.ended) return current;
            try {
              if (settled === tooLate)
                throw new Error(
                  `The hook took longer than ${session.registry.settings.policyTimeoutMs} ms.`,
                );
              return runFrom(call, hooks, index + 1, read(call, settled, shown, current), handler);
            } catch (error) {
              hookFailed(call, error);
              return runFrom(call, hooks, index + 1, current, handler);
            }
          },
          (error: unknown) => {
            hookFailed(call, error);
            return runFrom(call, hooks, index + 1, current, handler);
          },
        );
      }
      shaped = read(call, answer as ToolResult | void, shown, shaped);
    } catch (error) {
      hookFailed(call, error);
    }
  }
  return shaped;
}

function hookFailed(call: Call, error: unknown): void {
  reportFault(call, error, 'hook', 'an after hook failed; the result is unchanged');
}

/** A copy, because only the hook's return value counts and not its changes to what it was given. */
function resultOf(call: Call, shaped: Shaped, handler: JsonObject | undefined): ToolResult {
  if (!shaped.ok) return failureResult(call, shaped.error);
  const result = successResult(call, copyOutput(shaped.output), undefined, handler);
  const { alongside } = result.metadata;
  if (alongside !== undefined)
    Object.assign(result.metadata, { alongside: cloneJson(alongside as JsonObject) });
  return result;
}

function copyOutput(output: unknown): unknown {
  return markAs(cloneJson(output as JsonValue), contentOutputs.get(output as object));
}

function read(
  call: FoundCall,
  answer: ToolResult | void,
  shown: ToolResult,
  before: Shaped,
): Shaped {
  call.extra?.outcome?.alongside?.returned(call, answer, before);
  if (answer === shown) return shown.success ? snapshotOf(call, shown.output) : before;
  const { success, output, error } = {
    ...noResult,
    ...(answer as { success?: unknown; output?: unknown; error?: unknown } | undefined),
  };
  if (success === true) return snapshotOf(call, output);
  if (success === false) return { ok: false, error: readError(error) };
  return before;
}

const noResult = { success: undefined, output: undefined, error: undefined };
const noError = { code: undefined, message: undefined, reason: undefined };

function readError(error: unknown): ToolError {
  const { code, message, reason } = { ...noError, ...(error as Partial<ToolError>) };
  const known = typeof code === 'string' && Object.hasOwn(codes, code) ? code : 'handler_error';
  return toolError(
    known,
    typeof message === 'string' && message !== ''
      ? message
      : 'A hook replaced the result with a failure.',
    { reason: typeof reason === 'string' ? reason : undefined },
  );
}
