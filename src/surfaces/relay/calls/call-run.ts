/** Has the application run one call. This is the body of a relayed tool's executor. */
import { fail, type JsonObject, type JsonValue, type ToolContext } from '../../../core.ts';
import { type RunningCall, runningCall } from '../../../extend.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { connectionFault, isFault } from '../../shared/executor-fault.ts';
import { cleanText } from '../../shared/outside-text.ts';
import type { WakeListener } from '../hub.ts';
import { type CallAnswer, type CallDocument, keys, type LogRecord } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import { applyAndWake, carriedBy, messageOf, passOnReport } from './apply-and-wake.ts';
import { endedCall, type FoundCall, writeCall } from './call-documents.ts';
import {
  type CallParts,
  endCall,
  forgetDropped,
  logEntry,
  notifyApplication,
} from './call-parts.ts';
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
  const { hub, state } = parts;
  const { store, now, leaseMs, requestTimeoutMs } = parts.settings;
  const { idempotencyKey: id, toolName: tool } = context;
  const stop = runningCall(context);
  const { deadline = now() + requestTimeoutMs } = context;
  const key = `${code} ${id}`;
  let wait: BegunWait | undefined;
  let unwatch: (() => void) | undefined;
  let answered: FoundCall | undefined;
  let begun = false;
  /** Does what the last wake-up asked for. It is repeated if it came before the wait had begun. */
  let heed: (() => void) | undefined;
  try {
    const onWake: WakeListener = (wake) => {
      const carried = carriedBy<CallDocument>(wake, `call:${id}`);
      if (carried !== undefined) heed = () => wait?.take(carried);
      else if (wake === undefined || wake === 'closed' || wake === `call:${id}`)
        heed = () => wait?.look();
      else return stop.within(() => passOnReport(wake, id, context));
      heed();
    };
    unwatch = await hub.watch(code, onWake, id);
    begun = true;
    const document = newDocument(tool, input, deadline, idempotent);
    const isNew = await send(parts, code, id, document, stop);
    wait = waitForAnswer({
      code,
      id,
      store,
      leaseMs,
      stop,
      sentAway: () => state.draining,
      again: (attempt) => announce(parts, code, { kind: 'call', id, attempt }, stop),
    });
    // The answer may have arrived before the wait began.
    if (!isNew) wait.look();
    else heed?.();
    answered = await wait.answer;
    if (state.kept.has(key)) state.answered.set(key, answered);
    return outcomeOf(answered.document.answer as CallAnswer);
  } catch (error) {
    if (isFault(error)) throw error;
    throw Object.assign(connectionFault('The relay cannot reach its store.', error), {
      reason: 'store_unavailable',
    });
  } finally {
    unwatch?.();
    if (begun && !state.kept.has(key) && (answered !== undefined || !state.leaving))
      end(parts, code, id, answered, reasonOf(stop)).catch((error: unknown) =>
        parts.settings.logger.warn({ err: faultOf(error) }, 'relay: a call could not be closed'),
      );
  }
}

/** Ends a call. An answered call need not be read again. */
async function end(
  parts: CallParts,
  code: string,
  id: string,
  answered: FoundCall | undefined,
  reason: string,
): Promise<void> {
  if (answered !== undefined) {
    const { document, version } = answered;
    const op = writeCall(id, { document: endedCall(document), version });
    if ((await parts.settings.store.apply({ session: code }, [op])).results !== undefined) return;
  }
  await endCall(parts, code, id, reason);
}

/**
 * Stores a call and adds it to the application's log, in one step. If the call ends while the store
 * works on that, it is marked as ended at once, whether it is stored or not, so that it is not
 * delivered late. If this node is leaving, another node continues the call.
 * @returns false for a call that is already stored, because a node that has died has started it
 */
async function send(
  parts: CallParts,
  code: string,
  id: string,
  document: CallDocument,
  stop: RunningCall,
): Promise<boolean> {
  const { settings, state, usage } = parts;
  if (stop.stopped && !state.leaving) return true;
  const withdraw = async (): Promise<void> => {
    const op = writeCall(id, { document: endedCall(document), version: 0 });
    if ((await settings.store.apply({ session: code }, [op])).results !== undefined) return;
    await endCall(parts, code, id, reasonOf(stop), isUndelivered(1));
  };
  const applied = await unlessStopped(parts, stop, withdraw, () =>
    applyAndWake(
      parts,
      code,
      [
        { op: 'set', key: keys.call(id), value: JSON.stringify(document), version: 0 },
        logEntry({ kind: 'call', id, attempt: 1 }),
      ],
      [messageOf(settings, 'log:application', () => JSON.stringify({ id, ...document }), 0)],
    ),
  );
  if (applied.results === undefined) return false;
  usage.count(code, document.tool);
  forgetDropped(parts, code, applied.results[1].dropped);
  return true;
}

/** Adds another entry of a call to the application's log, as {@link send} does. */
async function announce(
  parts: CallParts,
  code: string,
  entry: Extract<LogRecord, { kind: 'call' }>,
  stop: RunningCall,
): Promise<void> {
  const { id, attempt } = entry;
  await unlessStopped(
    parts,
    stop,
    () => endCall(parts, code, id, reasonOf(stop), isUndelivered(attempt)),
    () => notifyApplication(parts, code, entry),
  );
}

/**
 * Does some work of the store. If the call ends in the meantime, `late` runs, unless this node is
 * leaving.
 */
async function unlessStopped<T>(
  { state }: CallParts,
  stop: RunningCall,
  late: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const onStop = (): void => {
    // If the store fails here, the call is ended again when its result is stored.
    if (!state.leaving) late().catch(() => {});
  };
  stop.watch(onStop);
  try {
    return await work();
  } finally {
    stop.unwatch(onStop);
  }
}

/**
 * Makes a check for an open call that was delivered fewer than `attempt` times. A call that was
 * delivered or even answered is left to the node that stores its result.
 */
function isUndelivered(attempt: number): (document: CallDocument) => boolean {
  return (document) => document.state === 'open' && document.attempt < attempt;
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

function reasonOf(stop: RunningCall): string {
  return stop.stopped ? (isTimeout(stop.reason) ? 'timeout' : 'cancelled') : 'executor_lost';
}

function isTimeout(reason: unknown): boolean {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    (reason as { name?: unknown }).name === 'TimeoutError'
  );
}

// Converts an application's answer to the value of a handler.

/** The most bytes of an application's message. */
const maxMessageBytes = 8_000;

/** Returns the result, or a failure. The application's own message is never hidden. */
function outcomeOf(answer: CallAnswer): unknown {
  if ('result' in answer) return answer.result;
  const { error } = answer;
  if (!isJsonObject(error)) return fail(textOf(error));
  const { message, reason, details, retryable } = error;
  return fail({
    message: textOf(message),
    ...(typeof reason === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(reason) ? { reason } : {}),
    ...(details === undefined ? {} : { details: details as JsonObject }),
    ...(retryable === true ? { retryable } : {}),
  });
}

function textOf(value: JsonValue | undefined): string {
  const text =
    typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? ''
        : JSON.stringify(value);
  return (
    cleanText(text, maxMessageBytes) || 'The application reported a failure without a message.'
  );
}
