/** Listens to the messages of spaces, over the channels of Redis. */

import { ignoreRejection } from '../../values/maybe-promise.ts';
import type { RedisCommands } from './commands.ts';
import type { RedisSettings } from './options.ts';
import { heardMessage } from './step-lua.ts';
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
  readonly subscriber: Subscriber;
  closed: boolean;
}

export interface RedisMessages {
  /** @param channel its name in Redis */
  listen(channel: string, listener: Listener): Promise<() => void>;
  close(): void;
}

export function redisMessages(settings: RedisSettings, commands: RedisCommands): RedisMessages {
  const channels: State['channels'] = new Map();
  const subscriber = redisSubscriber(settings, commands, {
    wanted: () => channels,
    heard: (name, sent) => tell(channels.get(name), heardMessage(sent)),
    lost: () => {
      for (const channel of [...channels.values()]) tell(channel, undefined);
    },
  });
  const state: State = { channels, subscriber, closed: false };
  return {
    listen: (channel, listener) => listen(state, channel, listener),
    close() {
      state.closed = true;
      channels.clear();
      subscriber.close();
    },
  };
}

async function listen(state: State, name: string, listener: Listener): Promise<() => void> {
  if (state.closed) throw unreachable('closed');
  const { channels, subscriber } = state;
  const subscription = { listener };
  const { listeners, confirmed } = channels.get(name) ?? openChannel(state, name);
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

function openChannel({ channels, subscriber }: State, name: string): Channel {
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
