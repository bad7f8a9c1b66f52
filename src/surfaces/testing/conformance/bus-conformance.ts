/** The contract of a relay's bus as data: rules that any test runner can execute on any bus. */
import assert from 'node:assert/strict';
import type { MaybePromise } from '../../../core.ts';
import type { RelayBus } from '../../relay/ports/bus.ts';
import {
  atOnce,
  eventually,
  type PortRule,
  type PortRuleBodies,
  portNames,
  portRules,
  sleep,
  upTo,
} from './port-rule.ts';

interface Ear {
  /** The messages that came, without the notices that messages may have been lost. */
  readonly heard: string[];
  readonly stop: () => void;
}

async function listen(
  bus: RelayBus,
  channel: string,
  then: (message: string) => void = () => {},
): Promise<Ear> {
  const heard: string[] = [];
  const stop = await bus.subscribe(channel, (message) => {
    if (message === undefined) return;
    heard.push(message);
    then(message);
  });
  return { heard, stop };
}

/** Waits until each listener has heard at least `count` messages. */
async function hasListener(count: number, ...ears: readonly Ear[]): Promise<void> {
  await eventually(`${count} messages arrive`, () =>
    ears.every(({ heard }) => heard.length >= count),
  );
}

/**
 * Sends a last message and waits for it. Messages arrive in order, so a message that has not
 * arrived by then never will.
 */
async function settle(bus: RelayBus, channel: string, ...ears: readonly Ear[]): Promise<void> {
  await bus.publish(channel, 'end');
  await eventually('the last message arrives', () =>
    ears.every(({ heard }) => heard.at(-1) === 'end'),
  );
}

