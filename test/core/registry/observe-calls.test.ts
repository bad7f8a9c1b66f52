/** What is refused as an observer: a call that has to be recorded must not run unrecorded. */
import { expect, test } from 'vitest';
import { observeCalls } from '../../../src/core/registry/observe-calls.ts';
import { HostToolRegistry } from '../../../src/index.ts';

const ended = () => undefined;

test.each<[string, unknown, RegExp]>([
  ['nothing', undefined, /`observer`.*`ended`/],
  ['one that hears no end', { starting: ended }, /`observer`.*`ended`/],
  ['one with a misspelt method', { ended, startin: ended }, /did you mean `starting`/],
  ['one with a method that is none', { ended, starting: true }, /`starting` to be a function/],
])('%s is refused', (_, observer, message) => {
  expect(() => observeCalls('log', new HostToolRegistry(), observer as never)).toThrow(message);
});

test('an instance of a class may keep its state beside its methods', () => {
  class Log {
    readonly lines: string[] = [];
    ended(): void {
      this.lines.push('ended');
    }
  }
  expect(observeCalls('log', new HostToolRegistry(), new Log())).toHaveProperty('stop');
});
