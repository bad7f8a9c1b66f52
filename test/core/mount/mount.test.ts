import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { stateOf } from '../../../src/core/session/session.ts';
import {
  type Coordinator,
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type MountedTool,
  mount,
  registerHostToolsOnSession,
} from '../../../src/index.ts';
import { fromNodeBinding } from '../../../src/surfaces/amplifier/index.ts';
import {
  createTestSession,
  mockTool,
  recordEvents,
  TestCoordinator,
} from '../../../src/surfaces/testing/index.ts';
import { fakeNodeBinding } from '../../surfaces/amplifier/fake-node-binding.ts';

const toolsOf = (coordinator: Coordinator): Map<string, MountedTool> =>
  coordinator.get('tools') as Map<string, MountedTool>;
const namesOn = (coordinator: Coordinator): string[] => [...toolsOf(coordinator).keys()];
const toolOn = (coordinator: Coordinator, name: string): MountedTool =>
  coordinator.get('tools', name) as MountedTool;
const twoTools = () => [
  mockTool({ name: 'read', annotations: { readOnly: true } }),
  mockTool({ name: 'write' }),
];

/** The coordinators that a session is mounted on alike. */
const coordinators: Readonly<
  Record<
    string,
    () => Coordinator & {
      cleanup(): Promise<void>;
      collectContributions(channel: string): Promise<unknown[]>;
    }
  >
> = {
  'a coordinator that answers with promises': () => new TestCoordinator({ mode: 'async' }),
  'a coordinator that answers at once': () => new TestCoordinator({ mode: 'sync' }),
  'the Node binding': () => fromNodeBinding(fakeNodeBinding()),
};

for (const [kind, make] of Object.entries(coordinators)) {
  describe(`on ${kind}`, () => {
    test('the effective tools are mounted under their names, in effective order', async () => {
      const coordinator = make();
      const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
      expect(mounted.mounted).toEqual(['read', 'write']);
      expect(mounted.failed).toEqual([]);
      expect(namesOn(coordinator)).toEqual(['read', 'write']);
    });

    test('a mounted tool runs through the session it was mounted for', async () => {
      const coordinator = make();
      const read = mockTool({ name: 'read', output: 'text' });
      const session = createTestSession({ tools: [read], cwd: '/work' });
      await mount(session, coordinator);
      expect(await toolOn(coordinator, 'read').execute({ path: 'a' })).toMatchObject({
        success: true,
        output: 'text',
        metadata: { callId: 'call-1' },
      });
      expect(read.calls[0]?.context.cwd).toBe('/work');
    });

    test('tools that appear and vanish are mounted and unmounted', async () => {
      const coordinator = make();
      const session = createTestSession({ tools: twoTools() });
      const mounted = await mount(session, coordinator);
      session.registry.register(mockTool({ name: 'later' }));
      session.registry.unregister('write');
      await mounted.refresh();
      expect(namesOn(coordinator)).toEqual(['read', 'later']);
      expect(mounted.mounted).toEqual(['read', 'later']);
    });

    test('unmounting takes ours away and leaves the others', async () => {
      const coordinator = make();
      await coordinator.mount('tools', { name: 'theirs' }, 'theirs');
      const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
      await mounted.unmount();
      expect(namesOn(coordinator)).toEqual(['theirs']);
      expect(mounted.mounted).toEqual([]);
    });

    test("the coordinator's clean-up unmounts", async () => {
      const coordinator = make();
      const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
      await coordinator.cleanup();
      expect(namesOn(coordinator)).toEqual([]);
      expect(mounted.mounted).toEqual([]);
    });

    test('closing the session unmounts', async () => {
      const coordinator = make();
      const session = createTestSession({ tools: twoTools() });
      await mount(session, coordinator);
      await session.close();
      expect(namesOn(coordinator)).toEqual([]);
    });

    test(
      "the tools' own events are contributed, also of tools that came later, until the mount " +
        'ends',
      async () => {
        const coordinator = make();
        const session = createTestSession({
          tools: [mockTool({ name: 'browse', events: ['page_loaded', 'page_left'] })],
        });
        const mounted = await mount(session, coordinator);
        expect(await coordinator.collectContributions('observability.events')).toEqual([
          ['browse:page_loaded', 'browse:page_left'],
        ]);
        session.registry.register(mockTool({ name: 'print', events: ['printed'] }));
        expect(await coordinator.collectContributions('observability.events')).toEqual([
          ['browse:page_loaded', 'browse:page_left', 'print:printed'],
        ]);
        await mounted.unmount();
        expect(await coordinator.collectContributions('observability.events')).toEqual([[]]);
      },
    );
  });
}

