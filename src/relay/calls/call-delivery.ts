/**
 * Delivers a call to the connection that has the application's lease. A call that must not run
 * twice is never delivered to a second application.
 */
import type { JsonObject } from '../../index.ts';
import type { CallDocument } from '../ports/documents.ts';
import type { CallDocuments } from './call-documents.ts';

/** The connection that asks for calls. */
export interface Recipient {
  /**
   * The epoch of its lease. A call that a newer connection has received is not delivered to an
   * older one.
   */
  readonly epoch: number;
  /** Identifies the running application; undefined if the connection names none. */
  readonly client: string | undefined;
  /**
   * Whether the call was made a moment ago, while the connection listened. The caller of such a
   * call still waits and ends it with a monotonic timer. Any other call may have lost its caller,
   * so it is delivered only before its deadline by the clock. If a clock has jumped, a caller that
   * still waits asks again within a lease. This is called after the store has answered, which may
   * take a while.
   */
  isNew(): boolean;
}

/** A call for a connection, or whether the call is lost. */
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
  // The store may have taken longer to store the claim than the call may take.
  const given: Delivery = delivery as Delivery;
  return 'data' in given && isTooLate(Number(given.data.deadline), to, now)
    ? { lost: false }
    : given;
}

function isWanted(
  { state, deadline, epoch, attempt: delivered }: CallDocument,
  attempt: number,
  to: Recipient,
  now: () => number,
): boolean {
  if (state !== 'open' || epoch > to.epoch || isTooLate(deadline, to, now)) return false;
  return epoch < to.epoch || delivered < attempt;
}

function isTooLate(deadline: number, to: Recipient, now: () => number): boolean {
  return !to.isNew() && deadline <= now();
}

/**
 * True when another running application has received the call and may have started it. An
 * application without a name gets every call, and has to recognize those that it has run by their
 * ids.
 */
function mustNotRunAgain({ attempt, client, idempotent }: CallDocument, to: Recipient): boolean {
  return attempt > 0 && client !== undefined && client !== to.client && !idempotent;
}
