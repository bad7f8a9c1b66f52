/**
 * What goes wrong with whoever runs a tool elsewhere, an MCP server or an application, and is not
 * one call's own failure.
 */

const executorFault = Symbol.for('host-tools.executor-fault');

/**
 * The connection is gone or cannot be had. As a handler's rejection it ends the call as
 * `executor_lost`.
 */
export interface ConnectionFault extends Error {
  /** Stable. */
  readonly code: 'executor_lost';
}

/** Makes a fault that the run stage knows. @param message for people and models: bounded, clean */
export function connectionFault(message: string, cause?: unknown): ConnectionFault {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code: 'executor_lost' as const, [executorFault]: true });
}

/**
 * The tool is no longer what the call was judged by. As a handler's rejection it ends the call as
 * `tool_not_available`.
 */
export function withdrawnFault(reason: string): Error {
  const message =
    'The tool is not available: ' +
    `${reason === 'removed' ? 'its server has it no more' : 'its definition changed, and nobody has accepted the new one yet'}.`;
  return Object.assign(new Error(message), {
    code: 'tool_not_available' as const,
    reason,
    [executorFault]: true,
  });
}

/** True for what {@link connectionFault} and {@link withdrawnFault} made. */
export function isFault(error: unknown): boolean {
  return typeof error === 'object' && error !== null && executorFault in error;
}
