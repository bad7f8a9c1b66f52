/** A sandbox gets the tokens that its tool asks for, with each call, and none in its environment. */
import { describe, expect, test } from 'vitest';
import { HostToolRegistry } from '../../../src/index.ts';
import { handlerOf, kinds, sandboxed } from './executors.ts';

describe.each(kinds)('in a %s', (_kind, executor) => {
  const show = () => executor({ module: handlerOf('token'), export: 'show' });
  const registryOf = (asked: string[] = []) =>
    new HostToolRegistry({
      credentials: ({ principal }) => {
        asked.push(String(principal));
        return { token: `Canary-${asked.length}-of-ann` };
      },
    });

  test('a tool that asks for a credential has it, a new one with each call', async () => {
    const asked: string[] = [];
    const { registry, run } = sandboxed(show(), { credentials: { github: {} } }, registryOf(asked));
    const expected = {
      names: ['github'],
      length: 'Canary-1-of-ann'.length,
      header: 'Bearer [redacted]',
      environment: false,
      printed: false,
    };
    expect((await run({})).output).toEqual(expected);
    expect((await run({})).output).toEqual(expected);
    expect(asked.length).toBe(2);
    await registry.close();
  });

  test('a tool that does not ask has none', async () => {
    const { registry, run } = sandboxed(show(), {}, registryOf());
    expect((await run({})).output).toEqual({ names: [], environment: false, printed: false });
    await registry.close();
  });
});
