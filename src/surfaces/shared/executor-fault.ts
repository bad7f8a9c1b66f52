/**
 * Faults of an MCP server or an application that runs tools elsewhere. They are not failures of a
 * single call.
 */

import type { JsonObject } from '../../values/json/index.ts';

const executorFault = Symbol.for('host-tools.executor-fault');

/**
 * The connection is lost or cannot be made. If a handler rejects with this error, the call ends as
 * `executor_lost`.
 */
export interface ConnectionFault extends Error {
  /** A stable code. */
  readonly code: 'executor_lost';
}

/**
 * Makes a fault that the run stage recognises.
 * @param message A text for people and models: bounded and already cleaned.
 */
export function connectionFault(message: string, cause?: unknown): ConnectionFault {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code: 'executor_lost' as const, [executorFault]: true });
}

/**
 * The tool has changed since the call was judged. If a handler rejects with this error, the call
 * ends as `tool_not_available`.
 */
export function withdrawnFault(reason: string): Error {
  const why =
    reason === 'removed'
      ? 'its server no longer offers it'
      : 'its definition changed, and the new one has not been accepted yet';
  const message = `The tool is not available: ${why}.`;
  return Object.assign(new Error(message), {
    code: 'tool_not_available' as const,
    reason,
    [executorFault]: true,
  });
}

/**
 * Makes an error that ends a call with a code other than `handler_error`.
 * @param message A text for people and models: bounded and already cleaned.
 */
export function executorError(
  code: 'executor_lost' | 'sandbox_unavailable' | 'tool_not_available' | 'invalid_output',
  reason: string,
  message: string,
  cause?: unknown,
  details?: JsonObject,
): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code, reason, details, [executorFault]: true });
}

/** True for the errors that the functions of this file made. */
export function isFault(error: unknown): boolean {
  return typeof error === 'object' && error !== null && executorFault in error;
}
