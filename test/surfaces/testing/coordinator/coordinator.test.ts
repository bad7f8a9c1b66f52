import { describe, expect, test, vi } from 'vitest';
import type { HookResult } from '../../../../src/core/mount/coordinator.ts';
import { TestCoordinator } from '../../../../src/surfaces/testing/coordinator/coordinator.ts';
import { EventRecorder } from '../../../../src/surfaces/testing/coordinator/event-recorder-coordinator.ts';
import { isMisuseError } from '../../../../src/values/errors/index.ts';

const git = { name: 'git', description: 'Runs git' };

describe('what a test finds without setting anything up', () => {
  const coordinator = new TestCoordinator();

  test(
    'the session, the configuration and the mount points of the runtime\u2019s own test ' +
      'coordinator',
    () => {
      expect(coordinator.sessionId).toBe('test-session');
      expect(coordinator.parentId).toBeNull();
      expect(coordinator.config).toEqual({
        session: { orchestrator: 'test-orchestrator', context: 'test-context' },
      });
      expect(coordinator.mountPoints.sort()).toEqual([
        'context',
        'hooks',
        'module-source-resolver',
        'orchestrator',
        'providers',
        'tools',
      ]);
    },
  );

  test('get("hooks") is the hook registry', () => {
    expect(coordinator.get('hooks')).toBe(coordinator.hooks);
  });

  test('each of them can be given', () => {
    const given = new TestCoordinator({ sessionId: 's', parentId: 'p', config: { a: 1 } });
    expect([given.sessionId, given.parentId, given.config]).toEqual(['s', 'p', { a: 1 }]);
  });

  test('an unknown mode is refused', () => {
    expect(() => new TestCoordinator({ mode: 'later' as 'sync' })).toThrow(
      'TestCoordinator: expected `mode` to be "async" or "sync", got `later`',
    );
  });
});

