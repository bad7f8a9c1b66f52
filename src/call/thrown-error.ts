/** What a handler threw, or failed with, as the error of its call. */
import { type ToolError, toolError, withCause } from '../errors.ts';
import type { Failure } from '../result.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';
import { shortened } from '../text/shortened.ts';
import { scrubJson, scrubText } from './call-secrets.ts';
import { reportFault } from './report-fault.ts';

const longestMessage = 8_192;

/** The text of a handler's failure, within the tool's output budget too. */
function boundedMessage(call: Call, message: string): string {
  const { maxOutputChars } = call.binding as Binding;
  return shortened(scrubText(call, message), Math.min(longestMessage, maxOutputChars));
}

/** Whatever was thrown becomes a non-empty message; reading it may itself throw. */
export function thrownError(call: Call, thrown: unknown): ToolError {
  let message = '';
  try {
    // Read once: a getter may answer something else the next time.
    const told: unknown =
      typeof thrown === 'object' ? (thrown as { message?: unknown }).message : thrown;
    if (typeof told === 'string') message = told;
  } catch {
    // Null, or an error whose getters throw, tells nothing.
  }
  if (message.trim() === '')
    message = `The tool failed: it threw ${kindOf(thrown)} without a message.`;
  const lost = lostExecutor(thrown);
  const error = toolError(
    lost ?? 'handler_error',
    boundedMessage(call, message),
    lost === undefined ? undefined : { reason: faultReason(thrown) },
  );
  withCause(error, thrown);
  if (lost === undefined) reportFault(call, thrown, 'handler', 'a handler threw');
  const masked =
    (call.session.setup.exposeErrors ?? call.surface?.exposeErrors ?? 'message') === 'masked';
  if (!masked || lost !== undefined) return error;
  call.more.unmasked = error;
  return withCause(
    toolError('handler_error', 'The tool failed. Its error is not shown here; try another way.'),
    thrown,
  );
}

/**
 * An executor says by `code` that the call's place of execution is gone or cannot be had, or that
 * what it would run is no longer what was defined.
 */
function lostExecutor(
  thrown: unknown,
): 'executor_lost' | 'sandbox_unavailable' | 'tool_not_available' | undefined {
  try {
    const code: unknown =
      typeof thrown === 'object' && thrown !== null && executorFault in thrown
        ? (thrown as { code?: unknown }).code
        : undefined;
    return code === 'executor_lost' ||
      code === 'sandbox_unavailable' ||
      code === 'tool_not_available'
      ? code
      : undefined;
  } catch {
    return undefined;
  }
}
const executorFault = Symbol.for('host-tools.executor-fault');

/** The `reason` that an executor gave beside its `code`. */
function faultReason(thrown: unknown): string | undefined {
  try {
    const { reason } = thrown as { reason?: unknown };
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    return undefined;
  }
}

/** What was thrown, in words. Even asking whether it is an error may throw. */
function kindOf(thrown: unknown): string {
  if (thrown === null || thrown === undefined) return String(thrown);
  if (typeof thrown !== 'object') return `a ${typeof thrown}`;
  try {
    if (thrown instanceof Error) return 'an error';
  } catch {
    // A revoked proxy.
  }
  return 'an object';
}

export function failureError(call: Call, failure: Failure): ToolError {
  const { message, reason, details, retryable } = failure;
  return toolError('handler_error', boundedMessage(call, message), {
    reason,
    retryable,
    ...(details === undefined ? {} : { details: scrubJson(call, details) }),
  });
}
