/**
 * The one connection behind an import: opened when needed, opened again after a loss, with a
 * growing pause between attempts.
 */
import { connectionFault } from '../../surfaces/shared/executor-fault.ts';
import type { Link } from './open.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Time and chance, for tests. */
export interface ConnectionClock {
  /** Monotonic milliseconds. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

/** A connection that outlives its links. */
export interface Connection {
  /**
   * An open link. Opens one where there is none; rejects with a ConnectionFault at once while the
   * pause after a failure lasts.
   */
  link(): Promise<Link>;
  /** Ends it for good. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** What a connection is made of. */
export interface ConnectionOptions {
  /** Opens a link; `signal` aborts when the connection is closed. */
  readonly open: (signal: AbortSignal) => Promise<Link>;
  /**
   * Looks at what a fresh link offers, before any call runs on it. A rejection gives the link up.
   */
  readonly greet: (client: ConnectedMcpClient) => Promise<void>;
  readonly clock: ConnectionClock;
  /** False for a client that the host made: what is lost stays lost. */
  readonly reopen: boolean;
}

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A link that lived so long counts as good. */
const goodLifeMs = 10_000;

/** Makes a connection; nothing is opened yet. */
export function createConnection({ open, greet, clock, reopen }: ConnectionOptions): Connection {
  let current: Link | undefined;
  let opening: Promise<Link> | undefined;
  let failures = 0;
  let mayOpenAt = Number.NEGATIVE_INFINITY;
  let opened = 0;
  let closed: Promise<void> | undefined;
  const stop = new AbortController();

  const failed = (free: boolean): void => {
    failures++;
    // The first loss after a good life is mended at once; a server that keeps dying is not started
    // over and over.
    const pause = free
      ? 0
      : Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 16)) *
        (0.5 + clock.random() / 2);
    mayOpenAt = clock.now() + pause;
  };
  const lost = (since: number): void => {
    current = undefined;
    const lived = clock.now() - since;
    if (lived >= goodLifeMs) failures = 0;
    failed(failures === 0);
  };
  const start = async (): Promise<Link> => {
    let link: Link;
    try {
      link = await open(stop.signal);
    } catch (error) {
      failed(false);
      throw error;
    }
    const since = clock.now();
    try {
      if (closed !== undefined)
        throw connectionFault('The connection to the MCP server is closed.');
      await greet(link.client);
      if (link.lost || closed !== undefined)
        throw connectionFault('The connection to the MCP server was lost.');
    } catch (error) {
      failed(false);
      await link.close();
      throw error;
    }
    opened++;
    link.onlost = () => {
      if (current === link) lost(since);
    };
    current = link;
    return link;
  };
  return {
    async link() {
      if (closed !== undefined)
        throw connectionFault('The connection to the MCP server is closed.');
      if (current !== undefined && !current.lost) return current;
      if (opening !== undefined) return opening;
      if (!reopen && opened > 0)
        throw connectionFault(
          'The connection to the MCP server was lost; the host has to connect its client again.',
        );
      const wait = mayOpenAt - clock.now();
      if (wait > 0)
        throw connectionFault(
          `The MCP server cannot be reached; it is tried again in ${Math.ceil(wait / 1_000)} s.`,
        );
      opening = start().finally(() => {
        opening = undefined;
      });
      return opening;
    },
    close() {
      stop.abort();
      closed ??= (async () => {
        // An opening that is under way sees that it came too late, and cleans up after itself.
        await opening?.catch(() => {});
        await current?.close();
        current = undefined;
      })();
      return closed;
    },
  };
}