describe('a mount follows its session', () => {
  test('by facts', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({
      tools: [
        mockTool({ name: 'exec', requires: [{ fact: 'hostSession.status', equals: 'ready' }] }),
      ],
    });
    const mounted = await mount(session, coordinator);
    expect(namesOn(coordinator)).toEqual([]);
    session.setFacts({ 'hostSession.status': 'ready' });
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['exec']);
    session.setFacts({ 'hostSession.status': null });
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('by profile', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({
      tools: twoTools(),
      profiles: [
        { id: 'all', tools: ['write', 'read'] },
        { id: 'reader', tools: ['read'] },
      ],
      profile: 'all',
    });
    const mounted = await mount(session, coordinator);
    expect(mounted.mounted).toEqual(['write', 'read']);
    session.setProfile('reader');
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['read']);
  });

  test('by rules and overrides', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const mounted = await mount(session, coordinator);
    const lift = session.registry.addRules([{ effect: 'deny', tools: 'write' }]);
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['read']);
    lift();
    session.setOverrides({ disable: ['read'] });
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['write']);
  });

  test("by the session's own tools", async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession();
    const mounted = await mount(session, coordinator);
    const registration = session.register(mockTool({ name: 'own' }));
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual(['own']);
    registration.unregister();
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('happens by itself, without a call to refresh', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    await mount(session, coordinator);
    session.registry.unregister('read');
    await vi.waitFor(() => expect(namesOn(coordinator)).toEqual(['write']));
  });

  test('a replaced tool is mounted anew, with its new schema', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const mounted = await mount(session, coordinator);
    const before = toolOn(coordinator, 'read');
    session.registry.registerOrReplace(
      mockTool({
        name: 'read',
        output: 'new',
        parameters: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
        },
      }),
    );
    await mounted.refresh();
    const after = toolOn(coordinator, 'read');
    expect(after).not.toBe(before);
    expect(after.input_schema).toMatchObject({ required: ['path'] });
    expect(mounted.mounted).toEqual(['read', 'write']);
  });

  test('what did not change is not mounted again', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const mounted = await mount(session, coordinator);
    session.setFacts({ any: 1 });
    await mounted.refresh();
    expect(coordinator.mountHistory.map(({ name }) => name)).toEqual(['read', 'write']);
  });

  test('changes during a refresh are not lost, and turns do not overlap', async () => {
    let busy = 0;
    let most = 0;
    const modules = new Map<string, unknown>();
    const slow = async (change: () => void): Promise<void> => {
      busy += 1;
      most = Math.max(most, busy);
      await new Promise((resolve) => setImmediate(resolve));
      change();
      busy -= 1;
    };
    const coordinator: Coordinator = {
      mount: (_point, module, name) => slow(() => void modules.set(name as string, module)),
      unmount: (_point, name) => slow(() => void modules.delete(name as string)),
      get: (_point, name) => (name === undefined ? modules : (modules.get(name) ?? null)),
    };
    const session = createTestSession({ tools: twoTools() });
    const first = mount(session, coordinator);
    session.registry.unregister('read');
    session.registry.register(mockTool({ name: 'later' }));
    const mounted = await first;
    session.registry.unregister('write');
    await mounted.refresh();
    expect([...modules.keys()]).toEqual(['later']);
    expect(most).toBe(1);
  });

  test('after unmount it follows no more', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const mounted = await mount(session, coordinator);
    await mounted.unmount();
    session.registry.register(mockTool({ name: 'later' }));
    await mounted.refresh();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test('two sessions on two coordinators do not meet', async () => {
    const [left, right] = [new TestCoordinator(), new TestCoordinator()];
    const registry = new HostToolRegistry();
    registry.registerAll([
      mockTool({ name: 'gated', requires: [{ fact: 'open', equals: true }] }),
      mockTool({ name: 'plain' }),
    ]);
    const mounts = await Promise.all([
      mount(registry.createSession({ sessionId: 'same', facts: { open: true } }), left),
      mount(registry.createSession({ sessionId: 'same' }), right),
    ]);
    expect(mounts.map(({ mounted }) => mounted)).toEqual([['gated', 'plain'], ['plain']]);
    await mounts[0].unmount();
    expect(namesOn(right)).toEqual(['plain']);
  });
});

