import { describe, expect, test } from 'vitest';
import {
  type Coordinator,
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type MountedTool,
} from '../../../src/index.ts';
import {
  createModule,
  fromNodeBinding,
  type ModuleConfig,
} from '../../../src/surfaces/amplifier/index.ts';
import { mockTool, recordEvents, TestCoordinator } from '../../../src/surfaces/testing/index.ts';
import { fakeNodeBinding } from './fake-node-binding.ts';

const tools = () => [mockTool({ name: 'read' }), mockTool({ name: 'write' })];
const registryWith = (): HostToolRegistry => {
  const registry = new HostToolRegistry();
  registry.registerAll([
    ...tools(),
    mockTool({ name: 'exec', requires: [{ fact: 'ready', equals: true }] }),
  ]);
  registry.defineProfile({ id: 'reader', tools: ['read'] });
  registry.defineProfile({ id: 'writer', tools: ['read', 'write'] });
  return registry;
};
const namesOn = (coordinator: Coordinator): string[] => [
  ...(coordinator.get('tools') as Map<string, unknown>).keys(),
];
const toolOn = (coordinator: Coordinator, name: string): MountedTool =>
  coordinator.get('tools', name) as MountedTool;

describe('an entry point as the loader checks it', () => {
  test(
    '`mount` is an asynchronous function of two parameters, which can be taken out of the ' +
      'module',
    async () => {
      const { mount } = createModule(tools());
      expect(mount).toHaveLength(2);
      expect(mount.constructor.name).toBe('AsyncFunction');
      expect(await mount(new TestCoordinator(), {})).toBeTypeOf('function');
    },
  );
});

