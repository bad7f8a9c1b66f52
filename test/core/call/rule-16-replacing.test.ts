import { describe, expect, test, vi } from 'vitest';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { gate, outcome, tool, turns, world } from './world.ts';

const changes = (source: Pick<HostToolRegistry, 'events'>): unknown[] => {
  const seen: unknown[] = [];
  source.events.on(
    'tools:changed',
    ({ added, removed, modified }) => void seen.push({ added, removed, modified }),
  );
  return seen;
};

describe('rule 16: unregistering and replacing', () => {
  test('a session sees it at its next listing and its next call', async () => {
    const w = world();
    w.add(tool(() => 'old', { name: 'a' }));
    expect(w.session.tools().map(({ name }) => name)).toContain('a');
    const bound = w.session.tool('a');
    w.registry.registerOrReplace(tool(() => 'new', { name: 'a', description: 'Newer.' }));
    expect(w.session.tool('a')?.description).toBe('Newer.');
    expect(outcome(await (bound as NonNullable<typeof bound>).execute({}))).toBe('new');
    w.registry.unregister('a');
    expect(w.session.effectiveTools().names).not.toContain('a');
    expect(outcome(await (bound as NonNullable<typeof bound>).execute({}))).toBe(
      'tool_not_available',
    );
  });

  test('`tools:changed` fires once on the registry and once on each affected session', () => {
    const registry = new HostToolRegistry();
    registry.registerAll([tool(() => 1, { name: 'a' }), tool(() => 1, { name: 'b' })]);
    registry.defineProfile({ id: 'only_b', tools: ['b'] });
    const all = registry.createSession({ sessionId: 'all' });
    const narrow = registry.createSession({ sessionId: 'narrow', profile: 'only_b' });
    const [onRegistry, onAll, onNarrow] = [changes(registry), changes(all), changes(narrow)];
    registry.registerOrReplace(tool(() => 2, { name: 'a' }));
    registry.unregister('a');
    registry.registerAll([tool(() => 1, { name: 'c' }), tool(() => 1, { name: 'd' })]);
    const none = { added: [], removed: [], modified: [] };
    const expected = [
      { ...none, modified: ['a'] },
      { ...none, removed: ['a'] },
      { ...none, added: ['c', 'd'] },
    ];
    expect(onRegistry).toEqual(expected);
    expect(onAll).toEqual(expected);
    expect(onNarrow).toEqual([]);
  });

  test("a later registry tool takes a session tool's name and informs the session", async () => {
    const registry = new HostToolRegistry();
    const session = registry.createSession({ sessionId: 's' });
    session.register(tool(() => 'mine', { name: 'a' }));
    session.register(tool(() => 'mine', { name: 'my-tool' }));
    const seen = changes(session);
    registry.register(tool(() => 'host', { name: 'a' }));
    registry.register(tool(() => 'host', { name: 'My_Tool' }));
    expect(outcome(await session.call('a'))).toBe('host');
    expect(outcome(await session.call('my-tool'))).toBe('tool_not_found');
    expect(seen).toEqual([
      { added: [], removed: [], modified: ['a'] },
      { added: ['My_Tool'], removed: ['my-tool'], modified: [] },
    ]);
  });

  test('a started call finishes on its definition, with its schema and budget', async () => {
    const w = world();
    const hold = gate();
    w.add(
      tool(
        async () => {
          await hold.promise;
          return 'old'.repeat(100);
        },
        { name: 'a' },
      ),
    );
    const running = w.session.call('a');
    w.registry.registerOrReplace(
      tool(() => 1, { name: 'a', maxOutputChars: 10, outputSchema: { type: 'number' } }),
    );
    hold.open();
    expect((await running).output).toBe('old'.repeat(100));
    await w.settle();
  });

  test.each([
    [
      'a person',
      { requiresApproval: true },
      {
        approver: async () => {
          await waiting.promise;
          return 'allow_once' as const;
        },
      },
    ],
    [
      'a policy',
      {
        policy: {
          check: async () => {
            await waiting.promise;
            return { effect: 'allow' as const };
          },
        },
      },
      {},
    ],
    [
      'a hook',
      {},
      {
        hooks: [
          {
            before: async () => {
              await waiting.promise;
            },
          },
        ],
      },
    ],
  ])(
    'one that waits for %s ends as `tool_not_available`, reason `removed`',
    async (_, more, options) => {
      for (const change of ['unregister', 'replace', 'update'] as const) {
        waiting = gate();
        const w = world(options);
        const handler = vi.fn();
        const registration = w.registry.register(tool(handler, { name: 'a', ...more }));
        const called = w.session.call('a');
        await turns();
        if (change === 'unregister') w.registry.unregister('a');
        else if (change === 'replace') w.registry.registerOrReplace(tool(handler, { name: 'a' }));
        else registration.update({ description: 'Newer.' });
        waiting.open();
        expect((await called).error).toMatchObject({
          code: 'tool_not_available',
          reason: 'removed',
        });
        expect(handler).not.toHaveBeenCalled();
        await w.settle();
      }
    },
  );

  test(
    '`drain()` waits for calls in flight, also for those on a definition that was updated ' +
      'meanwhile',
    async () => {
      const w = world();
      const hold = gate();
      const registration = w.registry.register(tool(() => hold.promise, { name: 'a' }));
      const running = w.session.call('a');
      registration.update({ description: 'Newer.' });
      let drained = false;
      const drain = registration.drain().then(() => {
        drained = true;
      });
      await turns();
      expect(drained).toBe(false);
      registration.unregister();
      await turns();
      expect(drained).toBe(false);
      hold.open();
      await running;
      await drain;
      await registration.drain();
    },
  );

  test(
    'a session-scoped handler is disposed when its tool is replaced, but not under a call that ' +
      'runs on it',
    async () => {
      const w = world();
      const hold = gate();
      const dispose = vi.fn();
      w.add(
        tool(undefined as never, {
          name: 'a',
          handler: undefined,
          create: () => ({
            handler: async () => {
              await hold.promise;
              return dispose.mock.calls.length;
            },
            dispose,
          }),
        }),
      );
      const running = w.session.call('a');
      await turns();
      w.registry.registerOrReplace(tool(() => 'new', { name: 'a' }));
      expect(outcome(await w.session.call('a'))).toBe('new');
      await turns();
      expect(dispose).not.toHaveBeenCalled();
      hold.open();
      expect((await running).output).toBe(0);
      await turns();
      expect(dispose).toHaveBeenCalledTimes(1);
    },
  );

  test(
    'disabling refuses calls and hides the tool until it is enabled again; a handle of a tool ' +
      'that is gone does nothing',
    async () => {
      const w = world();
      const registration = w.registry.register(tool(() => 'ran', { name: 'a' }));
      registration.disable();
      expect((await w.session.call('a')).error).toMatchObject({
        code: 'tool_not_available',
        reason: 'disabled',
      });
      expect(w.session.effectiveTools().dropped).toContainEqual({ name: 'a', code: 'disabled' });
      registration.enable();
      expect(outcome(await w.session.call('a'))).toBe('ran');
      w.registry.unregister('a');
      w.registry.register(tool(() => 'other', { name: 'a' }));
      registration.disable();
      expect(registration.unregister()).toBe(false);
      expect(outcome(await w.session.call('a'))).toBe('other');
    },
  );

  test('metrics keep what a removed tool has done', async () => {
    const w = world();
    w.add(tool(() => 1, { name: 'a' }));
    await w.session.call('a');
    w.registry.unregister('a');
    await w.session.call('a');
    expect(w.session.metrics()).toMatchObject({ calls: 2, succeeded: 1, rejected: 1 });
  });
});

