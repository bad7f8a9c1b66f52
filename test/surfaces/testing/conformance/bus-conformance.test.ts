import { AssertionError } from 'node:assert/strict';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryBus } from '../../../../src/surfaces/relay/memory/bus.ts';
import type { RelayBus } from '../../../../src/surfaces/relay/ports/bus.ts';
import { busConformance } from '../../../../src/surfaces/testing/conformance/bus-conformance.ts';

type Listener = Parameters<RelayBus['subscribe']>[1];

/** A bus that is right but for what is changed. */
const changed = (change: (inner: RelayBus) => Partial<RelayBus>) => (): RelayBus => {
  const inner = memoryBus();
  return { ...inner, ...change(inner) };
};

/** A bus that calls its listeners as messages are sent, by a way of its own. */
const direct = (call: (listeners: Set<Listener>, message: string) => void) => (): RelayBus => {
  const channels = new Map<string, Set<Listener>>();
  return {
    publish: async (channel, message) => call(channels.get(channel) ?? new Set(), message),
    subscribe: async (channel, listener) => {
      const listeners = channels.get(channel) ?? new Set();
      channels.set(channel, listeners);
      const own: Listener = (message) => listener(message);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
};

const faulty: Record<string, readonly [make: () => RelayBus, broken: readonly string[]]> = {
  'whose listeners hurt each other': [
    direct((listeners, message) => {
      try {
        for (const listener of listeners) listener(message);
      } catch {
        // The others have not heard it.
      }
    }),
    ['a listener that throws or rejects affects no other'],
  ],
  'whose listeners hear as it is sent': [
    direct((listeners, message) => {
      for (const listener of [...listeners]) listener(message);
    }),
    ['all listeners hear the same order, even if one of them sends as it hears'],
  ],
  'that turns messages round': [
    changed((inner) => {
      let waiting: string[] = [];
      return {
        publish: async (channel, message) => {
          waiting.push(message);
          await Promise.resolve();
          const all = waiting.reverse();
          waiting = [];
          for (const each of all) await inner.publish(channel, each);
        },
      };
    }),
    ['messages of one node arrive in order, once each'],
  ],
  'that sends twice': [
    changed((inner) => ({
      publish: async (channel, message) => {
        await inner.publish(channel, message);
        await inner.publish(channel, message);
      },
    })),
    [
      'every listener hears what is sent, also on the node that sends',
      'messages of one node arrive in order, once each',
    ],
  ],
  'that listens by pattern': [
    () => {
      const inner = memoryBus();
      return {
        publish: async (channel, message) => {
          await inner.publish(channel, message);
          if (channel !== '*') await inner.publish('*', message);
        },
        subscribe: inner.subscribe,
      };
    },
    ['any string names a channel, and channels do not mix'],
  ],
  'that folds the case of channels': [
    changed((inner) => ({
      publish: (channel, message) => inner.publish(channel.toLowerCase(), message),
      subscribe: (channel, listener) => inner.subscribe(channel.toLowerCase(), listener),
    })),
    ['any string names a channel, and channels do not mix'],
  ],
  'that keeps messages for who comes later': [
    changed((inner) => {
      const kept = new Map<string, string>();
      return {
        publish: (channel, message) => {
          kept.set(channel, message);
          return inner.publish(channel, message);
        },
        subscribe: async (channel, listener) => {
          const message = kept.get(channel);
          if (message !== undefined) listener(message);
          return inner.subscribe(channel, listener);
        },
      };
    }),
    ['a message without listeners is lost'],
  ],
  'that goes on after a stop': [
    changed((inner) => ({
      subscribe: async (...args) => {
        await inner.subscribe(...args);
        return () => {};
      },
    })),
    [
      'a listener that has stopped hears nothing more, and the others go on',
      'a listener that stops while messages are on their way hears none of them',
    ],
  ],
  'whose stop stops all': [
    changed((inner) => {
      const stops: (() => void)[] = [];
      return {
        subscribe: async (...args) => {
          stops.push(await inner.subscribe(...args));
          return () => {
            for (const stop of stops) stop();
          };
        },
      };
    }),
    [
      'a listener that has stopped hears nothing more, and the others go on',
      'one function that listens twice hears twice, until each has stopped',
    ],
  ],
  'that knows a function once': [
    changed((inner) => {
      const known = new Map<Listener, () => void>();
      return {
        subscribe: async (channel, listener) => {
          const stop = known.get(listener) ?? (await inner.subscribe(channel, listener));
          known.set(listener, stop);
          return stop;
        },
      };
    }),
    ['one function that listens twice hears twice, until each has stopped'],
  ],
  'that has one listener a channel': [
    changed((inner) => {
      const stops = new Map<string, () => void>();
      return {
        subscribe: async (channel, listener) => {
          stops.get(channel)?.();
          const stop = await inner.subscribe(channel, listener);
          stops.set(channel, stop);
          return stop;
        },
      };
    }),
    ['every listener hears what is sent, also on the node that sends'],
  ],
  'that changes messages': [
    changed((inner) => ({ publish: (channel, message) => inner.publish(channel, message.trim()) })),
    ['any string is a message'],
  ],
};

describe('the suite itself', () => {
  test('every rule has a name of its own', () => {
    const names = busConformance(memoryBus).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  test('takes no notice that messages may have been lost for a message', async () => {
    const make = changed((inner) => ({
      subscribe: async (channel, listener) => {
        const stop = await inner.subscribe(channel, (message) => {
          listener(undefined);
          listener(message);
        });
        return stop;
      },
    }));
    // Where a listener throws, this bus would have to guard it itself.
    for (const rule of busConformance(make))
      if (rule.name !== 'a listener that throws or rejects affects no other') await rule.run();
  });
});

describe('detects a faulty bus', () => {
  // A message that never comes is waited for, by a clock that runs fast.
  beforeEach(() => {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() * 50);
  });

  for (const [name, [make, broken]] of Object.entries(faulty))
    test(name, async () => {
      const rules = new Map(busConformance(make).map((rule) => [rule.name, rule]));
      await Promise.all(
        broken.map(async (sentence) => {
          const rule = rules.get(sentence);
          expect(rule, sentence).toBeDefined();
          await expect(rule?.run(), sentence).rejects.toBeInstanceOf(AssertionError);
        }),
      );
    });
});