const rules: PortRuleBodies<RelayBus> = {
  'every listener hears what is sent, also on the node that sends': async (bus) => {
    const ears = [await listen(bus, 'c'), await listen(bus, 'c')];
    assert.equal(await bus.publish('c', 'hello'), undefined);
    await hasListener(1, ...ears);
    await settle(bus, 'c', ...ears);
    for (const { heard } of ears) assert.deepEqual(heard, ['hello', 'end']);
  },
  'a message without listeners is lost': async (bus) => {
    await bus.publish('c', 'before');
    await bus.publish('other', 'before');
    // Between servers the message may still be on its way, and a listener that subscribes meanwhile
    // may hear it.
    await sleep(300);
    const ear = await listen(bus, 'c');
    await settle(bus, 'c', ear);
    assert.deepEqual(ear.heard, ['end']);
  },
  'a listener hears every message from when its subscription resolves': async (bus) => {
    for (const round of upTo(20)) {
      const ear = await listen(bus, `c${round}`);
      await bus.publish(`c${round}`, 'now');
      await hasListener(1, ear);
      ear.stop();
    }
  },
  'messages of one node arrive in order, once each': async (bus) => {
    const ears = [await listen(bus, 'c'), await listen(bus, 'c')];
    const messages = upTo(300).map(String);
    // All are sent without waiting for each other.
    await Promise.all(messages.map((message) => bus.publish('c', message)));
    await settle(bus, 'c', ...ears);
    for (const { heard } of ears) assert.deepEqual(heard, [...messages, 'end']);
  },
  'all listeners hear the same order, even if one of them sends as it hears': async (bus) => {
    const sent: Promise<void>[] = [];
    const first = await listen(bus, 'c', (message) => {
      if (message === 'one') sent.push(bus.publish('c', 'two'));
    });
    const second = await listen(bus, 'c');
    await bus.publish('c', 'one');
    await hasListener(2, first, second);
    await Promise.all(sent);
    for (const { heard } of [first, second]) assert.deepEqual(heard, ['one', 'two']);
  },
  'a listener that has stopped hears nothing more, and the others go on': async (bus) => {
    const [gone, stays] = [await listen(bus, 'c'), await listen(bus, 'c')];
    await bus.publish('c', 'one');
    await hasListener(1, gone, stays);
    gone.stop();
    gone.stop();
    await settle(bus, 'c', stays);
    assert.deepEqual(gone.heard, ['one']);
    assert.deepEqual(stays.heard, ['one', 'end']);
  },
  'a listener that stops while messages are on their way hears none of them': async (bus) => {
    const [gone, stays] = [await listen(bus, 'c'), await listen(bus, 'c')];
    const sent = bus.publish('c', 'late');
    gone.stop();
    await sent;
    await settle(bus, 'c', stays);
    assert.deepEqual(gone.heard, []);
    assert.deepEqual(stays.heard, ['late', 'end']);
  },
  'a channel can be listened to again after all have stopped': async (bus) => {
    for (const round of upTo(10)) {
      const ear = await listen(bus, 'c');
      await bus.publish('c', `${round}`);
      await hasListener(1, ear);
      assert.deepEqual(ear.heard, [`${round}`]);
      ear.stop();
    }
    const [one, two] = await atOnce(2, () => listen(bus, 'c'));
    assert.ok(one !== undefined && two !== undefined);
    one.stop();
    await bus.publish('c', 'again');
    await hasListener(1, two);
    assert.deepEqual(one.heard, []);
  },
  'stopping one listener while another begins leaves the other listening': async (bus) => {
    for (const round of upTo(10)) {
      const old = await listen(bus, 'c');
      const begun = listen(bus, 'c');
      old.stop();
      const fresh = await begun;
      await bus.publish('c', `${round}`);
      await hasListener(1, fresh);
      fresh.stop();
    }
  },
  'one function that listens twice hears twice, until each has stopped': async (bus) => {
    const heard: string[] = [];
    const listener = (message: string | undefined): void => {
      if (message !== undefined) heard.push(message);
    };
    const stops = [await bus.subscribe('c', listener), await bus.subscribe('c', listener)];
    await bus.publish('c', 'both');
    await eventually('both subscriptions hear', () => heard.length === 2);
    stops[0]?.();
    stops[0]?.();
    const marker = await listen(bus, 'c');
    await settle(bus, 'c', marker);
    await eventually('the other hears', () => heard.length === 3);
    assert.deepEqual(heard, ['both', 'both', 'end']);
  },
  'a listener that throws or rejects affects no other': async (bus) => {
    const before = await listen(bus, 'c');
    const throwing = await listen(bus, 'c', () => {
      throw new Error('A listener that throws.');
    });
    await bus.subscribe('c', (async () =>
      Promise.reject(new Error('A listener that rejects.'))) as () => void);
    const after = await listen(bus, 'c');
    await bus.publish('c', 'one');
    await bus.publish('c', 'two');
    await hasListener(2, before, throwing, after);
    for (const { heard } of [before, throwing, after]) assert.deepEqual(heard, ['one', 'two']);
  },
  'listeners may begin and stop as they hear': async (bus) => {
    const begun: Promise<Ear>[] = [];
    const first: Ear = await listen(bus, 'c', () => {
      first.stop();
      begun.push(listen(bus, 'c'));
    });
    const second = await listen(bus, 'c');
    await bus.publish('c', 'one');
    await hasListener(1, second);
    await eventually('the first has heard', () => begun.length > 0);
    const [third] = await Promise.all(begun);
    assert.ok(third !== undefined);
    await settle(bus, 'c', second, third);
    assert.deepEqual([first.heard, second.heard, third.heard], [['one'], ['one', 'end'], ['end']]);
  },
  'any string names a channel, and channels do not mix': async (bus) => {
    const ears = await Promise.all(portNames.map((name) => listen(bus, name)));
    for (const name of portNames) await bus.publish(name, `to ${name}`);
    await Promise.all(portNames.map((name, index) => settle(bus, name, ears[index] as Ear)));
    for (const [index, name] of portNames.entries())
      assert.deepEqual(ears[index]?.heard, [`to ${name}`, 'end']);
  },
  'any string is a message': async (bus) => {
    const ear = await listen(bus, 'c');
    for (const message of portNames) await bus.publish('c', message);
    await hasListener(portNames.length, ear);
    assert.deepEqual(ear.heard, portNames);
  },
  'a message may have as many characters as the bus says': async (bus) => {
    const ear = await listen(bus, 'c');
    const longest = 'x\u00E9'.repeat(Math.floor(Math.max(bus.maxMessageChars ?? 1_000, 1_000) / 2));
    await bus.publish('c', longest);
    await settle(bus, 'c', ear);
    assert.ok(ear.heard[0] === longest, `Expected a message of ${longest.length} characters`);
  },
  'with many channels and listeners at once, each hears its own messages': async (bus) => {
    const ears = await atOnce(200, (index) => listen(bus, `c${index % 50}`));
    await atOnce(50, (index) => bus.publish(`c${index}`, `${index}`));
    await hasListener(1, ...ears);
    for (const [index, { heard }] of ears.entries()) assert.deepEqual(heard, [`${index % 50}`]);
    for (const { stop } of ears) stop();
  },
  'closing twice does no more than closing once, and stopping afterwards is harmless': async (
    bus,
  ) => {
    const ear = await listen(bus, 'c');
    await bus.close?.();
    await bus.close?.();
    ear.stop();
  },
};

/**
 * Returns the rules that a bus must satisfy, as data:
 * `for (const rule of busConformance(make)) test(rule.name, rule.run)`. `makeBus` returns a bus
 * without listeners for each rule, or one with a namespace of its own. If the bus has a `close`, it
 * is called after the rule.
 *
 * @example
 * ```ts
 * import { memoryBus } from 'host-tools/relay';
 * import { busConformance } from 'host-tools/testing';
 * import { test } from 'vitest';
 *
 * // Put your bus in the place of `memoryBus()`.
 * for (const rule of busConformance(() => memoryBus())) test(rule.name, rule.run);
 * ```
 */
export function busConformance(makeBus: () => MaybePromise<RelayBus>): readonly PortRule[] {
  return portRules(makeBus, rules);
}
