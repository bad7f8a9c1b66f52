/** Options of a call that cannot be meant. A call never throws, so that they end it as a result. */
import type { CallOptions } from '../context.ts';
import { describe, type ToolError, toolError } from '../errors.ts';

/** The first option that is wrong, as an error. */
export function wrongOption({ timeoutMs, signal, resourceKey }: CallOptions): ToolError | undefined {
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0)) return refuse('timeoutMs', 'a number of milliseconds above 0', timeoutMs);
  if (signal !== undefined && !(typeof signal === 'object' && signal !== null && typeof signal.addEventListener === 'function'))
    return refuse('signal', 'an AbortSignal', signal);
  if (resourceKey !== undefined && typeof resourceKey !== 'string') return refuse('resourceKey', 'a string', resourceKey);
  return undefined;
}

function refuse(option: string, expected: string, got: unknown): ToolError {
  return toolError('invalid_input', `Expected the call's option \`${option}\` to be ${expected}, got ${describe(got)}.`, { reason: 'invalid_option' });
}