describe('mount', () => {
  test('mounts the tools of a list of definitions', async () => {
    const coordinator = new TestCoordinator();
    const cleanup = await createModule(tools()).mount(coordinator, {});
    expect(namesOn(coordinator)).toEqual(['read', 'write']);
    await cleanup?.();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('mounts the tools of a registry, and follows it', async () => {
    const coordinator = new TestCoordinator({ mode: 'sync' });
    const registry = registryWith();
    const cleanup = await createModule(registry).mount(coordinator);
    expect(namesOn(coordinator)).toEqual(['read', 'write']);
    registry.unregister('read');
    registry.register(mockTool({ name: 'later' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(namesOn(coordinator)).toEqual(['write', 'later']);
    await cleanup?.();
  });

  test('works on the Node binding, once it is wrapped', async () => {
    const coordinator = fromNodeBinding(fakeNodeBinding());
    await createModule(tools()).mount(coordinator, {});
    expect(await toolOn(coordinator, 'read').execute('{}')).toMatchObject({
      success: true,
      output: 'Success',
    });
    await coordinator.cleanup();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('gives each coordinator a session of its own', async () => {
    const [left, right] = [
      new TestCoordinator({ sessionId: 'left' }),
      new TestCoordinator({ sessionId: 'right' }),
    ];
    const read = mockTool({ name: 'read' });
    const module = createModule([read]);
    const cleanup = await module.mount(left);
    await module.mount(right);
    await toolOn(left, 'read').execute({});
    await cleanup?.();
    await toolOn(right, 'read').execute({});
    expect(read.calls.map(({ context }) => context.sessionId)).toEqual(['left', 'right']);
  });

  test("results have what that runtime's orchestrators read, and stay results", async () => {
    const coordinator = new TestCoordinator();
    await createModule([
      mockTool({ name: 'list', output: ['a'] }),
      mockTool({ name: 'broken', error: 'No.' }),
    ]).mount(coordinator);
    const listed = await toolOn(coordinator, 'list').execute({});
    expect([listed.success, listed.output, listed.error, listed.get_serialized_output()]).toEqual([
      true,
      ['a'],
      undefined,
      '["a"]',
    ]);
    const broken = await toolOn(coordinator, 'broken').execute({});
    expect([
      broken.success,
      broken.error?.message,
      broken.get_serialized_output(),
      broken.metadata.status,
    ]).toEqual([false, 'No.', 'Error: No.', 'failed']);
  });
});

describe('the clean-up', () => {
  test('unmounts, closes the session, and does so once', async () => {
    const coordinator = new TestCoordinator();
    const registry = registryWith();
    const log = recordEvents(registry);
    const cleanup = await createModule(registry).mount(coordinator);
    const kept = toolOn(coordinator, 'read');
    await Promise.all([cleanup?.(), cleanup?.(), coordinator.cleanup()]);
    await cleanup?.();
    expect(log.of('session:end')).toHaveLength(1);
    expect(coordinator.unmountHistory.map(({ name }) => name)).toEqual(['read', 'write']);
    expect(await kept.execute({})).toMatchObject({ error: { code: 'session_closed' } });
  });

  test('is complete when it resolves, on a coordinator that takes its time', async () => {
    const inner = new TestCoordinator();
    const slow: Coordinator = {
      mount: (...args) => inner.mount(...args),
      get: (...args) => inner.get(...args),
      unmount: async (...args) => {
        await new Promise((resolve) => setImmediate(resolve));
        await inner.unmount(...args);
      },
    };
    const cleanup = await createModule(tools()).mount(slow);
    await cleanup?.();
    expect(namesOn(inner)).toEqual([]);
  });

  test('is registered with the coordinator, so that a careless loader leaks nothing', async () => {
    const coordinator = new TestCoordinator();
    await createModule(tools()).mount(coordinator);
    await coordinator.cleanup();
    expect(namesOn(coordinator)).toEqual([]);
  });
});

describe('the agent continues without these tools, and mount gives null', () => {
  const logged = () => {
    const warnings: string[] = [];
    return {
      warnings,
      logger: {
        warn: (_data: object, message?: string) => void warnings.push(message ?? ''),
        error: () => undefined,
      },
    };
  };

  test.each<[string, unknown]>([
    ['there is no coordinator', undefined],
    ['it cannot hold tools', {}],
    ['it is the bare Node binding', fakeNodeBinding()],
  ])('where %s', async (_, coordinator) => {
    const { warnings, logger } = logged();
    expect(await createModule(tools(), { logger }).mount(coordinator, {})).toBeNull();
    expect(warnings).toEqual([expect.stringContaining('fromNodeBinding()')]);
  });

  test('where every tool failed to mount; nothing stays open', async () => {
    const coordinator = new TestCoordinator();
    for (const name of ['read', 'write']) coordinator.failMount(name);
    const registry = registryWith();
    const log = recordEvents(registry);
    const { warnings, logger } = logged();
    expect(await createModule(registry, { logger }).mount(coordinator)).toBeNull();
    expect(log.of('session:end')).toHaveLength(1);
    expect(warnings).toEqual(['no tools were mounted: every one of them failed']);
  });

  test('where the registry is closed', async () => {
    const registry = registryWith();
    await registry.close();
    expect(await createModule(registry).mount(new TestCoordinator())).toBeNull();
  });

  test('but not where the tools may still come', async () => {
    const coordinator = new TestCoordinator();
    const registry = new HostToolRegistry();
    expect(await createModule(registry).mount(coordinator)).toBeTypeOf('function');
    registry.register(mockTool({ name: 'late' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(namesOn(coordinator)).toEqual(['late']);
  });

  test('nor where one of them could be mounted', async () => {
    const coordinator = new TestCoordinator();
    coordinator.failMount('read');
    const { warnings, logger } = logged();
    expect(await createModule(tools(), { logger }).mount(coordinator)).toBeTypeOf('function');
    expect(namesOn(coordinator)).toEqual(['write']);
    expect(warnings).toEqual(['some tools were not mounted']);
  });
});

describe('the configuration of a mount plan', () => {
  const contextOf = async (
    config: ModuleConfig | Record<string, unknown>,
    options = {},
    coordinator = new TestCoordinator(),
  ) => {
    const probe = mockTool({ name: 'probe' });
    await createModule([probe], options).mount(coordinator, config);
    await toolOn(coordinator, 'probe').execute({});
    const { context } = probe.calls[0]!;
    const { sessionId, cwd, environment, metadata } = context;
    return { sessionId, cwd, environment, metadata };
  };

  test('chooses profile and facts', async () => {
    for (const [config, names] of [
      [{ profile: 'reader' }, ['read']],
      [{ facts: { ready: true } }, ['read', 'write', 'exec']],
      [null, ['read', 'write']],
    ] as const) {
      const coordinator = new TestCoordinator();
      await createModule(registryWith()).mount(coordinator, config);
      expect(namesOn(coordinator)).toEqual(names);
    }
  });

  test('gives the session its id and surroundings', async () => {
    expect(
      await contextOf({
        session_id: 's1',
        cwd: '/work',
        environment: { A: '1' },
        metadata: { team: 'x' },
      }),
    ).toEqual({
      sessionId: 's1',
      cwd: '/work',
      environment: { A: '1' },
      metadata: { team: 'x' },
    });
    expect(await contextOf({ sessionId: 's2' })).toMatchObject({ sessionId: 's2' });
  });

  test("without an id the session has the coordinator's, else a name of ours", async () => {
    expect(await contextOf({}, {}, new TestCoordinator({ sessionId: 'theirs' }))).toMatchObject({
      sessionId: 'theirs',
    });
    expect(await contextOf({}, {}, fromNodeBinding(fakeNodeBinding()) as never)).toMatchObject({
      sessionId: 'host-tools',
    });
  });

  test('cannot change what the host fixed', async () => {
    const fixed = {
      sessionId: 'host',
      cwd: '/host',
      environment: { A: 'host' },
      metadata: { team: 'host' },
    };
    const config = {
      session_id: 'plan',
      cwd: '/plan',
      environment: { A: 'plan', B: 'plan' },
      metadata: { team: 'plan', extra: true },
    };
    expect(await contextOf(config, fixed)).toEqual({
      sessionId: 'host',
      cwd: '/host',
      environment: { A: 'host', B: 'plan' },
      metadata: { team: 'host', extra: true },
    });

    const coordinator = new TestCoordinator();
    await createModule(registryWith(), { profile: 'reader', facts: { ready: false } }).mount(
      coordinator,
      { profile: 'writer', facts: { ready: true } },
    );
    expect(namesOn(coordinator)).toEqual(['read']);
  });

  test('says what happens where a name is taken', async () => {
    for (const [config, options, output] of [
      [{}, {}, 'theirs'],
      [{ on_conflict: 'replace' }, {}, 'Success'],
      [{ onConflict: 'replace' }, {}, 'Success'],
      [{ on_conflict: 'replace' }, { onConflict: 'skip' as const }, 'theirs'],
    ] as const) {
      const coordinator = new TestCoordinator();
      await coordinator.mount(
        'tools',
        { name: 'read', execute: async () => ({ output: 'theirs' }) },
        'read',
      );
      await createModule(tools(), options).mount(coordinator, config);
      expect(await toolOn(coordinator, 'read').execute({})).toMatchObject({ output });
    }
  });

  test.each<[string, unknown]>([
    ['a text', 'reader'],
    ['an array', []],
    ['an unknown key', { profil: 'reader' }],
    ['a key that only the host may set', { approver: () => 'allow_once' }],
    ['one key under two spellings', { session_id: 'a', sessionId: 'b' }],
    ['an unknown profile', { profile: 'admin' }],
    ['a profile that is no text', { profile: 7 }],
    ['an empty session id', { session_id: '' }],
    ['facts that are none', { facts: ['ready'] }],
    ['an environment that is no text', { environment: { A: 1 } }],
    ['an unknown conflict rule', { on_conflict: 'merge' }],
  ])('that is wrong rejects, and leaves nothing mounted: %s', async (_, config) => {
    const coordinator = new TestCoordinator();
    await expect(
      createModule(registryWith()).mount(coordinator, config as never),
    ).rejects.toSatisfy(isMisuseError);
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('pollutes nothing', async () => {
    const config = JSON.parse(
      '{"metadata":{"__proto__":{"polluted":true}},"facts":{"__proto__":{"polluted":true}}}',
    ) as Record<string, unknown>;
    await createModule(tools())
      .mount(new TestCoordinator(), config)
      .catch(() => undefined);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test('definitions that no registry takes are refused when the module is made', () => {
  expect(() => createModule([mockTool({ name: 'a' }), mockTool({ name: 'a' })])).toThrow(
    expect.toSatisfy(isMisuseError),
  );
  expect(() => createModule([{ name: 'a' } as never])).toThrow(expect.toSatisfy(isMisuseError));
  expect(() => createModule(undefined as never)).toThrow(expect.toSatisfy(isMisuseError));
});

describe('definitions that need a part', () => {
  const login = () =>
    defineTool({
      name: 'login',
      description: 'Logs in.',
      parameters: { type: 'object', properties: { password: { type: 'string', secret: true } } },
      handler: () => 'in',
    });

  test('are refused when they are mounted, every time, if no registry takes them', async () => {
    const { mount } = createModule([login(), login()]);
    for (const _ of [1, 2])
      await expect(mount(new TestCoordinator(), {})).rejects.toSatisfy(isMisuseError);
  });

  test('share one registry, also if two mounts are the first', async () => {
    let running = 0;
    let most = 0;
    const slow = defineTool({
      name: 'slow',
      description: 'Runs alone in its registry.',
      parameters: { type: 'object' },
      maxConcurrency: 1,
      handler: async () => {
        most = Math.max(most, ++running);
        await new Promise((done) => setImmediate(done));
        running--;
        return 'done';
      },
    });
    const { mount } = createModule([slow, login()]);
    const coordinators = [new TestCoordinator(), new TestCoordinator()];
    await Promise.all(coordinators.map((coordinator) => mount(coordinator, {})));
    await Promise.all(coordinators.map((coordinator) => toolOn(coordinator, 'slow').execute({})));
    expect(most).toBe(1);
  });
});

test('an executor stays when the first mount makes the registry', async () => {
  let disposed = 0;
  const remote = defineTool({
    name: 'remote',
    description: 'Runs elsewhere.',
    parameters: { type: 'object' },
    executor: {
      execute: async () => 'there',
      dispose: async () => {
        disposed++;
      },
    },
  });
  const { mount } = createModule([remote]);
  const coordinator = new TestCoordinator();
  await mount(coordinator, {});
  expect((await toolOn(coordinator, 'remote').execute({})).success).toBe(true);
  expect(disposed).toBe(0);
});