let waiting = gate();

describe('an executor is disposed when nothing runs on it any more', () => {
  const remote = (hold: Promise<void> = Promise.resolve()) => {
    const dispose = vi.fn();
    const executor = {
      kind: 'remote' as const,
      execute: async () => {
        await hold;
        return 'done';
      },
      dispose,
    };
    return { dispose, executor };
  };
  const on = (name: string, executor: ReturnType<typeof remote>['executor']) =>
    defineTool({ name, description: 'Runs elsewhere.', parameters: { type: 'object' }, executor });

  test('after it was unregistered and its last call has ended', async () => {
    const hold = gate();
    const { dispose, executor } = remote(hold.promise);
    const registry = new HostToolRegistry();
    registry.register(on('far', executor));
    const running = registry.createSession({ sessionId: 's' }).call('far', {});
    registry.unregister('far');
    await turns();
    expect(dispose).not.toHaveBeenCalled();
    hold.open();
    expect(await running).toMatchObject({ success: true, output: 'done' });
    await turns();
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test(
    'not while another tool shares it, and once when the registry closes; one that throws ' +
      'affects nothing',
    async () => {
      const { dispose, executor } = remote();
      dispose.mockRejectedValue(new Error('mine'));
      const registry = new HostToolRegistry();
      registry.registerAll([
        on('far', executor),
        on('further', executor),
        on('farthest', executor),
      ]);
      registry.unregister('far');
      await turns();
      expect(dispose).not.toHaveBeenCalled();
      await registry.close();
      expect(dispose).toHaveBeenCalledTimes(1);
    },
  );

  test('once, when all its users are gone, and never while a call runs on it', async () => {
    const hold = gate();
    const { dispose, executor } = remote(hold.promise);
    const registry = new HostToolRegistry();
    registry.registerAll([on('far', executor), on('further', executor), on('farthest', executor)]);
    const running = registry.createSession({ sessionId: 's' }).call('further', {});
    expect(registry.clear()).toBe(3);
    await turns();
    expect(dispose).not.toHaveBeenCalled();
    hold.open();
    expect(await running).toMatchObject({ success: true });
    await turns();
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test('not by an update, which keeps it; by a replacement that runs otherwise', async () => {
    const { dispose, executor } = remote();
    const registry = new HostToolRegistry();
    registry.register(on('far', executor)).update({ description: 'Newer.' });
    await turns();
    expect(dispose).not.toHaveBeenCalled();
    registry.registerOrReplace(tool(() => 'near', { name: 'far' }));
    await turns();
    expect(dispose).toHaveBeenCalledTimes(1);
  });

  test('of a session tool: with the session', async () => {
    const { dispose, executor } = remote();
    const session = new HostToolRegistry().createSession({ sessionId: 's' });
    session.register(on('far', executor));
    expect(await session.call('far', {})).toMatchObject({ output: 'done' });
    await session.close();
    expect(dispose).toHaveBeenCalledTimes(1);
  });
});
