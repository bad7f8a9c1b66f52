/** A module whose tools depend on its own part of the mount plan's configuration. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  type AnyTool,
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type MountedTool,
} from '../../../src/index.ts';
import { createModule } from '../../../src/surfaces/amplifier/index.ts';
import { mockTool, TestCoordinator } from '../../../src/surfaces/testing/index.ts';

const config = z.object({
  max_size: z.number().int().default(10),
  allowed_paths: z.array(z.string()).default([]),
});
/** A module whose tool returns the configuration that it was made with. */
const showing = (schema: z.ZodType | Record<string, unknown> = config) =>
  createModule((own: unknown) => [mockTool({ name: 'show', output: own as never })], {
    config: schema,
  });
const shown = async (
  module: ReturnType<typeof showing>,
  given: Record<string, unknown> | null,
): Promise<unknown> => {
  const coordinator = new TestCoordinator();
  await module.mount(coordinator, given);
  const { output } = await (coordinator.get('tools', 'show') as MountedTool).execute({});
  return output;
};
const refusal = async (module: ReturnType<typeof showing>, given: unknown): Promise<string> => {
  const coordinator = new TestCoordinator();
  const error: unknown = await module.mount(coordinator, given as never).then(
    () => 'mounted',
    (thrown: unknown) => thrown,
  );
  expect(isMisuseError(error)).toBe(true);
  expect(coordinator.mountHistory).toEqual([]);
  return (error as Error).message;
};

describe('the keys that the schema declares', () => {
  test('reach the function, parsed and with their defaults', async () => {
    expect(await shown(showing(), { max_size: 3, allowed_paths: ['/home'] })).toEqual({
      max_size: 3,
      allowed_paths: ['/home'],
    });
    expect(await shown(showing(), {})).toEqual({ max_size: 10, allowed_paths: [] });
    expect(await shown(showing(), null)).toEqual({ max_size: 10, allowed_paths: [] });
  });

  test('give the function its type', () => {
    createModule(
      (own) => {
        expectTypeOf(own).toEqualTypeOf<{ max_size: number; allowed_paths: string[] }>();
        return [];
      },
      { config },
    );
    createModule(
      (own) => {
        expectTypeOf(own.size).toEqualTypeOf<number>();
        return [];
      },
      {
        config: {
          type: 'object',
          properties: { size: { type: 'integer', default: 1 } },
          required: ['size'],
        },
      },
    );
  });

  test('may come from a JSON Schema, whose defaults are filled in', async () => {
    const schema = { type: 'object', properties: { size: { type: 'integer', default: 7 } } };
    expect(await shown(showing(schema), {})).toEqual({ size: 7 });
  });

  test('may be checked by a schema that takes its time', async () => {
    const schema = z.object({ root: z.string().refine(async (root) => root.startsWith('/')) });
    expect(await shown(showing(schema), { root: '/a' })).toEqual({ root: '/a' });
    expect(await refusal(showing(schema), { root: 'a' })).toContain('`root`');
  });

  test('may differ by branch', async () => {
    const schema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('file'), path: z.string() }),
      z.object({ kind: z.literal('memory') }),
    ]);
    expect(await shown(showing(schema), { kind: 'file', path: '/a' })).toEqual({
      kind: 'file',
      path: '/a',
    });
    expect(await refusal(showing(schema), { kind: 'memory', pth: '/a' })).toContain('`pth`');
  });

  test('are the function’s own copy', async () => {
    const given = { allowed_paths: ['/home'] };
    const module = createModule(
      (own) => {
        own.allowed_paths.push('/added');
        return [];
      },
      { config },
    );
    await module.mount(new TestCoordinator(), given);
    expect(given).toEqual({ allowed_paths: ['/home'] });
  });
});

describe('the other keys of the mount plan', () => {
  test('set the session, as without a schema', async () => {
    const probe = mockTool({ name: 'probe' });
    const coordinator = new TestCoordinator();
    await createModule(({ max_size }) => (max_size === 3 ? [probe] : []), { config }).mount(
      coordinator,
      { max_size: 3, cwd: '/work', sessionId: 's1' },
    );
    await (coordinator.get('tools', 'probe') as MountedTool).execute({});
    expect(probe.calls[0]?.context).toMatchObject({ cwd: '/work', sessionId: 's1' });
  });

  test('are refused by name where nothing declares them', async () => {
    expect(await refusal(showing(), { max_sise: 1 })).toBe(
      'Module config: unknown key `max_sise`; did you mean `max_size`?',
    );
    expect(await refusal(showing(), { profil: 'x' })).toBe(
      'Module config: unknown key `profil`; did you mean `profile`?',
    );
    expect(
      await refusal(showing(z.strictObject({ a: z.number().optional() })), { zzz: 1 }),
    ).toMatch(/^Module config: unknown key `zzz`; expected one of `a`, `profile`, /);
    expect(await refusal(showing(), JSON.parse('{"__proto__":1}'))).toContain('`__proto__`');
  });

  test('go to a schema that takes any', async () => {
    expect(await shown(showing(z.looseObject({})), { any: 1 })).toEqual({ any: 1 });
    expect(await shown(showing(z.record(z.string(), z.number())), { any: 1 })).toEqual({ any: 1 });
    expect(await shown(showing({ type: 'object' }), { any: 1, cwd: '/a' })).toEqual({ any: 1 });
  });
});

