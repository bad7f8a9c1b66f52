import { expect, test } from 'vitest';
import { HostToolRegistry } from '../../../../src/index.ts';
import { define } from '../define.ts';

test("a verdict has its own time if no one listened for the call's arrival", async () => {
  const registry = new HostToolRegistry({ now: () => 5_000 });
  registry.register(define('t'));
  const times: number[] = [];
  registry.events.on('policy:check', ({ at }) => void times.push(at));
  await registry.createSession({ sessionId: 's' }).call('t');
  expect(times).toEqual([5_000]);
});
