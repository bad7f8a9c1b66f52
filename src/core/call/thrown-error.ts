/** Makes the error of a call from what its handler threw or failed with. */

import type { Failure } from '../../api/result.ts';
import {
  messageFromParts,
  ownMessage,
  type ToolError,
  toolError,
  withCause,
} from '../../values/errors/index.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import { shortened } from '../../values/text/characters.ts';
import type { FoundCall } from './call.ts';
import { thrownInputFault } from './invalid-input.ts';
import { reportFault } from './report-fault.ts';
import { shownJson, shownText } from './shown.ts';

/** Longest message of a failure, unless the tool's budget is less. A longer one is cut. */
export const longestMessage = 8_192;

/** The text of a handler's failure. The tool's output budget bounds it too. */
function boundedMessage(call: FoundCall, message: string): string {
  const { maxOutputChars } = call.binding;
  return shortened(shownText(call, message), Math.min(longestMessage, maxOutputChars));
}

/** Anything that was thrown becomes a non-empty message, even if reading it throws. */
export function thrownError(call: FoundCall, thrown: unknown): ToolError {
  const refused = thrownInputFault(thrown);
  if (refused !== undefined) return refused;
  const message = messageFrom(thrown);
  const lost = lostExecutor(thrown);
  const error = toolError(
    lost ?? 'handler_error',
    boundedMessage(call, message),
    lost === undefined
      ? undefined
      : { reason: faultReason(thrown), details: faultDetails(call, thrown) },
  );
  withCause(error, thrown);
  if (lost === undefined) reportFault(call, thrown, 'handler', 'a handler threw');
  const masked =
    (call.session.setup.exposeErrors ?? call.surface?.exposeErrors ?? 'message') === 'masked';
  if (!masked || lost !== undefined) return error;
  call.more.ensureOutcome().unmasked = error;
  return withCause(
    toolError('handler_error', 'The tool failed. The details are not shown here; try another way.'),
    thrown,
  );
}

/** The message of what was thrown, or a text that stands in for it. */
function messageFrom(thrown: unknown): string {
  try {
    // Read once: a getter may return something else the next time.
    const message = ownMessage(thrown);
    if (message !== undefined) return message;
  } catch {
    // An error whose getters throw has no message.
  }
  const parts = messageFromParts(thrown);
  return parts === undefined
    ? `The tool failed: it threw ${kindOf(thrown)} without a message.`
    : `The tool failed: ${parts}`;
}

/** The codes that an executor may give its errors. */
const executorCodes = [
  // The place of execution was lost, or could not be created.
  'executor_lost',
  'sandbox_unavailable',
  // The code there is missing, or no longer matches the definition.
  'tool_not_available',
  // What the handler returned there is not an output.
  'invalid_output',
] as const;

function lostExecutor(thrown: unknown): (typeof executorCodes)[number] | undefined {
  try {
    const code: unknown =
      typeof thrown === 'object' && thrown !== null && executorFault in thrown
        ? (thrown as { code?: unknown }).code
        : undefined;
    return executorCodes.find((known) => known === code);
  } catch {
    return undefined;
  }
}
const executorFault = Symbol.for('host-tools.executor-fault');

/** The `reason` that an executor gave its error in addition to `code`. */
function faultReason(thrown: unknown): string | undefined {
  try {
    const { reason } = thrown as { reason?: unknown };
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    return undefined;
  }
}

/** The `details` that an executor gave its error. */
function faultDetails(call: FoundCall, thrown: unknown): JsonValue | undefined {
  try {
    const { details } = thrown as { details?: unknown };
    return isJsonObject(details) ? shownJson(call, details) : undefined;
  } catch {
    return undefined;
  }
}

/** Describes what was thrown. Even `instanceof` may throw. */
function kindOf(thrown: unknown): string {
  if (thrown === null || thrown === undefined) return String(thrown);
  if (typeof thrown !== 'object') return `a ${typeof thrown}`;
  try {
    if (thrown instanceof Error) return 'an error';
  } catch {
    // It is a revoked proxy.
  }
  return 'an object';
}

export function failureError(call: FoundCall, failure: Failure): ToolError {
  const { message, reason, details, retryable } = failure;
  return toolError('handler_error', boundedMessage(call, message), {
    reason,
    retryable,
    ...(details === undefined ? {} : { details: shownJson(call, details) }),
  });
}