describe('modes', () => {
  test('async: mount and unmount return promises, and change nothing until awaited', async () => {
    const coordinator = new TestCoordinator();
    const mounting = coordinator.mount('tools', git);
    expect(mounting).toBeInstanceOf(Promise);
    expect(coordinator.get('tools', 'git')).toBeNull();
    await mounting;
    expect(coordinator.get('tools', 'git')).toBe(git);
    const unmounting = coordinator.unmount('tools', 'git');
    expect(coordinator.get('tools', 'git')).toBe(git);
    expect(await unmounting).toBeUndefined();
    expect(coordinator.get('tools', 'git')).toBeNull();
  });

  test('sync: mount and unmount give nothing and are done', () => {
    const coordinator = new TestCoordinator({ mode: 'sync' });
    expect(coordinator.mount('tools', git)).toBeUndefined();
    expect(coordinator.get('tools', 'git')).toBe(git);
    expect(coordinator.unmount('tools', 'git')).toBeUndefined();
    expect(coordinator.get('tools', 'git')).toBeNull();
  });

  test('a refusal rejects in mode async and throws in mode sync, as a MisuseError', async () => {
    const error = await new TestCoordinator()
      .mount('nowhere', git)
      ?.catch((caught: unknown) => caught);
    expect(isMisuseError(error)).toBe(true);
    expect(() => new TestCoordinator({ mode: 'sync' }).mount('nowhere', git)).toThrow(
      'Unknown mount point: nowhere',
    );
  });

  test('a refused mount that is not awaited is not an unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    const coordinator = new TestCoordinator();
    coordinator.failMount('git');
    void coordinator.mount('tools', git);
    void coordinator.mount('nowhere', git);
    void coordinator.unmount('tools');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

describe('get("tools")', () => {
  test('is the one live Map, in the order of mounting', async () => {
    const coordinator = new TestCoordinator();
    const tools = coordinator.get('tools') as Map<string, unknown>;
    expect(tools).toBeInstanceOf(Map);
    await coordinator.mount('tools', git);
    await coordinator.mount('tools', git, '__proto__');
    expect([...tools.keys()]).toEqual(['git', '__proto__']);
    expect(coordinator.get('tools')).toBe(tools);
  });
});

describe.each(['sync', 'async'] as const)('histories, mode %s', (mode) => {
  const attempt = async (call: () => unknown): Promise<void> => {
    try {
      await call();
    } catch {
      // Refused, as the test wants.
    }
  };

  test('every mount is recorded as it was asked for, refused ones too', async () => {
    const coordinator = new TestCoordinator({ mode });
    const undo = coordinator.failMount('broken');
    await coordinator.mount('tools', git);
    await coordinator.mount('tools', git, 'vcs');
    await attempt(() => coordinator.mount('nowhere', git, 'x'));
    await attempt(() => coordinator.mount('tools', {}));
    await attempt(() => coordinator.mount('tools', git, 'broken'));
    undo();
    expect(coordinator.mountHistory).toEqual([
      { mountPoint: 'tools', module: git, name: undefined },
      { mountPoint: 'tools', module: git, name: 'vcs' },
      { mountPoint: 'nowhere', module: git, name: 'x' },
      { mountPoint: 'tools', module: {}, name: undefined },
      { mountPoint: 'tools', module: git, name: 'broken' },
    ]);
  });

  test('every unmount is recorded with what was mounted', async () => {
    const coordinator = new TestCoordinator({ mode });
    await coordinator.mount('tools', git);
    await coordinator.unmount('tools', 'git');
    await coordinator.unmount('tools', 'git');
    await attempt(() => coordinator.unmount('tools'));
    await attempt(() => coordinator.unmount('nowhere', 'x'));
    expect(coordinator.unmountHistory).toEqual([
      { mountPoint: 'tools', module: git, name: 'git' },
      { mountPoint: 'tools', module: undefined, name: 'git' },
      { mountPoint: 'tools', module: undefined, name: undefined },
      { mountPoint: 'nowhere', module: undefined, name: 'x' },
    ]);
  });

  test('failMount fails mounts of that name, given or inferred, until undone', async () => {
    const coordinator = new TestCoordinator({ mode });
    const undo = coordinator.failMount('git', new Error('disk full'));
    const failed = async (): Promise<unknown> => coordinator.mount('tools', git);
    await expect(failed()).rejects.toThrow('disk full');
    await coordinator.mount('tools', git, 'vcs');
    expect(coordinator.get('tools', 'git')).toBeNull();
    undo();
    await coordinator.mount('tools', git);
    expect(coordinator.get('tools', 'git')).toBe(git);
  });

  test('failMount leaves an older module of that name in place', async () => {
    const coordinator = new TestCoordinator({ mode });
    await coordinator.mount('tools', git);
    coordinator.failMount('git');
    await attempt(() => coordinator.mount('tools', { name: 'git' }));
    expect(coordinator.get('tools', 'git')).toBe(git);
  });
});

describe('survived failures are reported', () => {
  test('failures of hooks, contributors and clean-ups are in faults, in order', async () => {
    const coordinator = new TestCoordinator();
    const fails = (message: string) => () => Promise.reject(new Error(message));
    coordinator.hooks.register('tool:pre', fails('hook'), 0, 'audit');
    coordinator.registerContributor('channel', 'contributor', fails('contributor'));
    coordinator.registerCleanup(fails('cleanup'));
    await coordinator.hooks.emit('tool:pre');
    await coordinator.collectContributions('channel');
    await coordinator.cleanup();
    expect(
      coordinator.faults.map(({ where, name, error }) => [where, name, (error as Error).message]),
    ).toEqual([
      ['hook', 'audit', 'hook'],
      ['contributor', 'contributor', 'contributor'],
      ['cleanup', '', 'cleanup'],
    ]);
  });

  test('a clean-up that asks for a clean-up does not wait for itself', async () => {
    const coordinator = new TestCoordinator();
    const ran: string[] = [];
    coordinator.registerCleanup(() => void ran.push('older'));
    coordinator.registerCleanup(async () => {
      await coordinator.cleanup();
      ran.push('newer');
    });
    await coordinator.cleanup();
    expect(ran).toEqual(['newer', 'older']);
  });
});

describe('events', () => {
  test('every emission is recorded as it was emitted, heard or not', async () => {
    const coordinator = new TestCoordinator();
    coordinator.hooks.register('tool:pre', () => ({ action: 'modify', data: { changed: true } }));
    await coordinator.hooks.emit('tool:pre', { tool_name: 'git' });
    await coordinator.hooks.emit('session:end');
    expect(coordinator.events.getEvents()).toEqual([
      ['tool:pre', { tool_name: 'git' }],
      ['session:end', {}],
    ]);
    expect(coordinator.events.getEvents('session:end')).toHaveLength(1);
    coordinator.events.clear();
    expect(coordinator.events.getEvents()).toEqual([]);
  });

  test('record is a handler that lets everything continue', async () => {
    const coordinator = new TestCoordinator({ now: () => 0 });
    const recorder = new EventRecorder();
    coordinator.hooks.register('tool:pre', recorder.record);
    expect((await coordinator.hooks.emit('tool:pre', { tool_name: 'git' })).action).toBe(
      'continue',
    );
    expect(recorder.getEvents()).toEqual([
      ['tool:pre', { tool_name: 'git', timestamp: '1970-01-01T00:00:00.000Z' }],
    ]);
    expect(await recorder.emit('session:end')).toEqual({ action: 'continue' });
    expect(recorder.getEvents('session:end')).toEqual([['session:end', {}]]);
  });
});

describe('approval', () => {
  const asked: HookResult = { action: 'ask_user', approval_prompt: 'Push to main?' };

  const answers: readonly [answer: string, action: string, reason?: string][] = [
    ['Allow', 'continue'],
    ['ALLOW ONCE', 'continue'],
    ['allow always', 'continue'],
    ['Deny', 'deny', 'User denied: Push to main?'],
    ['Allow now', 'deny', 'User denied: Push to main?'],
    ['Disallow', 'deny', 'User denied: Push to main?'],
    ['Yes', 'deny', 'User denied: Push to main?'],
    ['', 'deny', 'User denied: Push to main?'],
    ['timeout', 'deny', 'Approval timeout - denied by default: Push to main?'],
  ];
  test.each(answers)('the answer %j ends as %s', async (answer, action, reason) => {
    const coordinator = new TestCoordinator({ approval: answer });
    const settled = await coordinator.processHookResult(asked);
    expect([settled.action, settled.reason]).toEqual([action, reason]);
  });

  test('without an answer, a call passes only if the hook says so', async () => {
    expect(
      (await new TestCoordinator().processHookResult({ ...asked, approval_default: 'allow' }))
        .action,
    ).toBe('continue');
    expect((await new TestCoordinator().processHookResult(asked)).action).toBe('deny');
  });

  test('without an approval system the answer is no', async () => {
    const settled = await new TestCoordinator({ approval: null }).processHookResult(asked);
    expect(settled).toEqual({ action: 'deny', reason: 'No approval system available' });
  });

  test('requests are recorded with the defaults of the runtime', async () => {
    const coordinator = new TestCoordinator();
    coordinator.approval?.answerWith(({ options }) => options[0] ?? '');
    expect((await coordinator.processHookResult({ action: 'ask_user' })).action).toBe('continue');
    expect(coordinator.approval?.requests).toEqual([
      {
        prompt: 'Allow this operation?',
        options: ['Allow', 'Deny'],
        timeout: 300,
        default: 'deny',
      },
    ]);
  });

  test('a long prompt is cut in the reason', async () => {
    const settled = await new TestCoordinator({ approval: 'no' }).processHookResult({
      action: 'ask_user',
      approval_prompt: 'x'.repeat(1_000),
    });
    expect(settled.reason).toBe(`User denied: ${'x'.repeat(200)}`);
  });

  test('a result that asks no one is returned unchanged', async () => {
    const result: HookResult = { action: 'deny', reason: 'no' };
    expect(await new TestCoordinator().processHookResult(result)).toBe(result);
  });
});

describe('cancellation', () => {
  test('goes from none to graceful to immediate, never back but by reset', () => {
    const { cancellation } = new TestCoordinator();
    const state = (): boolean[] => [
      cancellation.isCancelled,
      cancellation.isGraceful === true,
      cancellation.isImmediate === true,
    ];
    expect(state()).toEqual([false, false, false]);
    cancellation.requestGraceful();
    expect(state()).toEqual([true, true, false]);
    cancellation.requestImmediate();
    cancellation.requestGraceful();
    expect(state()).toEqual([true, false, true]);
    cancellation.reset();
    expect(state()).toEqual([false, false, false]);
  });

  test('requestCancel is graceful by default', () => {
    const coordinator = new TestCoordinator();
    coordinator.requestCancel();
    expect(coordinator.cancellation.isGraceful).toBe(true);
    coordinator.requestCancel(true);
    expect(coordinator.cancellation.isImmediate).toBe(true);
  });
});

test('toDict lists what is mounted', async () => {
  const coordinator = new TestCoordinator();
  coordinator.resetTurn();
  await coordinator.mount('tools', git);
  await coordinator.mount('context', {});
  coordinator.registerCapability('spawn', () => 1);
  expect(coordinator.toDict()).toEqual({
    tools: ['git'],
    providers: [],
    has_orchestrator: false,
    has_context: true,
    capabilities: ['spawn'],
  });
  expect(coordinator.channels).toEqual(new Map());
});