describe('a name that is taken', () => {
  test('stays theirs, and ours is in `failed` with the remedy', async () => {
    const coordinator = new TestCoordinator();
    const theirs = { name: 'read' };
    await coordinator.mount('tools', theirs, 'read');
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
    expect(toolOn(coordinator, 'read')).toBe(theirs);
    expect(mounted.mounted).toEqual(['write']);
    expect(mounted.failed).toEqual([
      { name: 'read', error: expect.stringContaining('onConflict: "replace"') as string },
    ]);
  });

  test('is ours with onConflict "replace"', async () => {
    const coordinator = new TestCoordinator();
    await coordinator.mount('tools', { name: 'read' }, 'read');
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator, {
      onConflict: 'replace',
    });
    expect(mounted.mounted).toEqual(['read', 'write']);
    expect(await toolOn(coordinator, 'read').execute({})).toMatchObject({ success: true });
  });

  test('that becomes free is taken at the next refresh', async () => {
    const coordinator = new TestCoordinator();
    await coordinator.mount('tools', { name: 'read' }, 'read');
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
    await coordinator.unmount('tools', 'read');
    await mounted.refresh();
    expect(mounted.mounted).toContain('read');
    expect(mounted.failed).toEqual([]);
  });

  test('that other code has mounted meanwhile is left alone', async () => {
    const coordinator = new TestCoordinator();
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
    const theirs = { name: 'read' };
    await coordinator.mount('tools', theirs, 'read');
    await mounted.unmount();
    expect([...toolsOf(coordinator)]).toEqual([['read', theirs]]);
  });
});

