/**
 * Calls on their way to the application: written down, delivered until they are answered, given up
 * when nobody is there to answer.
 */
import { fail, type JsonObject, type JsonValue, type ToolContext } from '../../index.ts';
import { isJsonObject } from '../../json.ts';
import { connectionFault, isFault } from '../../surfaces/shared/executor-fault.ts';
import { cleanText } from '../../surfaces/shared/outside-text.ts';
import type { Hub } from '../hub.ts';
import { type CallAnswer, type LogRecord, logKeep } from '../ports/documents.ts';
import { faultOf } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import { deliverCall, type Recipient } from './call-delivery.ts';
import { createCallDocuments } from './call-documents.ts';
import { type BegunWait, waitForAnswer } from './call-wait.ts';

/** The calls of all sessions on this node. */
export interface Calls {
  /**
   * Runs one call at the application: the body of a relayed tool's executor. @param idempotent the
   * application says that the tool may run twice
   */
  run(code: string, input: JsonObject, context: ToolContext, idempotent: boolean): Promise<unknown>;
  /**
   * Takes an answer; the first wins, and later ones change nothing. False when this session has no
   * such call.
   */
  answer(code: string, id: string, answer: CallAnswer): Promise<boolean>;
  /**
   * Delivers a call to a connection: the data of its `tool-request`; undefined where there is
   * nothing to deliver to it.
   */
  deliver(
    code: string,
    id: string,
    attempt: number,
    to: Recipient,
  ): Promise<JsonObject | undefined>;
  /**
   * What was written down of a call: when it is to have an answer, whether an application was given
   * it, and whether it has one.
   */
  find(
    code: string,
    id: string,
  ): Promise<
    | { readonly deadline: number; readonly delivered: boolean; readonly answered: boolean }
    | undefined
  >;
  /**
   * The call is not over before {@link end}: its result is still to be written down, and that may
   * be another node's to do.
   */
  keep(code: string, id: string): void;
  /** It is no longer kept. */
  letGo(code: string, id: string): void;
  /**
   * The call is over, and its result is kept elsewhere if at all. @param reason what the
   * application is told where it has not answered
   */
  end(code: string, id: string, reason: string): Promise<void>;
  /** This node sends its applications away, and waits for their answers. */
  drain(): void;
  /** This node ends: calls that end with it are left to others. */
  leave(): void;
}

/** Makes the calls of a node. */
export function createCalls(
  { store, now, leaseMs, requestTimeoutMs, logger }: RelaySettings,
  hub: Hub,
): Calls {
  const documents = createCallDocuments(store);
  const kept = new Set<string>();
  let draining = false;
  let leaving = false;

  const tell = async (code: string, record: LogRecord): Promise<void> => {
    const added = await store.append(code, 'application', JSON.stringify(record), logKeep);
    if (added === undefined) throw connectionFault('The relay session is over.');
    hub.wake(code, 'log:application');
    for (const value of added.dropped) {
      const dropped = JSON.parse(value) as LogRecord;
      if (dropped.kind === 'call') await documents.forget(code, dropped.id);
    }
  };
  const end: Calls['end'] = async (code, id, reason) => {
    if (await documents.end(code, id)) await tell(code, { kind: 'cancel', id, reason });
  };

  return {
    async run(code, input, context, idempotent) {
      const {
        idempotencyKey: id,
        signal,
        toolName: tool,
        deadline = now() + requestTimeoutMs,
      } = context;
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
        const isNew = await documents.create(code, id, {
          tool,
          args: input,
          deadline: Math.floor(deadline),
          idempotent,
          attempt: 0,
          epoch: 0,
          state: 'open',
        });
        // One that is there already was begun by a node that is gone.
        // The store may have taken longer than the call has time: then no application may get it.
        // A call that this node leaves goes on elsewhere.
        if (isNew && (leaving || !signal.aborted))
          await tell(code, { kind: 'call', id, attempt: 1 });
        wait = waitForAnswer({
          code,
          id,
          documents,
          store,
          leaseMs,
          signal,
          sentAway: () => draining,
          again: (attempt) => tell(code, { kind: 'call', id, attempt }),
        });
        // The answer may have come before there was anybody to look.
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
        if (begun && !kept.has(`${code} ${id}`) && (answered || !leaving))
          end(code, id, reasonOf(signal)).catch((error: unknown) =>
            logger.warn({ err: faultOf(error) }, 'relay: a call could not be closed'),
          );
      }
    },
    async answer(code, id, answer) {
      const document = await documents.change(code, id, ({ args: _args, ...rest }) =>
        rest.state === 'open' ? { ...rest, state: 'answered', answer } : undefined,
      );
      if (document?.state === 'answered') hub.wake(code, `call:${id}`);
      return document !== undefined;
    },
    async deliver(code, id, attempt, to) {
      const delivery = await deliverCall(documents, code, id, attempt, to, now);
      if ('data' in delivery) return delivery.data;
      if (delivery.lost) hub.wake(code, `call:${id}`);
      return undefined;
    },
    async find(code, id) {
      const document = await documents.read(code, id);
      return (
        document && {
          deadline: document.deadline,
          delivered: document.attempt > 0,
          answered: document.answer !== undefined,
        }
      );
    },
    keep: (code, id) => void kept.add(`${code} ${id}`),
    letGo: (code, id) => void kept.delete(`${code} ${id}`),
    end,
    drain: () => {
      draining = true;
    },
    leave: () => {
      leaving = true;
    },
  };
}

/** Most bytes of an application's message. */
const maxMessageBytes = 8_000;

/**
 * What the application answered, as a handler's value. Its message is its own, and never hidden.
 */
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
    cleanText(text, maxMessageBytes) || 'The application says that the tool failed, and not why.'
  );
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
