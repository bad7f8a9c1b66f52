/** The routes that create and delete sessions, pair clients and issue tickets. */

import type { Store } from '../../../extend.ts';
import { describe } from '../../../values/errors/index.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import {
  changeSession,
  createSessionDocument,
  keptAfterwardsMs,
} from '../calls/session-document.ts';
import { keys, type SessionDocument, type Side, type Wake } from '../ports/documents.ts';
import { relayError, sessionNotFound } from '../relay-error.ts';
import { hashOf, newToken } from '../secrets.ts';
import type { RelaySettings } from '../settings.ts';
import { findSession, sessionExpired, type TicketDocument } from './access.ts';
import { fieldOf, readObject } from './bodies.ts';
import type { NodeParts, OpenHandlers, SessionHandlers } from './node-parts.ts';
import { answer } from './responses.ts';

/** The longest life of a session that the options allow. */
const maxTtlSeconds = 2_000_000;

/** Makes the handlers of the routes without a token. */
export function openSessionRoutes({
  settings,
  limits,
}: NodeParts): Pick<OpenHandlers, 'create' | 'pair'> {
  const { store, now, ttlMs } = settings;
  return {
    async create({ request, address, bounds }) {
      const body = await readObject(request, bounds);
      if (Object.keys(body).length > 0)
        throw relayError(400, 'invalid_request', 'Expected the body to be `{}`.');
      await limits.session(await address());
      const { document, sessionToken, agentToken } = await createSessionDocument(settings);
      const { code, expiresAt } = document;
      return answer(201, {
        code,
        sessionToken,
        agentToken,
        ttl: ttlMs / 1_000,
        expiresAt: new Date(expiresAt).toISOString(),
      });
    },

    async pair({ request, params: { code = '' }, address, bounds }) {
      if (!settings.pairing) throw relayError(404, 'not_found', 'There is no such route here.');
      const side = fieldOf(await readObject(request, bounds), 'side');
      if (side !== 'application' && side !== 'agent')
        throw relayError(400, 'invalid_request', 'Expected `side` to be "application" or "agent".');
      await limits.pair(await address(), code);
      // Without a token a client must not learn that a session has expired.
      const { expiresAt } = await findSession(store, now(), code).catch((error: unknown) => {
        throw (error as { status?: unknown }).status === 410 ? sessionNotFound() : error;
      });
      const token = newToken();
      const hash = hashOf(token);
      const after = await changeSession(store, code, (document) => {
        if (document.paired.includes(side))
          throw relayError(
            409,
            'already_paired',
            `The ${side} side has already exchanged this code for a token.`,
          );
        const tokens = { ...document.tokens, [side]: [...document.tokens[side].slice(0, 1), hash] };
        return { ...document, tokens, paired: [...document.paired, side] };
      });
      if (after === undefined) throw sessionNotFound();
      return answer(200, { code, side, token, expiresAt: new Date(expiresAt).toISOString() });
    },
  };
}

/** Makes the handlers of the routes with a token. */
export function sessionRoutes({
  settings,
  limits,
  live,
}: NodeParts): Pick<SessionHandlers, 'ticket' | 'extend' | 'delete'> {
  const { store, now } = settings;
  return {
    async ticket({ request, document, side }) {
      await request.body?.cancel().catch(() => {});
      await limits.take('ticket', document.code);
      const { ticket, expiresAt } = await createTicket(settings, document.code, side as Side);
      return answer(200, { ticket, expiresAt: new Date(expiresAt).toISOString() });
    },

    async extend({ request, bounds, document }) {
      const ttlSeconds = readTtl(await readObject(request, bounds));
      const { code, expiresAt } = await extendSession(settings, document, ttlSeconds * 1_000);
      return answer(200, {
        code,
        ttl: Math.max(0, Math.floor((expiresAt - now()) / 1_000)),
        expiresAt: new Date(expiresAt).toISOString(),
      });
    },

    async delete({ document: { code } }) {
      const { results } = await store.apply({ session: code }, [
        { op: 'publish', message: 'closed' satisfies Wake },
        { op: 'drop' },
      ]);
      if (results?.[1] !== true) throw sessionNotFound();
      await live.close(code);
      return new Response(null, { status: 204 });
    },
  };
}

function readTtl({ ttlSeconds, ...rest }: JsonObject): number {
  const [unknown] = Object.keys(rest);
  if (
    unknown === undefined &&
    typeof ttlSeconds === 'number' &&
    ttlSeconds >= 1 &&
    ttlSeconds <= maxTtlSeconds
  )
    return ttlSeconds;
  throw relayError(
    400,
    'invalid_request',
    `Expected the body to be \`{ ttlSeconds }\` with a number from 1 to ${maxTtlSeconds}, got ` +
      `${unknown === undefined ? describe(ttlSeconds) : 'other members'}.`,
  );
}

/**
 * Moves the end of a session to `ttlMs` milliseconds from now, but not beyond the longest life that
 * a session may have. The end never becomes earlier.
 * @returns the document afterwards
 * @throws RelayError 404, 410, 503 `busy`
 */
async function extendSession(
  { store, now, maxTtlMs }: Pick<RelaySettings, 'store' | 'now' | 'maxTtlMs'>,
  document: SessionDocument,
  ttlMs: number,
): Promise<SessionDocument> {
  const { code, createdAt } = document;
  const end = Math.floor(Math.min(now() + ttlMs, createdAt + maxTtlMs));
  if (end <= document.expiresAt) return document;
  // The store is extended first, so that it never drops a session that has not expired.
  const expiresAt = end + keptAfterwardsMs;
  const extended = await store.apply({ session: code }, [{ op: 'extend', expiresAt }]);
  if (extended.results === undefined) throw sessionNotFound();
  const after = await changeSession(store, code, (current) => {
    // The session may have expired while the store was answering.
    if (now() >= current.expiresAt) throw sessionExpired();
    return end > current.expiresAt ? { ...current, expiresAt: end } : undefined;
  });
  if (after === undefined) throw sessionNotFound();
  return after;
}

// Creates tickets. A ticket replaces a token once, for clients that cannot send headers.

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
async function createTicket(
  { store, now }: Pick<RelaySettings, 'store' | 'now'>,
  code: string,
  side: Side,
): Promise<CreatedTicket> {
  const ticket = newToken();
  const hash = hashOf(ticket);
  const expiresAt = Math.floor(now()) + ticketMs;
  const value: TicketDocument = { side, expiresAt };
  const { results } = await store.apply({ session: code }, [
    { op: 'set', key: keys.ticket(hash), value: JSON.stringify(value) },
    { op: 'append', log: keys.ticketLog, value: hash, keep: keptTickets },
  ]);
  if (results === undefined) throw sessionNotFound();
  const { dropped } = results[1];
  if (dropped.length > 0) {
    const ops = dropped.map((old): Store.Operation => ({ op: 'delete', key: keys.ticket(old) }));
    // Tickets that cannot be removed now are removed with the session.
    await store.apply({ session: code }, ops).catch(() => {});
  }
  return { ticket, expiresAt };
}