describe('a coordinator that fails', () => {
  test('at one tool: the others are mounted, and the failure is reported', async () => {
    const coordinator = new TestCoordinator();
    const repair = coordinator.failMount('read', new Error('no room'));
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
    expect(mounted.mounted).toEqual(['write']);
    expect(mounted.failed).toEqual([{ name: 'read', error: 'no room' }]);
    repair();
    await mounted.refresh();
    expect(mounted.mounted).toEqual(['write', 'read']);
  });

  const without = 'The coordinator refused the tool without a message.';
  const thrown: [what: string, thrown: unknown, text: string][] = [
    ['nothing', undefined, 'undefined'],
    ['a text', 'no', 'no'],
    ['an error without a message', new Error(''), without],
    [
      'an error whose message is no text',
      Object.assign(new Error('x'), { message: { code: 7 } }),
      without,
    ],
    ['an object without a prototype', Object.create(null), without],
    ['a revoked proxy', revoked(), without],
  ];
  test.each(thrown)('by throwing %s still gives a text', async (_, error, text) => {
    const coordinator: Coordinator = {
      mount() {
        throw error;
      },
      unmount: () => undefined,
      get: () => null,
    };
    const mounted = await mount(
      createTestSession({ tools: [mockTool({ name: 'read' })] }),
      coordinator,
    );
    expect(mounted.failed).toEqual([{ name: 'read', error: text }]);
  });

  test('at unmounting: the rest is unmounted, and nothing throws', async () => {
    const errors: unknown[] = [];
    const inner = new TestCoordinator();
    const coordinator: Coordinator = {
      mount: (...args) => inner.mount(...args),
      get: (...args) => inner.get(...args),
      unmount: (point, name) =>
        name === 'read' ? Promise.reject(new Error('stuck')) : inner.unmount(point, name),
    };
    const session = createTestSession({
      tools: twoTools(),
      logger: {
        warn: () => undefined,
        error: (data, message) => void errors.push({ ...data, message }),
      },
    });
    const mounted = await mount(session, coordinator);
    await mounted.unmount();
    expect(namesOn(inner)).toEqual(['read']);
    expect(errors).toEqual([
      {
        err: expect.objectContaining({
          message: 'stuck',
          stack: expect.stringContaining('mount.test.ts'),
        }),
        sessionId: 'test-session',
        source: 'coordinator',
        toolName: 'read',
        message: 'unmounting a tool failed',
      },
    ]);
  });

  test('at its optional members costs nothing but them', async () => {
    const inner = new TestCoordinator();
    const contributed: unknown[] = [];
    const coordinator: Coordinator = {
      mount: (...args) => inner.mount(...args),
      get: (...args) => inner.get(...args),
      unmount: (...args) => inner.unmount(...args),
      registerCleanup: () => Promise.reject(new Error('no')),
      registerContributor: (channel) => void contributed.push(channel),
      registerCapability() {
        throw new Error('no');
      },
      get cancellation(): never {
        throw new Error('no');
      },
    };
    const mounted = await mount(createTestSession({ tools: twoTools() }), coordinator);
    expect(mounted.mounted).toEqual(['read', 'write']);
    expect(contributed).toEqual(['observability.events']);
    expect(await toolOn(inner, 'read').execute({})).toMatchObject({ success: true });
  });

  test('three members are enough', async () => {
    const inner = new TestCoordinator();
    const mounted = await mount(createTestSession({ tools: twoTools() }), {
      mount: (...args) => inner.mount(...args),
      get: (...args) => inner.get(...args),
      unmount: (...args) => inner.unmount(...args),
    });
    expect(mounted.mounted).toEqual(['read', 'write']);
  });
});

describe("a host's mistake rejects", () => {
  const session = () => createTestSession({ tools: twoTools() });
  const mistakes: [string, () => Promise<unknown>][] = [
    ['no coordinator', () => mount(session(), undefined as never)],
    ['a coordinator without `get`', () => mount(session(), { mount() {}, unmount() {} } as never)],
    [
      'an unknown onConflict',
      () => mount(session(), new TestCoordinator(), { onConflict: 'ask' as never }),
    ],
    ['no session', () => mount({} as never, new TestCoordinator())],
    [
      'a closed session',
      async () => {
        const closed = session();
        await closed.close();
        return mount(closed, new TestCoordinator());
      },
    ],
  ];
  test.each(mistakes)('%s', async (_, act) => {
    await expect(act()).rejects.toSatisfy(isMisuseError);
  });
});

