/** The errors of calls that a fleet could not run, or could not run to their end. */
import { executorError } from '../../surfaces/shared/executor-fault.ts';

/** No worker took the call in time. It was withdrawn, so no worker will run it later. */
export function notStarted(startTimeoutMs: number): Error {
  return executorError(
    'executor_lost',
    'not_started',
    `No worker took the call within ${startTimeoutMs} ms, and it did not run: no worker serves ` +
      'the queue, or all are busy.',
  );
}

const afterwards = 'The call may have had effects.';

/** The call may have run, but its outcome is not known. */
export function lost(
  reason:
    | 'worker_lost'
    | 'worker_closed'
    | 'record_lost'
    | 'fleet_unreachable'
    | 'fleet_protocol'
    | 'executor_disposed',
  what: string,
): Error {
  return executorError('executor_lost', reason, `${what} ${afterwards}`);
}

/** Redis may have lost the record that a worker has claimed the call. */
export function replaced(since: 'was sent' | 'waited'): Error {
  return lost('record_lost', `Redis was away or replaced while the call ${since}.`);
}

/** Redis could not be reached when the call began, so nothing was sent. */
export function unreachable(waitedMs: number): Error {
  return executorError(
    'executor_lost',
    'fleet_unreachable',
    `The queue of the tool's workers could not be reached within ${waitedMs} ms. The call did ` +
      'not run.',
  );
}

/** Redis or BullMQ did not accept the call, so no worker will run it. */
export function refusedOffer(cause: unknown): Error {
  return executorError(
    'executor_lost',
    'fleet_unreachable',
    'The queue did not accept the call, and it did not run.',
    cause,
  );
}

/** The worker does not have the tool, or has another definition of it. */
export function refused(reason: 'definition_changed' | 'handler_missing'): Error {
  return executorError(
    'tool_not_available',
    reason,
    reason === 'definition_changed'
      ? 'The tool is not available: the worker that took the call has another definition of it.'
      : 'The tool is not available: the worker that took the call does not have it.',
  );
}

/** Why a worker does not run a call, or does not finish it. */
export type Refusal = 'definition_changed' | 'handler_missing' | 'worker_closed';

const reasons: readonly string[] = ['definition_changed', 'handler_missing', 'worker_closed'];

/** Writes a refusal as a text. It cannot be confused with a handler's message, which is JSON. */
export function refusalText(reason: Refusal): string {
  return `!${reason}`;
}

/** Reads the reason from such a text. Returns undefined for any other text. */
export function readRefusal(text: string): Refusal | undefined {
  const reason = text.slice(1);
  return text.startsWith('!') && reasons.includes(reason) ? (reason as Refusal) : undefined;
}
