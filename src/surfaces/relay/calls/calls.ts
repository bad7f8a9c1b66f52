/**
 * Makes calls to the application. A call is stored, delivered until it is answered, and given up
 * when no application is connected.
 */
import type { JsonObject, ToolContext } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import type { Hub } from '../hub.ts';
import type { CallAnswer, CallDocument, CallProgress } from '../ports/documents.ts';
import type { RelaySettings } from '../settings.ts';
import { applyAndWake, messageOf, reportWake } from './apply-and-wake.ts';
import {
  deliverCall,
  type Offer,
  type Recipient,
  type Taken,
  takeOffered,
} from './call-delivery.ts';
import {
  endedCall,
  type FoundCall,
  findCall,
  maxTries,
  withoutArgs,
  writeCall,
} from './call-documents.ts';
import { type CallParts, endCall, newCallState } from './call-parts.ts';
import { runCall } from './call-run.ts';
import { busy } from './session-document.ts';
import { checkUse, countedFirst, createUsage, type Use } from './usage.ts';

/** The calls of all sessions on this node. */
export interface Calls {
  /**
   * Has the application run one call. This is the body of a relayed tool's executor.
   * @param idempotent whether the application allows the tool to run twice
   */
  run(code: string, input: JsonObject, context: ToolContext, idempotent: boolean): Promise<unknown>;
  /**
   * Takes an answer. The first one wins; later ones have no effect. False for a call that the
   * session does not have.
   * @param use counted first, in the same step. If it is refused, the promise rejects with its
   * refusal
   */
  answer(code: string, id: string, answer: CallAnswer, use?: Use): Promise<boolean>;
  /**
   * Passes the progress of a call on to the node that runs it. It has no effect once the call has
   * ended. False for a call that the session does not have.
   */
  progress(code: string, id: string, progress: CallProgress): Promise<boolean>;
  /**
   * Delivers a call to a connection.
   * @returns the data of its `tool-request`; undefined if the call is not for this connection
   */
  deliver(
    code: string,
    id: string,
    attempt: number,
    to: Recipient,
  ): Promise<JsonObject | undefined>;
  /** See {@link takeOffered}. */
  take(
    code: string,
    offers: readonly Offer[],
    to: Omit<Recipient, 'isNew'>,
    after: number,
  ): Promise<Taken | undefined>;
  /**
   * How many times each tool of the application was called. Calls of the last few seconds may be
   * missing.
   */
  usage(code: string): Promise<ReadonlyMap<string, number>>;
  /** Stores the counts of {@link usage} that this node has not stored yet. Never rejects. */
  storeUsage(): Promise<void>;
  /**
   * Keeps a call open after its answer, until {@link end}. Its result is not stored yet, and
   * another node may have to do that.
   */
  keep(code: string, id: string): void;
  /**
   * Makes the operation that ends a kept call that was answered. The step that stores the result
   * carries it out. Undefined if {@link end} must end the call.
   */
  ending(code: string, id: string): Store.Operation | undefined;
  /** Undoes {@link keep}. */
  giveUp(code: string, id: string): void;
  /**
   * Ends a call whose result is kept elsewhere, or not at all.
   * @param reason the reason that the application gets if it has not answered
   */
  end(code: string, id: string, reason: string): Promise<void>;
  /** Marks this node as one that disconnects its applications and waits for their answers. */
  drain(): void;
  /** Marks this node as ending. Its open calls are left to other nodes. */
  leave(): void;
}

/** Makes the calls of a node. */
export function createCalls(settings: RelaySettings, hub: Hub): Calls {
  const usage = createUsage(settings.store);
  const state = newCallState();
  const parts: CallParts = { settings, hub, usage, state };
  const { store } = settings;
  return {
    run: (code, input, context, idempotent) => runCall(parts, code, input, context, idempotent),
    answer: (code, id, answer, use) => answerCall(parts, code, id, answer, use),
    async progress(code, id, progress) {
      const found = await findCall(store, code, id);
      if (found?.document.state === 'open') hub.wake(code, reportWake(id, progress));
      return found !== undefined;
    },
    async deliver(code, id, attempt, to) {
      const delivery = await deliverCall(parts, code, id, attempt, to);
      if ('data' in delivery) return delivery.data;
      if (delivery.lost) hub.wake(code, `call:${id}`);
      return undefined;
    },
    take: (code, offers, to, after) => takeOffered(parts, code, offers, to, after),
    usage: usage.read,
    storeUsage: usage.flush,
    keep: (code, id) => void state.kept.add(`${code} ${id}`),
    ending(code, id) {
      const answered = state.answered.get(`${code} ${id}`);
      return answered && writeCall(id, { ...answered, document: endedCall(answered.document) });
    },
    giveUp(code, id) {
      state.kept.delete(`${code} ${id}`);
      state.answered.delete(`${code} ${id}`);
    },
    end: (code, id, reason) => endCall(parts, code, id, reason),
    drain() {
      state.draining = true;
    },
    leave() {
      state.leaving = true;
    },
  };
}

// Takes an application's answer to a call. The first one wins.

/**
 * Stores an answer and wakes the call's caller. Later answers have no effect.
 * @param use counted first, in the same step
 * @returns false for a call that the session does not have
 * @throws RelayError 503 `busy`
 */
async function answerCall(
  parts: CallParts,
  code: string,
  id: string,
  answer: CallAnswer,
  use?: Use,
): Promise<boolean> {
  const { settings, state } = parts;
  const key = `${code} ${id}`;
  // If the call was delivered from this node, its stored state is known and need not be read. If it
  // has changed since then, the write is refused, and the call is read after all.
  let found: FoundCall | undefined = state.delivered.get(key);
  state.delivered.delete(key);
  for (let tries = 0; tries < maxTries; tries++) {
    found ??= await findCall(settings.store, code, id);
    if (found?.document.state !== 'open') {
      await countAlone(parts, code, use);
      return found !== undefined;
    }
    const document = answered(found.document, answer);
    const op = writeCall(id, { document, version: found.version });
    const ops = [...countedFirst(use), op];
    const applied = await applyAndWake(parts, code, ops, [
      messageOf(settings, `call:${id}`, () => op.value, ops.length - 1),
    ]);
    if (applied.results !== undefined) return true;
    checkUse(use, applied);
    found = undefined;
  }
  throw busy();
}

async function countAlone(
  { settings: { store } }: CallParts,
  code: string,
  use: Use | undefined,
): Promise<void> {
  if (use === undefined) return;
  const applied = await store.apply({ session: code }, [use.op]);
  if (applied.results === undefined) checkUse(use, applied);
}

function answered(document: CallDocument, answer: CallAnswer): CallDocument {
  return { ...withoutArgs(document), state: 'answered', answer };
}