describe('the mounted object', () => {
  const definition = defineTool({
    name: 'greet',
    description: 'Greets a person.',
    parameters: z.strictObject({ who: z.string() }),
    requiresApproval: true,
    handler: ({ who }) => `Hello, ${who}`,
  });
  const mounted = async (): Promise<{ tool: MountedTool; coordinator: TestCoordinator }> => {
    const coordinator = new TestCoordinator();
    await mount(
      createTestSession({ tools: [definition], approver: () => 'allow_once' }),
      coordinator,
    );
    return { tool: toolOn(coordinator, 'greet'), coordinator };
  };

  test('is a frozen plain object, never callable, with frozen members', async () => {
    const { tool } = await mounted();
    expect(typeof tool).toBe('object');
    expect(Object.isFrozen(tool)).toBe(true);
    for (const value of Object.values(tool)) expect(Object.isFrozen(value)).toBe(true);
    expect(() => Object.assign(tool, { execute: () => 'mine' })).toThrow(TypeError);
  });

  test('answers to every name by which runtimes ask for the schema and the approval', async () => {
    const { tool } = await mounted();
    expect(tool).toMatchObject({
      name: 'greet',
      description: 'Greets a person.',
      requiresApproval: true,
      requires_approval: true,
    });
    for (const schema of [
      tool.input_schema,
      tool.inputSchema,
      tool.parameters,
      tool.get_schema(),
      tool.getSchema(),
    ])
      expect(schema).toBe(definition.parameters);
  });

  test('takes an object, a JSON text, and a call id among the arguments', async () => {
    const { tool } = await mounted();
    for (const input of [
      { who: 'Ada' },
      '{"who":"Ada"}',
      { who: 'Ada', _tool_call_id: 'toolu_1' },
      '{"who":"Ada","_tool_call_id":"toolu_1"}',
    ]) {
      expect(await tool.execute(input)).toMatchObject({ success: true, output: 'Hello, Ada' });
    }
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a broken JSON text', '{"who"'],
    ['an array', []],
    ['a function', () => 1],
    ['a revoked proxy', revoked()],
    [
      'a getter that throws',
      {
        get who() {
          throw new Error('no');
        },
      },
    ],
  ])('never throws or rejects: %s', async (_, input) => {
    const { tool } = await mounted();
    expect(await tool.execute(input)).toMatchObject({
      success: false,
      error: { code: 'invalid_input' },
    });
  });

  test(
    'gives results that also tell their text, without showing it where results are compared or ' +
      'stored',
    async () => {
      const { tool } = await mounted();
      const done = await tool.execute({ who: 'Ada' });
      expect(done.get_serialized_output()).toBe('Hello, Ada');
      expect(Object.keys(done).sort()).toEqual(['metadata', 'output', 'success']);
      expect(JSON.parse(JSON.stringify(done))).not.toHaveProperty('get_serialized_output');
      const refused = await tool.execute({});
      expect(refused.error).toMatchObject({
        code: 'invalid_input',
        message: expect.any(String) as string,
      });
      expect(refused.get_serialized_output()).toMatch(/^Error: /);
    },
  );

  test('is no way around the gates', async () => {
    const write = mockTool({ name: 'write' });
    const coordinator = new TestCoordinator();
    await mount(
      createTestSession({
        tools: [write],
        rules: [
          {
            id: 'no-etc',
            effect: 'deny',
            tools: 'write',
            when: { path: { glob: '/etc/*' } },
            reason: 'outside_root',
          },
        ],
      }),
      coordinator,
    );
    expect(await toolOn(coordinator, 'write').execute({ path: '/etc/passwd' })).toMatchObject({
      success: false,
      error: { code: 'policy_denied', reason: 'outside_root', ruleId: 'no-etc' },
    });
    expect(write.callCount).toBe(0);
  });

  test('kept after its tool is gone, answers that it is not available', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({
      tools: [mockTool({ name: 'exec', requires: [{ fact: 'ready', equals: true }] })],
      facts: { ready: true },
    });
    const mount1 = await mount(session, coordinator);
    const kept = toolOn(coordinator, 'exec');
    session.setFacts({ ready: null });
    await mount1.refresh();
    expect(await kept.execute({})).toMatchObject({
      success: false,
      error: { code: 'tool_not_available' },
    });
    await session.close();
    expect(await kept.execute({})).toMatchObject({
      success: false,
      error: { code: 'session_closed' },
    });
  });

  test('marks its calls with the surface of the mount', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const log = recordEvents(session);
    await mount(session, coordinator);
    await toolOn(coordinator, 'read').execute({});
    expect(log.of('tool:pre')).toMatchObject([{ surface: 'mount' }]);
  });
});

describe('clean-up', () => {
  test('runs once, however often and by whomever it is asked for', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    const mounted = await mount(session, coordinator);
    await Promise.all([
      mounted.unmount(),
      coordinator.cleanup(),
      mounted.unmount(),
      session.close(),
    ]);
    await mounted.unmount();
    await coordinator.cleanup();
    expect(coordinator.unmountHistory.map(({ name }) => name)).toEqual(['read', 'write']);
  });

  test('a mount keeps its session open, so closing the registry unmounts', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    await mount(session, coordinator);
    await session.registry.close();
    expect(namesOn(coordinator)).toEqual([]);
  });
});

