/** Creates tickets. A ticket replaces a token once, for clients that cannot send headers. */

import { keys, type Side } from '../ports/documents.ts';
import type { StoreOp } from '../ports/store-ops.ts';
import { sessionNotFound } from '../relay-error.ts';
import { hashOf, newToken } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';
import type { TicketDocument } from './access.ts';

/** Milliseconds for which a ticket is valid. */
const ticketMs = 30_000;
/**
 * How many tickets of a session are kept, used and expired ones included. It is more than the limit
 * of two minutes, so a ticket that is removed has expired.
 */
const keptTickets = 128;

/** A new ticket. */
export interface CreatedTicket {
  readonly ticket: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/**
 * Creates a ticket for a side of a session. It also removes the oldest tickets, so that a client
 * cannot fill the store with tickets. A log lists them instead of a document, because writers of a
 * log do not keep each other from writing.
 * @throws RelayError 404 `session_not_found`
 */
export async function createTicket(
  { store, now }: Pick<RelaySettings, 'store' | 'now'>,
  code: string,
  side: Side,
): Promise<CreatedTicket> {
  const ticket = newToken();
  const hash = hashOf(ticket);
  const expiresAt = Math.floor(now()) + ticketMs;
  const value: TicketDocument = { side, expiresAt };
  const { results } = await store.apply(code, [
    { op: 'set', key: keys.ticket(hash), value: JSON.stringify(value) },
    { op: 'append', log: keys.ticketLog, value: hash, keep: keptTickets },
  ]);
  if (results === undefined) throw sessionNotFound();
  const { dropped } = results[1];
  if (dropped.length > 0) {
    const ops = dropped.map((old): StoreOp => ({ op: 'delete', key: keys.ticket(old) }));
    // Tickets that cannot be removed now are removed with the session.
    await store.apply(code, ops).catch(() => {});
  }
  return { ticket, expiresAt };
}
