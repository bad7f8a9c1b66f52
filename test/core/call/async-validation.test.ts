/** A schema may validate later; no call waits for it for ever. */
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type AnyTool, defineTool, HostToolRegistry, type ToolResult } from '../../../src/index.ts';

const never = z.object({ a: z.number() }).refine(() => new Promise<boolean>(() => {}));
/** Answers the first validation after 20 ms, however often that asks, and then no more. */
function onlyOnce(): z.ZodType {
  let started: number | undefined;
  return z.object({ a: z.number() }).refine(() => {
    started ??= Date.now();
    return new Promise<boolean>((resolve) => {
      if (Date.now() - (started as number) < 10) setTimeout(resolve, 20, true);
    });
  });
}

describe('a schema that never answers refuses after `policyTimeoutMs`', () => {
  test.each<[place: string, config: Record<string, unknown>, code: string, runs: number]>([
    ['the input', { parameters: never }, 'invalid_input', 0],
    ['the output', { parameters: { type: 'object' }, outputSchema: never }, 'invalid_output', 1],
    [
      'the parse of a check',
      {
        parameters: onlyOnce(),
        policy: {
          check: ({ allow, input }: { allow(): unknown; input: { a: number } }) =>
            input.a > 0 ? allow() : undefined,
        },
      },
      'policy_error',
      0,
    ],
    [
      'the parse of a resource key',
      { parameters: onlyOnce(), resourceKey: (input: { a: number }) => `key-${input.a}` },
      'policy_error',
      0,
    ],
    [
      'the parse of `requiresApproval`',
      { parameters: onlyOnce(), requiresApproval: (input: { a: number }) => input.a > 0 },
      'policy_error',
      0,
    ],
  ])('%s', async (_, config, code, runs) => {
    vi.useFakeTimers();
    const handler = vi.fn(() => ({ a: 1 }));
    const registry = new HostToolRegistry({ policyTimeoutMs: 100 });
    registry.register(
      defineTool({
        name: 'slow',
        description: 'Waits.',
        handler,
        ...config,
      } as never) as AnyTool<unknown>,
    );
    let result: ToolResult | undefined;
    void registry
      .createSession({ sessionId: 's' })
      .call('slow', { a: 1 })
      .then((settled) => {
        result = settled;
      });
    await vi.advanceTimersByTimeAsync(300);
    expect(result?.error?.code).toBe(code);
    expect(handler).toHaveBeenCalledTimes(runs);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test(
  'what a caller does to the error of a schema that did not answer is not in the error of the ' +
    'next call',
  async () => {
    vi.useFakeTimers();
    const registry = new HostToolRegistry({ policyTimeoutMs: 100 });
    registry.register(
      defineTool({
        name: 'slow',
        description: 'Waits.',
        parameters: never,
        handler: () => 1,
      }) as AnyTool<unknown>,
    );
    const session = registry.createSession({ sessionId: 's' });
    const refused = async (): Promise<{ path: string; message: string }[]> => {
      const calling = session.call('slow', { a: 1 });
      await vi.advanceTimersByTimeAsync(300);
      return (await calling).error?.details as never;
    };
    const [first] = await refused();
    expect(first).toEqual({
      path: '',
      message: 'validation did not finish in time; correct the schema',
    });
    const details = await refused();
    for (const spoil of [
      () => details.push({ path: 'mine', message: 'mine' }),
      () => Object.assign(details[0] as object, { message: 'mine' }),
    ])
      expect(spoil).toThrow(TypeError);
    expect(await refused()).toEqual([first]);
  },
);