describe('cancellation', () => {
  test('a call that comes after it does not start, whatever signal it brings', async () => {
    const coordinator = new TestCoordinator();
    const read = mockTool({ name: 'read' });
    await mount(createTestSession({ tools: [read] }), coordinator);
    coordinator.requestCancel();
    expect(await toolOn(coordinator, 'read').execute({})).toMatchObject({
      success: false,
      error: { code: 'cancelled' },
    });
    expect(
      await toolOn(coordinator, 'read').execute({}, { signal: new AbortController().signal }),
    ).toMatchObject({
      success: false,
      error: { code: 'cancelled' },
    });
    expect(read.callCount).toBe(0);
    coordinator.cancellation.reset();
    expect(await toolOn(coordinator, 'read').execute({})).toMatchObject({ success: true });
  });

  test('a call takes a signal of its own', async () => {
    const coordinator = new TestCoordinator();
    await mount(
      createTestSession({ tools: [mockTool({ name: 'slow', delayMs: 60_000 })] }),
      coordinator,
    );
    const controller = new AbortController();
    const call = toolOn(coordinator, 'slow').execute({}, { signal: controller.signal });
    controller.abort();
    expect(await call).toMatchObject({ success: false, error: { code: 'cancelled' } });
  });
});

describe("the coordinator's hooks", () => {
  test('do not get mounted calls, which the orchestrator reports itself', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({
      tools: [mockTool({ name: 'read' }), mockTool({ name: 'broken', error: 'no' })],
      rules: [{ effect: 'deny', tools: 'read', when: { path: 'x' } }],
    });
    const log = recordEvents(session);
    await mount(session, coordinator);
    await toolOn(coordinator, 'read').execute({});
    await toolOn(coordinator, 'read').execute({ path: 'x' });
    await toolOn(coordinator, 'broken').execute({});
    expect(coordinator.events.getEvents()).toEqual([]);
    expect(log.of('tool:pre')).toHaveLength(3);
  });

  test('the session is a capability for other modules', async () => {
    const coordinator = new TestCoordinator();
    const session = createTestSession({ tools: twoTools() });
    await mount(session, coordinator);
    expect(coordinator.getCapability('host-tools.session')).toBe(session);
  });
});

