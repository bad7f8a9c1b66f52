/** The errors of calls in a sandbox that do not end with an outcome of their handler. */
import { executorError } from '../../surfaces/shared/executor-fault.ts';
import type { Death } from './transport.ts';

/** The sandbox died while the call ran. */
export function lostFault({ reason, text, cause }: Death): Error {
  return executorError(
    'executor_lost',
    reason,
    `The tool's sandbox ${text}. The call may have had effects.`,
    cause,
  );
}

/** The sandbox died before it could load the handler, or could not be started. */
export function unavailableFault(
  reason: 'sandbox_unsupported' | 'sandbox_not_started',
  message: string,
  cause?: unknown,
): Error {
  return executorError('sandbox_unavailable', reason, message, cause);
}

/** The sandbox has started, but cannot load the handler. */
export function unloadedFault(
  reason: 'handler_missing' | 'module_failed',
  message: string,
  cause?: unknown,
): Error {
  return executorError('tool_not_available', reason, message, cause);
}

/** The handler returned a value that cannot be an output. */
export function unreturnableFault(
  reason: 'not_json' | 'output_too_large',
  path: string,
  message: string,
): Error {
  const place = path === '' ? 'The output' : `The output at ${path}`;
  return executorError(
    'invalid_output',
    reason,
    `${place} cannot be returned: ${message}. The tool may have run.`,
    undefined,
    { path },
  );
}
