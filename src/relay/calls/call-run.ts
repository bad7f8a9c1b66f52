/** Runs one call at the application. This is the body of a relayed tool's executor. */
import type { JsonObject, ToolContext } from '../../index.ts';
import { connectionFault, isFault } from '../../surfaces/shared/executor-fault.ts';
import type { CallDocument, LogRecord } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { outcomeOf } from './call-outcome.ts';
import { type CallParts, endCall, tellApplication } from './call-parts.ts';
import { type BegunWait, waitForAnswer } from './call-wait.ts';
import { passOnReport } from './progress-wakes.ts';

/**
 * Stores the call, has it delivered and waits for the answer. Rejects with a fault that the run
 * stage knows.
 */
export async function runCall(
  parts: CallParts,
  code: string,
  input: JsonObject,
  context: ToolContext,
  idempotent: boolean,
): Promise<unknown> {
  const { hub, documents, state } = parts;
  const { store, now, leaseMs, requestTimeoutMs } = parts.settings;
  const { idempotencyKey: id, signal, toolName: tool } = context;
  const { deadline = now() + requestTimeoutMs } = context;
  let wait: BegunWait | undefined;
  let stop: (() => void) | undefined;
  let answered = false;
  let begun = false;
  let woken = false;
  try {
    stop = await hub.watch(code, (wake) => {
      if (wake !== undefined && wake !== `call:${id}` && wake !== 'closed')
        return passOnReport(wake, id, context);
      woken = true;
      wait?.look();
    });
    begun = true;
    const isNew = await documents.create(code, id, newDocument(tool, input, deadline, idempotent));
    if (isNew) parts.usage.count(code, tool);
    // A call that is already stored was started by a node that has died. If storing it took longer
    // than the call may take, it must not be delivered any more. If this node is leaving, another
    // node continues the call, so it is delivered.
    if (isNew && (state.leaving || !signal.aborted))
      await announce(parts, code, { kind: 'call', id, attempt: 1 }, signal);
    wait = waitForAnswer({
      code,
      id,
      documents,
      store,
      leaseMs,
      signal,
      sentAway: () => state.draining,
      again: (attempt) => announce(parts, code, { kind: 'call', id, attempt }, signal),
    });
    // The answer may have arrived before the wait began.
    if (!isNew || woken) wait.look();
    const answer = await wait.answer;
    answered = true;
    return outcomeOf(answer);
  } catch (error) {
    if (isFault(error)) throw error;
    throw Object.assign(connectionFault('The relay cannot reach its store.', error), {
      reason: 'store_unavailable',
    });
  } finally {
    stop?.();
    if (begun && !state.kept.has(`${code} ${id}`) && (answered || !state.leaving))
      endCall(parts, code, id, reasonOf(signal)).catch((error: unknown) =>
        parts.settings.logger.warn({ err: faultOf(error) }, 'relay: a call could not be closed'),
      );
  }
}

/**
 * Adds the entry of a call to the application's log. The store may take longer for that than the
 * call may take. The call is then ended at once, even if its result is not stored yet, so that the
 * late entry is not delivered.
 */
async function announce(
  parts: CallParts,
  code: string,
  entry: Extract<LogRecord, { kind: 'call' }>,
  signal: AbortSignal,
): Promise<void> {
  const { id, attempt } = entry;
  // A call that was delivered, or even answered, is left to the node that stores its result.
  const isUndelivered = (document: CallDocument): boolean =>
    document.state === 'open' && document.attempt < attempt;
  const onAbort = (): void => {
    if (parts.state.leaving) return;
    // If the store fails here, the call is ended again when its result is stored.
    endCall(parts, code, id, reasonOf(signal), isUndelivered).catch(() => {});
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await tellApplication(parts, code, entry);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function newDocument(
  tool: string,
  args: JsonObject,
  deadline: number,
  idempotent: boolean,
): CallDocument {
  return {
    tool,
    args,
    deadline: Math.floor(deadline),
    idempotent,
    attempt: 0,
    epoch: 0,
    state: 'open',
  };
}

function reasonOf({ aborted, reason }: AbortSignal): string {
  return aborted && isTimeout(reason) ? 'timeout' : aborted ? 'cancelled' : 'executor_lost';
}

function isTimeout(reason: unknown): boolean {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    (reason as { name?: unknown }).name === 'TimeoutError'
  );
}
