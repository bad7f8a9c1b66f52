/**
 * Delivering a call: to the connection that has the application's lease, and never to a second
 * application where it must not run twice.
 */
import type { JsonObject } from '../../index.ts';
import type { CallDocument } from '../ports/documents.ts';
import type { CallDocuments } from './call-documents.ts';

/** The connection that asks for calls. */
export interface Recipient {
  /** Of its lease: what a newer connection was given is not for an older one. */
  readonly epoch: number;
  /** Which running application it is; undefined where it does not say. */
  readonly client: string | undefined;
  /**
   * The call was asked for while the connection listened: whoever waits was there a moment ago, and
   * ends the call on a monotonic timer. Else the call may be one that nobody waits for any more,
   * and is delivered only before its deadline by the clock; where a clock has jumped, whoever still
   * waits asks again within a lease. Asked when the store has answered, which may take a while.
   */
  isNew(): boolean;
}

/** A call for a connection, or why there is none. */
export type Delivery = { readonly data: JsonObject } | { readonly lost: boolean };

/** Claims the `attempt`th delivery of a call for a connection. @param now epoch milliseconds */
export async function deliverCall(
  documents: CallDocuments,
  code: string,
  id: string,
  attempt: number,
  to: Recipient,
  now: () => number,
): Promise<Delivery> {
  let delivery: Delivery = { lost: false };
  await documents.change(code, id, (document) => {
    delivery = { lost: false };
    if (!isWanted(document, attempt, to, now)) return undefined;
    if (mustNotRunAgain(document, to)) {
      delivery = { lost: true };
      return { ...document, state: 'lost' };
    }
    const { client: _former, ...rest } = document;
    const next = {
      ...rest,
      attempt: document.attempt + 1,
      epoch: to.epoch,
      ...(to.client === undefined ? {} : { client: to.client }),
    };
    const { tool, args = {}, deadline } = next;
    delivery = { data: { requestId: id, tool, args, deadline, attempt: next.attempt } };
    return next;
  });
  return delivery;
}

function isWanted(
  { state, deadline, epoch, attempt: delivered }: CallDocument,
  attempt: number,
  to: Recipient,
  now: () => number,
): boolean {
  if (state !== 'open' || epoch > to.epoch) return false;
  if (!to.isNew() && deadline <= now()) return false;
  return epoch < to.epoch || delivered < attempt;
}

/**
 * It was given to another running application, which may have begun it. One that does not say who
 * it is takes what comes: it is to look at the id.
 */
function mustNotRunAgain({ attempt, client, idempotent }: CallDocument, to: Recipient): boolean {
  return attempt > 0 && client !== undefined && client !== to.client && !idempotent;
}
