/**
 * Delivers a call to the connection that has the application's lease. A call that must not run
 * twice is never delivered to a second application.
 */
import type { JsonObject } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { type CallDocument, keys, logKeep, type Wake } from '../ports/documents.ts';
import { type Carried, carriedBy } from './apply-and-wake.ts';
import { changeCall, type FoundCall, withoutArgs, writeCall } from './call-documents.ts';
import type { CallParts } from './call-parts.ts';

/**
 * A call counts as new for this many milliseconds after it was read. A store that takes longer was
 * unavailable, and the caller may have given up in the meantime.
 */
export const momentMs = 500;

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

/** The data of the call for a connection. Without data, whether the call is lost. */
export type Delivery = { readonly data: JsonObject } | { readonly lost: boolean };

/** Claims the `attempt`th delivery of a call for a connection. */
export async function deliverCall(
  parts: CallParts,
  code: string,
  id: string,
  attempt: number,
  to: Recipient,
): Promise<Delivery> {
  const { store, now } = parts.settings;
  let delivery: Delivery = { lost: false };
  let version = 0;
  const document = await changeCall(
    store,
    code,
    id,
    (document) => {
      delivery = { lost: false };
      if (!isWanted(document, attempt, to, now)) return undefined;
      if (mustNotRunAgain(document, to)) {
        delivery = { lost: true };
        return { ...document, state: 'lost' };
      }
      const next = delivered(document, to);
      delivery = { data: dataOf(id, next) };
      return next;
    },
    async (op) => {
      version = (await store.apply({ session: code }, [op])).results?.[0] ?? 0;
      return version > 0;
    },
  );
  const given: Delivery = delivery as Delivery;
  if (document === undefined || !('data' in given)) return given;
  remember(parts, code, id, { document, version });
  // The call may have become too late while the store stored the claim.
  return isTooLate(document.deadline, to, now) ? { lost: false } : given;
}

/**
 * A new call that a message carried, and when the message came, on the clock of
 * `performance.now()`.
 */
export interface Offer extends Carried<CallDocument & { readonly id: string }> {
  readonly at: number;
}

/** Reads the new call from a message to the application's connections; undefined if it has none. */
export function offerIn(wake: Wake | undefined): Offer | undefined {
  const carried = carriedBy<CallDocument & { readonly id: string }>(wake, 'log:application');
  return carried && { ...carried, at: performance.now() };
}

/** The result of {@link takeOffered}. */
export interface Taken {
  readonly page: Store.Page;
  /**
   * The calls that are now delivered to the connection: the data of a `tool-request`, by the call's
   * id.
   */
  readonly claimed: ReadonlyMap<string, JsonObject>;
}

/**
 * Renews the connection's lease, reads the log and claims the first delivery of new calls, in one
 * step. Resolves to undefined if the connection no longer has the lease, or if one of the calls has
 * changed. Each call must then be delivered by itself.
 * @param after the entry after which to read
 */
export async function takeOffered(
  parts: CallParts,
  code: string,
  offers: readonly Offer[],
  to: Omit<Recipient, 'isNew'>,
  after: number,
): Promise<Taken | undefined> {
  const { store, leaseMs, now } = parts.settings;
  const isTimely = ({ at, document }: Offer): boolean =>
    performance.now() - at <= momentMs || document.deadline > now();
  const claims = offers.filter(isTimely).map((offer) => {
    const { id, ...document } = offer.document;
    return { offer, id, found: { document: delivered(document, to), version: offer.version } };
  });
  const ops: readonly Store.Operation[] = [
    { op: 'read', log: 'application', after, limit: logKeep },
    { op: 'touch', key: keys.applicationLease, version: to.epoch, ttlMs: leaseMs },
    ...claims.map(({ id, found }) => writeCall(id, found)),
  ];
  const { results } = await store.apply({ session: code }, ops);
  if (results === undefined) return undefined;
  const claimed = new Map<string, JsonObject>();
  for (const [index, { offer, id, found }] of claims.entries()) {
    remember(parts, code, id, { ...found, version: results[index + 2] as number });
    // The call may have become too late while the store stored the claim.
    if (isTimely(offer)) claimed.set(id, dataOf(id, found.document));
  }
  return { page: results[0] as Store.Page, claimed };
}

/** The most calls whose stored state a node remembers. */
const maxRemembered = 10_000;

/**
 * Remembers the stored state of a call, so that its answer can be written without reading the call
 * again.
 */
function remember(
  { state: { delivered } }: CallParts,
  code: string,
  id: string,
  { document, version }: FoundCall,
): void {
  delivered.set(`${code} ${id}`, { document: withoutArgs(document), version });
  if (delivered.size <= maxRemembered) return;
  const [oldest] = delivered.keys();
  delivered.delete(oldest as string);
}

function delivered(
  document: CallDocument,
  { epoch, client }: Pick<Recipient, 'epoch' | 'client'>,
): CallDocument {
  const { client: _former, ...rest } = document;
  const next = client === undefined ? rest : { ...rest, client };
  return { ...next, attempt: document.attempt + 1, epoch };
}

/** Makes the data of the event `tool-request`. */
function dataOf(id: string, { tool, args = {}, deadline, attempt }: CallDocument): JsonObject {
  return { requestId: id, tool, args, deadline, attempt };
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

function isTooLate(deadline: number, to: Pick<Recipient, 'isNew'>, now: () => number): boolean {
  return !to.isNew() && deadline <= now();
}

/**
 * True when another running application has received the call and may have started it. An
 * application without a name gets every call. It must recognize the calls that it has already run
 * by their ids.
 */
function mustNotRunAgain({ attempt, client, idempotent }: CallDocument, to: Recipient): boolean {
  return attempt > 0 && client !== undefined && client !== to.client && !idempotent;
}
