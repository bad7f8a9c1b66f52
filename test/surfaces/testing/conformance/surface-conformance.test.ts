import { describe, expect, test } from 'vitest';
import { isMisuseError, mount, serializeOutput, type ToolSession } from '../../../../src/index.ts';
import {
  type SurfaceUnderTest,
  surfaceConformance,
  TestCoordinator,
} from '../../../../src/surfaces/testing/index.ts';

/** The session itself as its own surface. */
const direct = (session: ToolSession): SurfaceUnderTest => ({
  call: async (name, input, { signal }) => {
    const result = await session.call(name, input, { signal });
    return { text: serializeOutput(result), isError: !result.success, code: result.error?.code };
  },
});

describe('a direct call', () => {
  for (const rule of surfaceConformance(direct)) test(rule.name, rule.run);
});

describe('a mount in a coordinator', () => {
  const mounted = async (session: ToolSession): Promise<SurfaceUnderTest> => {
    const coordinator = new TestCoordinator();
    const { unmount } = await mount(session, coordinator);
    const tools = coordinator.get('tools') as Map<string, never> | Record<string, never>;
    type Mounted = {
      execute(input: unknown): Promise<{
        success: boolean;
        error?: { code?: string };
        get_serialized_output?(): string;
        serialize?(): string;
      }>;
    };
    return {
      call: async (name, input) => {
        const tool = (tools instanceof Map ? tools.get(name) : tools[name]) as unknown as Mounted;
        const result = await tool.execute(input);
        return {
          text: serializeOutput(result as never),
          isError: !result.success,
          code: result.error?.code,
        };
      },
      close: () => unmount(),
    };
  };
  for (const rule of surfaceConformance(mounted, { features: { unlisted: false, cancel: false } }))
    test(rule.name, rule.run);
});

describe('a surface that lies', () => {
  const lying = (change: Partial<{ text: string; isError: boolean; code: string }>) =>
    surfaceConformance((session) => ({
      call: async (name, input, options) => ({
        ...(await direct(session).call(name, input, options)),
        ...change,
      }),
    }));
  test.each([
    ['about the text', { text: 'All is well.' }],
    ['about a failure', { isError: false }],
    ['about the code', { code: 'internal' }],
  ])('%s is caught', async (_, change) => {
    const outcomes = await Promise.allSettled(lying(change).map((rule) => rule.run()));
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true);
  });

  test('by going around the session is caught', async () => {
    const rules = surfaceConformance(() => ({
      call: async () => ({ text: 'plain', isError: false }),
    }));
    await expect(rules.find(({ name }) => name === 'text')?.run()).rejects.toThrow(
      'events of a direct call',
    );
  });

  test('by an unknown feature throws', () => {
    try {
      surfaceConformance(direct, { features: { speed: false } as never });
      expect.unreachable();
    } catch (error) {
      expect(isMisuseError(error)).toBe(true);
    }
  });
});
