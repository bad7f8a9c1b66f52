/** Wakes the nodes of a relay, over the channels of Redis. */

import type { RelayBus } from '../../surfaces/relay/ports/bus.ts';
import { ignoreRejection } from '../../values/maybe-promise.ts';
import { carrierOf } from './carrier.ts';
import { redisCommands } from './commands.ts';
import { channelName } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { redisSubscriber, type Subscriber } from './subscriber.ts';
import { unreachable } from './unreachable.ts';

type Listener = (message: string | undefined) => void;

interface Channel {
  readonly listeners: Set<{ readonly listener: Listener }>;
  readonly confirmed: Promise<void>;
}

interface State {
  /** By their names in Redis. */
  readonly channels: Map<string, Channel>;
  closed: boolean;
}

/** Most characters of a message. Every server of a cluster gets each of them. */
const maxMessageChars = 65_536;

// A script is routed by its key, so in a cluster all messages of a channel take the same path and
// stay in order. It is always sent in full, because sending it twice would mix up the order.
const publishScript = `return redis.call('PUBLISH', ARGV[1], ARGV[2])`;

/**
 * A relay's bus on Redis. It listens on a separate connection with the client's settings, which is
 * made when first needed; `close` ends only that connection. Call it when the relay is closed: the
 * relay leaves the bus open, and an open connection keeps the process alive. No messages are kept:
 * after the connection was lost and is back, listeners are called with `undefined`. Operations fail
 * like those of `redisStore`.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { redisBus, redisStore } from 'host-tools/redis';
 * import { serveRelay } from 'host-tools/relay';
 * import { Redis } from 'ioredis';
 *
 * const client = new Redis();
 * const bus = redisBus({ client });
 * const relay = await serveRelay({ port: 4040, store: redisStore({ client }), bus });
 * // At the end:
 * await relay.close();
 * await bus.close?.();
 * client.disconnect();
 * ```
 */
export function redisBus(options: RedisOptions): RelayBus {
  const settings = redisSettings('redisBus', options);
  const commands = redisCommands(settings);
  const { client, prefix, send } = commands;
  const state: State = { channels: new Map(), closed: false };
  const { channels } = state;
  const subscriber = redisSubscriber(settings, commands, {
    wanted: () => channels,
    heard: (name, message) => tell(channels.get(name), message),
    lost: () => {
      for (const channel of [...channels.values()]) tell(channel, undefined);
    },
  });
  return {
    carrier: carrierOf(settings),
    maxMessageChars,
    async publish(channel, message) {
      const name = channelName(prefix, channel);
      await send(() => client.eval(publishScript, 1, name, name, message));
    },
    subscribe: (channel, listener) =>
      subscribe(state, subscriber, channelName(prefix, channel), listener),
    async close() {
      state.closed = true;
      channels.clear();
      subscriber.close();
    },
  };
}

async function subscribe(
  state: State,
  subscriber: Subscriber,
  name: string,
  listener: Listener,
): Promise<() => void> {
  if (state.closed) throw unreachable('closed');
  const { channels } = state;
  const subscription = { listener };
  const { listeners, confirmed } = channels.get(name) ?? openChannel(channels, subscriber, name);
  listeners.add(subscription);
  const stop = (): void => {
    if (
      !listeners.delete(subscription) ||
      listeners.size > 0 ||
      channels.get(name)?.listeners !== listeners
    )
      return;
    channels.delete(name);
    subscriber.unlisten(name);
  };
  try {
    await confirmed;
    if (state.closed) throw unreachable('closed');
  } catch (error) {
    stop();
    throw error;
  }
  return stop;
}

function openChannel(
  channels: Map<string, Channel>,
  subscriber: Subscriber,
  name: string,
): Channel {
  // The channel is added before Redis is asked, because the first message must find the listener.
  let confirm: (confirmed: Promise<void>) => void = () => {};
  const channel: Channel = {
    listeners: new Set(),
    confirmed: new Promise((resolve) => (confirm = resolve)),
  };
  channels.set(name, channel);
  confirm(subscriber.listen(name));
  return channel;
}

function tell(channel: Channel | undefined, message: string | undefined): void {
  for (const subscription of [...(channel?.listeners ?? [])])
    if (channel?.listeners.has(subscription)) notifyOne(subscription.listener, message);
}

function notifyOne(listener: Listener, message: string | undefined): void {
  try {
    // A listener that is an async function may also reject.
    ignoreRejection(listener(message));
  } catch {
    // The other listeners must not be affected, and the error cannot be reported anywhere.
  }
}