describe('a configuration that is refused, with nothing mounted', () => {
  test.each<[string, unknown, RegExp]>([
    ['a value of another type', { max_size: 'many' }, /module's schema: `max_size`: /],
    ['what JSON cannot hold', { max_size: 1n }, /max_size.*BigInt/i],
    ['a list', [], /expected an object of keys, got/],
    ['a text', 'max_size=1', /expected an object of keys, got/],
    ['a wrong key of the session', { cwd: 5 }, /Module config: expected `cwd` to be a string/],
    ['an unknown profile', { profile: 'none' }, /none/],
  ])('%s', async (_, given, message) => {
    expect(await refusal(showing(), given)).toMatch(message);
  });

  test('with the mistake of the schema itself as the cause', async () => {
    const thrown = new Error('schema');
    const schema = z.object({
      a: z.number().refine(() => {
        throw thrown;
      }),
    });
    const error = await showing(schema)
      .mount(new TestCoordinator(), { a: 1 })
      .catch((caught: unknown) => caught);
    expect((error as Error).cause).toBe(thrown);
  });

  test('is what the function throws', async () => {
    const thrown = new Error('no key');
    const module = createModule(
      () => {
        throw thrown;
      },
      { config },
    );
    await expect(module.mount(new TestCoordinator(), {})).rejects.toBe(thrown);
  });
});

describe('what the function returns', () => {
  test('may be promised, and is made anew for each mount', async () => {
    const made: number[] = [];
    const module = createModule(
      async ({ max_size }) => {
        made.push(max_size);
        return [mockTool({ name: `tool_${max_size}` })];
      },
      { config },
    );
    const [left, right] = [new TestCoordinator(), new TestCoordinator()];
    await module.mount(left, { max_size: 1 });
    await module.mount(right, { max_size: 2 });
    expect(made).toEqual([1, 2]);
    expect([...(left.get('tools') as Map<string, unknown>).keys()]).toEqual(['tool_1']);
    expect([...(right.get('tools') as Map<string, unknown>).keys()]).toEqual(['tool_2']);
  });

  test('may be a registry, which the clean-up leaves open', async () => {
    const registry = new HostToolRegistry();
    registry.register(mockTool({ name: 'kept' }));
    const cleanup = await createModule(() => registry, { config }).mount(new TestCoordinator(), {});
    await cleanup?.();
    expect(registry.createSession({ sessionId: 's' }).effectiveTools().tools).toHaveLength(1);
    await registry.close();
    expect(
      await createModule(() => registry, { config }).mount(new TestCoordinator(), {}),
    ).toBeNull();
  });

  const withExecutor = (dispose: () => void): AnyTool<unknown> =>
    defineTool({
      name: 'far',
      description: 'Runs elsewhere.',
      parameters: { type: 'object' },
      executor: { kind: 'remote', execute: async () => 'done', dispose },
    });

  test('is freed with the mount if it is a list of definitions', async () => {
    let disposed = 0;
    const module = createModule(() => [withExecutor(() => (disposed += 1))], { config });
    const cleanup = await module.mount(new TestCoordinator(), {});
    await Promise.all([cleanup?.(), cleanup?.()]);
    expect(disposed).toBe(1);
    await expect(module.mount(new TestCoordinator(), { profile: 'none' })).rejects.toSatisfy(
      isMisuseError,
    );
    expect(disposed).toBe(2);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['one definition', mockTool({ name: 'a' })],
    ['two of the same name', [mockTool({ name: 'a' }), mockTool({ name: 'a' })]],
  ])('is refused if it is %s', async (_, returned) => {
    expect(
      await refusal(
        createModule(() => returned as never, { config }),
        {},
      ),
    ).not.toBe('');
  });
});

test.each<[string, () => unknown, RegExp]>([
  [
    'a function without a schema',
    () => createModule((() => []) as never),
    /expected `config` to be the schema/,
  ],
  [
    'a schema without a function',
    () => createModule([], { config } as never),
    /expected a function/,
  ],
  ['no schema', () => createModule(() => [], { config: 5 as never }), /expected a zod schema/],
  ['a schema of a list', () => createModule(() => [], { config: z.array(z.string()) }), /object/],
  [
    'a schema with a key of the session',
    () => createModule(() => [], { config: z.object({ cwd: z.string() }) }),
    /got `cwd`, which sets an option of the session/,
  ],
])('createModule refuses %s', (_, make, message) => {
  expect(make).toThrow(expect.toSatisfy(isMisuseError));
  expect(make).toThrow(message);
});
