/** Wakes between the nodes of a relay, by the channels of Redis. */
import { ignoreRejection } from '../maybe-promise.ts';
import type { RelayBus } from '../relay/ports/bus.ts';
import { redisCommands } from './commands.ts';
import { channelName } from './keys.ts';
import { type RedisOptions, redisSettings } from './options.ts';
import { redisSubscriber } from './subscriber.ts';
import { unreachable } from './unreachable.ts';

type Listener = (message: string | undefined) => void;

interface Channel {
  readonly listeners: Set<{ readonly listener: Listener }>;
  readonly confirmed: Promise<void>;
}

// A script goes by its key: in a cluster all messages of a channel take one way, so that they stay
// in order. Always in full: to be sent twice would mix them up.
const publishScript = `return redis.call('PUBLISH', ARGV[1], ARGV[2])`;

/**
 * A relay's bus on Redis. It listens on one connection of its own, made like the client when first
 * needed; `close` ends that one. Nothing is kept: listeners are given `undefined` after the
 * connection was lost and is back. Operations fail as those of `redisStore` do.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { redisBus, redisStore } from 'host-tools/redis';
 * import { serveRelay } from 'host-tools/relay';
 * import { Redis } from 'ioredis';
 *
 * const client = new Redis();
 * const relay = await serveRelay({
 *   port: 4040,
 *   store: redisStore({ client }),
 *   bus: redisBus({ client }),
 * });
 * ```
 */
export function redisBus(options: RedisOptions): RelayBus {
  const settings = redisSettings('redisBus', options);
  const commands = redisCommands(settings);
  const { client, prefix, send } = commands;
  const channels = new Map<string, Channel>();
  let closed = false;
  const tell = (channel: Channel | undefined, message: string | undefined): void => {
    for (const subscription of [...(channel?.listeners ?? [])])
      if (channel?.listeners.has(subscription)) tellOne(subscription.listener, message);
  };
  const subscriber = redisSubscriber(settings, commands, {
    wanted: () => channels,
    heard: (name, message) => tell(channels.get(name), message),
    lost: () => {
      for (const channel of [...channels.values()]) tell(channel, undefined);
    },
  });
  return {
    async publish(channel, message) {
      const name = channelName(prefix, channel);
      await send(() => client.eval(publishScript, 1, name, name, message));
    },
    async subscribe(channel, listener) {
      if (closed) throw unreachable('closed');
      const name = channelName(prefix, channel);
      const subscription = { listener };
      let entry = channels.get(name);
      if (entry === undefined) {
        // Listened to from before Redis is asked: what it sends first must find the listener.
        let confirm: (confirmed: Promise<void>) => void = () => {};
        entry = { listeners: new Set(), confirmed: new Promise((resolve) => (confirm = resolve)) };
        channels.set(name, entry);
        confirm(subscriber.listen(name));
      }
      const { listeners, confirmed } = entry;
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
        if (closed) throw unreachable('closed');
      } catch (error) {
        stop();
        throw error;
      }
      return stop;
    },
    async close() {
      closed = true;
      channels.clear();
      subscriber.close();
    },
  };
}

function tellOne(listener: Listener, message: string | undefined): void {
  try {
    // A listener that is an async function may reject as well.
    ignoreRejection(listener(message));
  } catch {
    // Nobody else is to suffer from it, and there is nobody to tell.
  }
}