describe('registerHostToolsOnSession', () => {
  const registry = (): HostToolRegistry => {
    const made = new HostToolRegistry();
    made.registerAll(twoTools());
    return made;
  };

  test.each<[string, (coordinator: TestCoordinator) => unknown]>([
    ['the session has it', (coordinator) => ({ coordinator })],
    ['the session inside has it', (coordinator) => ({ _amplifier_session: { coordinator } })],
    ['it is the target', (coordinator) => coordinator],
  ])('finds the coordinator where %s, and gives the mounted names', async (_, target) => {
    const coordinator = new TestCoordinator();
    expect(
      await registerHostToolsOnSession(target(coordinator), registry(), {
        sessionId: 's1',
        cwd: '/work',
      }),
    ).toEqual(['read', 'write']);
    expect(namesOn(coordinator)).toEqual(['read', 'write']);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty session', {}],
    ['a session not begun', { _amplifier_session: null }],
    ['a text', 'session'],
  ])('without a coordinator gives no names: %s', async (_, target) => {
    expect(
      await registerHostToolsOnSession(target, registry(), { sessionId: 's1', cwd: '/work' }),
    ).toEqual([]);
  });

  test('leaves out what could not be mounted', async () => {
    const coordinator = new TestCoordinator();
    coordinator.failMount('read');
    expect(
      await registerHostToolsOnSession({ coordinator }, registry(), {
        sessionId: 's1',
        cwd: '/work',
      }),
    ).toEqual(['write']);
  });

  test('the handler gets the context that was given', async () => {
    const coordinator = new TestCoordinator();
    const whoami = mockTool({
      name: 'whoami',
      handler: (_input, { sessionId, cwd, environment }) => ({
        sessionId,
        cwd,
        environment: { ...environment },
      }),
    });
    const own = new HostToolRegistry();
    own.register(whoami);
    await registerHostToolsOnSession({ coordinator }, own, {
      sessionId: 'sitzung-ä',
      cwd: '/työ',
      environment: { LANG: 'fi' },
    });
    expect(await toolOn(coordinator, 'whoami').execute({})).toMatchObject({
      output: { sessionId: 'sitzung-ä', cwd: '/työ', environment: { LANG: 'fi' } },
    });
  });

  test("its session closes with the coordinator's clean-up", async () => {
    const coordinator = new TestCoordinator();
    const own = registry();
    const log = recordEvents(own);
    await registerHostToolsOnSession({ coordinator }, own, { sessionId: 's1', cwd: '/work' });
    const kept = toolOn(coordinator, 'read');
    await coordinator.cleanup();
    expect(namesOn(coordinator)).toEqual([]);
    expect(log.of('session:end')).toHaveLength(1);
    expect(await kept.execute({})).toMatchObject({ error: { code: 'session_closed' } });
  });

  test('and with the registry', async () => {
    const coordinator = new TestCoordinator();
    const own = registry();
    await registerHostToolsOnSession({ coordinator }, own, { sessionId: 's1', cwd: '/work' });
    await own.close();
    expect(namesOn(coordinator)).toEqual([]);
  });

  test("rejects for a host's mistake", async () => {
    await expect(
      registerHostToolsOnSession({ coordinator: new TestCoordinator() }, registry(), {
        sessionId: '',
        cwd: '/work',
      }),
    ).rejects.toSatisfy(isMisuseError);
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('options of a mount', () => {
  const session = createTestSession({ tools: [mockTool({ name: 'read' })] });

  test('that do not exist are refused, with the one that was probably meant', async () => {
    await expect(
      mount(session, new TestCoordinator(), { onconflict: 'replace' } as never),
    ).rejects.toThrow('mount: unknown option `onconflict`; did you mean `onConflict`?');
  });

  test(
    'are those of the object itself: what stands on `Object.prototype` replaces no tool of the ' +
      'coordinator',
    async () => {
      const coordinator = new TestCoordinator();
      const theirs = { name: 'read' };
      await coordinator.mount('tools', theirs, 'read');
      Object.defineProperty(Object.prototype, 'onConflict', {
        value: 'replace',
        configurable: true,
      });
      try {
        await mount(session, coordinator, {});
      } finally {
        delete (Object.prototype as { onConflict?: unknown }).onConflict;
      }
      expect(coordinator.get('tools', 'read')).toBe(theirs);
    },
  );
});

describe('the capabilities of a coordinator', () => {
  test('are facts of the session while it is mounted', async () => {
    const registry = new HostToolRegistry();
    registry.register(
      defineTool({
        name: 'stream',
        description: 'Needs a coordinator that streams.',
        parameters: { type: 'object' },
        requires: [{ fact: 'coordinator.capabilities.streaming', equals: true }],
        handler: () => null,
      }),
    );
    const session = registry.createSession({ sessionId: 's' });
    for (const capabilities of [['streaming'], { streaming: {} }]) {
      const coordinator = Object.assign(new TestCoordinator(), { capabilities });
      const mounted = await mount(session, coordinator);
      expect(mounted.mounted).toEqual(['stream']);
      await mounted.unmount();
      expect(session.tools()).toEqual([]);
    }
    const plain = await mount(session, new TestCoordinator());
    expect(plain.mounted).toEqual([]);
  });

  test('never replace a fact of the host, nor remove it', async () => {
    const session = new HostToolRegistry().createSession({
      sessionId: 's',
      facts: { 'coordinator.capabilities.streaming': false },
    });
    const coordinator = Object.assign(new TestCoordinator(), { capabilities: ['streaming', 'x'] });
    const mounted = await mount(session, coordinator);
    session.setFacts({ 'coordinator.capabilities.x': 'mine' });
    expect(stateOf(session).facts).toEqual({
      'coordinator.capabilities.streaming': false,
      'coordinator.capabilities.mount': true,
      'coordinator.capabilities.x': 'mine',
    });
    await mounted.unmount();
    expect(stateOf(session).facts).toEqual({
      'coordinator.capabilities.streaming': false,
      'coordinator.capabilities.x': 'mine',
    });
  });
});
