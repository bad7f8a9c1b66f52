/** The parts of a node and the requests that its routes work with. */

import type { Sender } from '../../mcp/server/authorization.ts';
import type { Calls } from '../calls/calls.ts';
import type { LiveSessions } from '../calls/live-sessions.ts';
import type { Requests } from '../calls/requests.ts';
import type { Counters } from '../counters.ts';
import type { EventStreams, StreamRequest } from '../events/ports.ts';
import type { Hub } from '../hub.ts';
import type { SessionDocument, Side } from '../ports/documents.ts';
import type { OriginSettings } from '../read-options.ts';
import type { Report } from '../report.ts';
import type { RelaySettings } from '../settings.ts';
import type { BodyBounds } from './bodies.ts';
import type { RateLimits, RefusalPace } from './rate-limits.ts';
import type { Answered } from './responses.ts';
import type { OpenRouteName, RouteParams, SessionRouteName } from './route-table.ts';

/** The parts of one node. */
export interface NodeParts {
  readonly settings: RelaySettings;
  readonly origins: OriginSettings;
  readonly hub: Pick<Hub, 'wake'>;
  readonly live: Pick<
    LiveSessions,
    'get' | 'describe' | 'epoch' | 'listed' | 'close' | 'count' | 'taken' | 'registry'
  >;
  readonly requests: Pick<Requests, 'submit' | 'status' | 'cancel' | 'decide'>;
  readonly calls: Pick<Calls, 'answer' | 'progress' | 'usage'>;
  readonly streams: EventStreams;
  /** Answer a request over HTTP with a stream. */
  readonly respond: {
    sse(streams: EventStreams, request: StreamRequest): Promise<Response>;
    poll(
      streams: EventStreams,
      request: StreamRequest,
      waitMs: number,
      signal: AbortSignal,
    ): Promise<Response>;
  };
  readonly limits: RateLimits;
  /** Its clients are sides of sessions, with the names that {@link clientOf} gives them. */
  readonly pace: RefusalPace;
  readonly counters: Counters;
  readonly report: Report;
  /** Aborts when the node begins to shut down. */
  readonly draining: AbortSignal;
  /** Aborts when the node has closed. */
  readonly closed: AbortSignal;
}

/** A request whose route is known. */
export interface Exchange {
  readonly request: Request;
  readonly params: RouteParams;
  /** Identifies the client for per-address limits; undefined if it is unknown. */
  address(): Promise<string | undefined>;
  readonly bounds: BodyBounds;
}

/** An authorized request to a session. */
export interface SessionExchange extends Exchange {
  readonly document: SessionDocument;
  readonly side: Side | 'host';
  /** Whose access token it has, if it has none of the relay. */
  readonly sender?: Sender | undefined;
}

/** The name of a side of a session in {@link NodeParts.pace}; undefined for the host and others. */
export function clientOf(exchange: Exchange | SessionExchange): string | undefined {
  return 'document' in exchange && exchange.side !== 'host'
    ? clientNamed(exchange.document.code, exchange.side)
    : undefined;
}

/** Makes the same name from its parts. */
export function clientNamed(code: string, side: Side): string {
  return `${code} ${side}`;
}

/** The handlers of routes without a session token. */
export type OpenHandlers = Readonly<
  Record<OpenRouteName, (exchange: Exchange) => Promise<Answered>>
>;
/** The handlers of routes of a session. */
export type SessionHandlers = Readonly<
  Record<SessionRouteName, (exchange: SessionExchange) => Promise<Answered>>
>;
