/** What a handler may do to the context that it is given: nothing that another call could notice. */
import { describe, expect, test } from 'vitest';
import type { ToolContext } from '../../src/index.ts';
import { world } from './world.ts';

describe("a handler's context", () => {
  test('is frozen, and so is what it reads from it to call other tools', async () => {
    const w = world();
    const given: ToolContext[] = [];
    const tools: unknown[] = [];
    await w.run((_: never, context: ToolContext) => {
      given.push(context);
      tools.push(context.tools);
    });
    expect(given.map(Object.isFrozen)).toEqual([true]);
    expect(tools.map(Object.isFrozen)).toEqual([true]);
    expect(() => Object.assign(given[0] as object, { extra: 1 })).toThrow(TypeError);
  });

  test('cannot be changed for other calls through its prototype', async () => {
    const w = world();
    const result = await w.run((_: never, context: ToolContext) => {
      Object.defineProperty(Object.getPrototypeOf(context), 'principal', { get: () => 'root' });
    });
    expect(result).toMatchObject({ success: false, error: { code: 'handler_error' } });
    const seen: unknown[] = [];
    await w.run((_: never, context: ToolContext) => {
      seen.push(context.principal, Object.isFrozen(Object.getPrototypeOf(context)));
    });
    expect(seen).toEqual([undefined, true]);
  });
});
