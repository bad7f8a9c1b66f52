/** Runs one call at the application. This is the body of a relayed tool's executor. */
import type { JsonObject, ToolContext } from '../../index.ts';
import { connectionFault, isFault } from '../../surfaces/shared/executor-fault.ts';
import type { CallDocument } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { outcomeOf } from './call-outcome.ts';
import { type CallParts, endCall, tellApplication } from './call-parts.ts';
import { type BegunWait, waitForAnswer } from './call-wait.ts';

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
      if (wake !== undefined && wake !== `call:${id}` && wake !== 'closed') return;
      woken = true;
      wait?.look();
    });
    begun = true;
    const isNew = await documents.create(code, id, newDocument(tool, input, deadline, idempotent));
    // A call that is already stored was started by a node that has died. If storing it took longer
    // than the call may take, it must not be delivered any more. If this node is leaving, another
    // node continues the call, so it is delivered.
    if (isNew && (state.leaving || !signal.aborted))
      await tellApplication(parts, code, { kind: 'call', id, attempt: 1 });
    wait = waitForAnswer({
      code,
      id,
      documents,
      store,
      leaseMs,
      signal,
      sentAway: () => state.draining,
      again: (attempt) => tellApplication(parts, code, { kind: 'call', id, attempt }),
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
