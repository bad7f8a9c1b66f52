/** Creates tickets. A ticket replaces a token once, for clients that cannot send headers. */

import { busy } from '../calls/session-document.ts';
import { keys, type Side } from '../ports/documents.ts';
import { sessionNotFound } from '../relay-error.ts';
import { hashOf, newToken } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';
import type { TicketDocument } from './access.ts';

/** Milliseconds for which a ticket is valid. */
const ticketMs = 30_000;
/** Milliseconds that an expired ticket is kept, because the clocks of nodes may differ. */
const keptMs = 60_000;
/** Most expired tickets that are removed in one step. A store accepts 100 operations. */
const mostRemoved = 90;
const mostTries = 20;

/** `tickets`: the hashes of the tickets in the store, and when they expire, oldest first. */
type Index = readonly (readonly [hash: string, expiresAt: number])[];

/** A new ticket. */
export interface CreatedTicket {
  readonly ticket: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/**
 * Creates a ticket for a side of a session. It also removes tickets that have expired unused, so
 * that a client cannot fill the store with tickets.
 * @throws RelayError 404 `session_not_found`, 503 `busy`
 */
export async function createTicket(
  { store, now }: Pick<RelaySettings, 'store' | 'now'>,
  code: string,
  side: Side,
): Promise<CreatedTicket> {
  const ticket = newToken();
  const hash = hashOf(ticket);
  for (let tries = 0; tries < mostTries; tries++) {
    const [stored] = await store.get(code, [keys.tickets]);
    const index = stored === undefined ? [] : (JSON.parse(stored.value) as Index);
    const at = Math.floor(now());
    const expiresAt = at + ticketMs;
    const value: TicketDocument = { side, expiresAt };
    const expired = index.filter((one) => one[1] + keptMs <= at).slice(0, mostRemoved);
    const next: Index = [...index.filter((one) => !expired.includes(one)), [hash, expiresAt]];
    const applied = await store.apply(code, [
      { op: 'set', key: keys.ticket(hash), value: JSON.stringify(value), version: 0 },
      {
        op: 'set',
        key: keys.tickets,
        value: JSON.stringify(next),
        version: stored?.version ?? 0,
      },
      ...expired.map(([old]) => ({ op: 'delete', key: keys.ticket(old) }) as const),
    ]);
    if (applied.results !== undefined) return { ticket, expiresAt };
    if (applied.gone) throw sessionNotFound();
  }
  throw busy();
}
