import { describe, expect, test } from 'vitest';
import { memoryBus } from '../../../../src/surfaces/relay/memory/bus.ts';
import { busConformance } from '../../../../src/surfaces/testing/conformance/bus-conformance.ts';

describe('the bus in memory', () => {
  for (const rule of busConformance(memoryBus)) test(rule.name, rule.run);

  test("delivers in a microtask: after the sender's synchronous work, before any input or timer", async () => {
    const bus = memoryBus();
    const order: string[] = [];
    await bus.subscribe('c', () => order.push('heard'));
    const sent = bus.publish('c', 'hello');
    order.push('sent');
    setImmediate(() => order.push('turn'));
    await sent;
    expect(order).toEqual(['sent', 'heard']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['sent', 'heard', 'turn']);
  });

  test('a message does not reach a listener that subscribed after it was sent', async () => {
    const bus = memoryBus();
    const heard: unknown[] = [];
    await bus.subscribe('c', () => heard.push('first'));
    const sent = bus.publish('c', 'hello');
    const begun = bus.subscribe('c', () => heard.push('second'));
    await Promise.all([sent, begun]);
    expect(heard).toEqual(['first']);
  });

  test('a listener that throws among many messages makes neither itself nor others miss one', async () => {
    const bus = memoryBus();
    const heard: string[] = [];
    await bus.subscribe('c', (message) => {
      heard.push(`a${message}`);
      throw new Error('A listener that throws.');
    });
    await bus.subscribe('c', (message) => heard.push(`b${message}`));
    await Promise.all(['1', '2', '3'].map((message) => bus.publish('c', message)));
    await bus.publish('c', '4');
    expect(heard).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3', 'a4', 'b4']);
  });

  test('never says that messages may have been lost', async () => {
    const bus = memoryBus();
    const heard: unknown[] = [];
    await bus.subscribe('c', (message) => heard.push(message));
    await bus.publish('c', 'hello');
    expect(heard).toEqual(['hello']);
  });
});
