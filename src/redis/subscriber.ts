/**
 * A connection of its own that listens to channels, and comes back to them whenever it was lost.
 */
import pTimeout from 'p-timeout';
import type { RedisNode, RedisSubscriber } from './client.ts';
import { mustBeOpen, type RedisCommands } from './commands.ts';
import type { RedisSettings } from './options.ts';
import { asUnreachable, unreachable } from './unreachable.ts';

/** Who has channels. */
export interface Listening {
  /** The channels that are listened to now. */
  wanted(): ReadonlyMap<string, unknown>;
  heard(channel: string, message: string): void;
  /** Messages may have been lost, on any channel; all of them are listened to again. */
  lost(): void;
}

/** Made with the first channel. */
export interface Subscriber {
  /** Resolves when Redis has confirmed. Rejects as a command does. */
  listen(channel: string): Promise<void>;
  /** In the background. */
  unlisten(channel: string): void;
  close(): void;
}

interface Connection {
  readonly link: RedisSubscriber;
  /** Resolves when it is ready for the first time, if ever. */
  readonly begun: Promise<void>;
}

/** Channels in one command. */
const batch = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
const ignore = (): void => {};

export function redisSubscriber(
  { client, commandTimeoutMs }: RedisSettings,
  { send }: RedisCommands,
  { wanted, heard, lost }: Listening,
): Subscriber {
  let connection: Promise<Connection> | undefined;
  let interrupted = false;
  let closed = false;
  let pause = firstPauseMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = async (): Promise<Connection> => {
    // Waits for a client that is still being connected: a cluster does not know its servers before.
    await send(() => client.ping());
    const servers: readonly RedisNode[] = client.nodes?.('master') ?? [
      client as unknown as RedisNode,
    ];
    const server = servers[Math.floor(Math.random() * servers.length)];
    if (closed || server === undefined) throw unreachable(closed ? 'closed' : 'no server');
    // What the client does by itself to listen again rejects where nobody can catch it, and is not
    // announced.
    const link = server.duplicate({ autoResubscribe: false, lazyConnect: false });
    const begun = new Promise<void>((resolve) => {
      link.on('ready', () => {
        resolve();
        void restore(link);
      });
    });
    // The host learns of it from its own client, and from what operations answer.
    link.on('error', ignore);
    link.on('message', heard);
    link.on('close', () => {
      interrupted = true;
    });
    link.on('end', () => {
      connection = undefined;
      again();
    });
    return { link, begun };
  };
  const connected = (): Promise<Connection> => {
    if (connection === undefined) {
      const opening = open();
      connection = opening;
      opening.catch(() => {
        if (connection === opening) connection = undefined;
      });
    }
    return connection;
  };
  const restore = async (link: RedisSubscriber): Promise<void> => {
    const channels = [...wanted().keys()];
    try {
      for (let at = 0; at < channels.length; at += batch) {
        const next = channels.slice(at, at + batch).filter((channel) => wanted().has(channel));
        if (next.length > 0) await link.subscribe(...next);
      }
    } catch {
      // Refused: tried again on another connection. Cut off: comes back by itself.
      if (link.status === 'ready') link.disconnect();
      return;
    }
    pause = firstPauseMs;
    if (!interrupted || link.status !== 'ready') return;
    interrupted = false;
    lost();
  };
  // For a connection that does not come back by itself: a cluster's server may be gone for good. A
  // client that was ended will not be back.
  const again = (): void => {
    clearTimeout(timer);
    if (closed || wanted().size === 0 || client.status === 'end') return;
    timer = setTimeout(() => {
      connected().catch(again);
    }, pause);
    timer.unref();
    pause = Math.min(pause * 2, longestPauseMs);
  };

  return {
    async listen(channel) {
      mustBeOpen(client.status);
      const subscribe = async (): Promise<void> => {
        const { link, begun } = await connected();
        mustBeOpen(link.status);
        await begun;
        if (wanted().has(channel)) await link.subscribe(channel);
      };
      try {
        await pTimeout(subscribe(), { milliseconds: commandTimeoutMs });
      } catch (error) {
        throw asUnreachable(error);
      }
    },
    unlisten(channel) {
      connection?.then(({ link }) => link.unsubscribe(channel)).catch(ignore);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      connection?.then(({ link }) => link.disconnect()).catch(ignore);
    },
  };
}
