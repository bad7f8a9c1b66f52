/**
 * A separate connection that listens to channels, and listens to them again after it was lost.
 */
import pTimeout from 'p-timeout';
import type { RedisNode, RedisSubscriber } from './client.ts';
import { mustBeOpen, type RedisCommands } from './commands.ts';
import type { RedisSettings } from './options.ts';
import { asUnreachable, unreachable } from './unreachable.ts';

/** The owner of the channels. */
export interface Listening {
  /** The channels that are listened to now. */
  wanted(): ReadonlyMap<string, unknown>;
  heard(channel: string, message: string): void;
  /** Messages of any channel may have been lost. All channels are subscribed again. */
  lost(): void;
}

/** Connects when the first channel is listened to. */
export interface Subscriber {
  /** Resolves when Redis has confirmed. Rejects as a command does. */
  listen(channel: string): Promise<void>;
  /** Stops listening, in the background. */
  unlisten(channel: string): void;
  close(): void;
}

interface Connection {
  readonly link: RedisSubscriber;
  /** Resolves when the connection is ready for the first time. It may never resolve. */
  readonly begun: Promise<void>;
}

interface State {
  readonly settings: RedisSettings;
  readonly commands: RedisCommands;
  readonly listening: Listening;
  connection: Promise<Connection> | undefined;
  /** The connection was lost, and the listeners have not been notified yet. */
  interrupted: boolean;
  closed: boolean;
  /** Milliseconds until the next attempt to connect. */
  pause: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Most channels in one command. */
const batch = 1_000;
const firstPauseMs = 50;
const longestPauseMs = 2_000;
const ignore = (): void => {};

export function redisSubscriber(
  settings: RedisSettings,
  commands: RedisCommands,
  listening: Listening,
): Subscriber {
  const state: State = {
    settings,
    commands,
    listening,
    connection: undefined,
    interrupted: false,
    closed: false,
    pause: firstPauseMs,
    timer: undefined,
  };
  return {
    listen: (channel) => listen(state, channel),
    unlisten(channel) {
      state.connection?.then(({ link }) => link.unsubscribe(channel)).catch(ignore);
    },
    close() {
      state.closed = true;
      clearTimeout(state.timer);
      state.connection?.then(({ link }) => link.disconnect()).catch(ignore);
    },
  };
}

async function listen(state: State, channel: string): Promise<void> {
  const { client, commandTimeoutMs } = state.settings;
  mustBeOpen(client.status);
  const subscribe = async (): Promise<void> => {
    const { link, begun } = await connected(state);
    mustBeOpen(link.status);
    await begun;
    if (state.listening.wanted().has(channel)) await link.subscribe(channel);
  };
  try {
    await pTimeout(subscribe(), { milliseconds: commandTimeoutMs });
  } catch (error) {
    throw asUnreachable(error);
  }
}

/** The connection, opened if there is none. */
function connected(state: State): Promise<Connection> {
  if (state.connection === undefined) {
    const opening = open(state);
    state.connection = opening;
    opening.catch(() => {
      if (state.connection === opening) state.connection = undefined;
    });
  }
  return state.connection;
}

async function open(state: State): Promise<Connection> {
  const { client } = state.settings;
  // Waits for a client that is still connecting, because a cluster does not know its servers
  // before.
  await state.commands.send(() => client.ping());
  const servers: readonly RedisNode[] = client.nodes?.('master') ?? [
    client as unknown as RedisNode,
  ];
  const server = servers[Math.floor(Math.random() * servers.length)];
  if (state.closed || server === undefined)
    throw unreachable(state.closed ? 'closed' : 'no server');
  // The client's own resubscribing is switched off: it is not announced, and its rejections cannot
  // be caught.
  const link = server.duplicate({ autoResubscribe: false, lazyConnect: false });
  const begun = new Promise<void>((resolve) => {
    link.on('ready', () => {
      resolve();
      void restore(state, link);
    });
  });
  // The host learns of errors from its own client, and from operations that fail.
  link.on('error', ignore);
  link.on('message', state.listening.heard);
  link.on('close', () => {
    state.interrupted = true;
  });
  link.on('end', () => {
    state.connection = undefined;
    connectLater(state);
  });
  return { link, begun };
}

/** Listens to all channels again after the connection is back. */
async function restore(state: State, link: RedisSubscriber): Promise<void> {
  const { wanted, lost } = state.listening;
  const channels = [...wanted().keys()];
  try {
    for (let at = 0; at < channels.length; at += batch) {
      const next = channels.slice(at, at + batch).filter((channel) => wanted().has(channel));
      if (next.length > 0) await link.subscribe(...next);
    }
  } catch {
    // If Redis refused, another connection is tried. A connection that was lost comes back by
    // itself.
    if (link.status === 'ready') link.disconnect();
    return;
  }
  state.pause = firstPauseMs;
  if (!state.interrupted || link.status !== 'ready') return;
  state.interrupted = false;
  lost();
}

/**
 * For a connection that does not come back by itself, because a server of a cluster may be gone for
 * good. A client that the host has ended will not be back.
 */
function connectLater(state: State): void {
  clearTimeout(state.timer);
  if (state.closed || state.listening.wanted().size === 0 || state.settings.client.status === 'end')
    return;
  state.timer = setTimeout(() => {
    connected(state).catch(() => connectLater(state));
  }, state.pause);
  state.timer.unref();
  state.pause = Math.min(state.pause * 2, longestPauseMs);
}
