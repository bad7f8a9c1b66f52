import { describe, expect, test, vi } from 'vitest';
import type { Coordinator, HookHandler, HookResult } from '../../../src/core/mount/coordinator.ts';
import type { CoordinatorFault } from '../../../src/surfaces/amplifier/coordinator-state.ts';
import { fromNodeBinding } from '../../../src/surfaces/amplifier/node-binding.ts';
import type { NodeBinding } from '../../../src/surfaces/amplifier/node-binding-port.ts';
import { TestCoordinator } from '../../../src/surfaces/testing/coordinator/coordinator.ts';
import { createTestNodeBinding } from '../../../src/surfaces/testing/coordinator/coordinator-node-binding.ts';
import { fakeNodeBinding } from './fake-node-binding.ts';

const git = { name: 'git', description: 'Runs git' };

describe('the stand-in for the binding', () => {
  test('has no mount, unmount, get, contributors or clean-up registration', () => {
    for (const name of [
      'mount',
      'unmount',
      'get',
      'registerContributor',
      'collectContributions',
      'registerCleanup',
      'sessionId',
    ])
      expect(name in createTestNodeBinding(), name).toBe(false);
  });

  test('register gives nothing back and needs all four arguments', () => {
    const { hooks } = createTestNodeBinding();
    expect(hooks.register('tool:pre', () => '{"action":"continue"}', 0, 'audit')).toBeUndefined();
    expect(() => (hooks.register as (...args: unknown[]) => void)('tool:pre', () => '')).toThrow();
    expect(() =>
      (hooks.register as (...args: unknown[]) => void)('tool:pre', () => '', 0.5, 'audit'),
    ).toThrow();
    expect(hooks.listHandlers()).toEqual({ 'tool:pre': ['audit'] });
  });

  test('handlers use JSON text; emit answers in PascalCase without the data', async () => {
    const { hooks } = createTestNodeBinding();
    const handler = vi.fn(
      () =>
        '{"action":"ask_user","approval_prompt":"Sure?","approval_options":["Allow"],"data":{"a":1}}',
    );
    hooks.register('tool:pre', handler, 0, 'audit');
    const result = await hooks.emit('tool:pre', '{"tool_name":"git"}');
    expect(result).toEqual({
      action: 'AskUser',
      approvalPrompt: 'Sure?',
      approvalDefault: 'Deny',
      approvalTimeout: 300,
      contextInjectionRole: 'System',
      ephemeral: false,
      suppressOutput: false,
      userMessageLevel: 'Info',
    });
    expect(handler).toHaveBeenCalledExactlyOnceWith(
      'tool:pre',
      expect.stringContaining('"tool_name":"git"'),
    );
  });

  test.each([
    ['text that is no JSON', 'NOT JSON {{'],
    ['an action in PascalCase', '{"action":"Continue"}'],
    ['an unknown action', '{"action":"perhaps"}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a reason that is no text', '{"action":"continue","reason":7}'],
    [
      'a role nobody knows',
      '{"action":"inject_context","context_injection":"x","context_injection_role":"System"}',
    ],
  ])('%s counts as a deny', async (_, answer) => {
    const { hooks } = createTestNodeBinding();
    hooks.register('tool:pre', () => answer, 0, 'odd');
    expect(await hooks.emit('tool:pre', '{}')).toMatchObject({
      action: 'Deny',
      reason: 'Hook handler returned invalid response',
    });
  });

  test('data and capabilities must be JSON text', async () => {
    const binding = createTestNodeBinding();
    await expect(binding.hooks.emit('tool:pre', '{')).rejects.toThrow();
    await expect(binding.hooks.emit('tool:pre', '{"a":"\\ud83d"}')).rejects.toThrow();
    expect(() => binding.registerCapability('a', '"\\ud83d"')).toThrow();
    expect(() => binding.registerCapability('a', '{')).toThrow();
    expect(() =>
      (binding.registerCapability as (...args: unknown[]) => void)('a', { a: 1 }),
    ).toThrow();
    expect(binding.getCapability('a')).toBeNull();
  });

  test(
    'a coordinator shows itself as its binding: same hooks, capabilities, cancellation, ' +
      'configuration, clean-up',
    async () => {
      const coordinator = new TestCoordinator();
      const binding = coordinator.asNodeBinding();
      binding.registerCapability('streaming', '{"enabled":true}');
      expect(coordinator.getCapability('streaming')).toEqual({ enabled: true });
      coordinator.hooks.register('tool:pre', () => ({ action: 'deny', reason: 'no' }));
      expect((await binding.hooks.emit('tool:pre', '{}')).action).toBe('Deny');
      coordinator.requestCancel();
      expect(binding.cancellation.isCancelled).toBe(true);
      expect(JSON.parse(binding.config)).toEqual(coordinator.config);
      const cleaned = vi.fn();
      coordinator.registerCleanup(cleaned);
      await binding.cleanup();
      expect(cleaned).toHaveBeenCalledOnce();
      await coordinator.mount('context', {});
      expect(binding.toDict()).toMatchObject({ has_context: true, capabilities: ['streaming'] });
      expect(binding.toolNames).toEqual([]);
    },
  );
});

describe('modules', () => {
  test('stay on the JavaScript side: the binding is never asked to mount and lists nothing', () => {
    const binding = fakeNodeBinding();
    const coordinator: Coordinator = fromNodeBinding(binding);
    coordinator.mount('tools', git);
    expect(coordinator.get('tools', 'git')).toBe(git);
    expect(coordinator.get('hooks')).toBe(coordinator.hooks);
    expect(binding.toolNames).toEqual([]);
  });

  test('two wrappers share nothing that was mounted', () => {
    const binding = fakeNodeBinding();
    fromNodeBinding(binding).mount('tools', git);
    expect(fromNodeBinding(binding).get('tools', 'git')).toBeNull();
  });
});

describe('capabilities', () => {
  test('that JSON can hold go to the binding as JSON text', () => {
    const binding = fakeNodeBinding();
    fromNodeBinding(binding).registerCapability('streaming', { enabled: true });
    expect(binding.getCapability('streaming')).toBe('{"enabled":true}');
  });

  test('that the binding has are read from it', () => {
    const binding = fakeNodeBinding();
    binding.registerCapability('native', '[1,2]');
    expect(fromNodeBinding(binding).getCapability('native')).toEqual([1, 2]);
  });

  const cycle: unknown[] = [];
  cycle.push(cycle);
  test.each([
    ['a function', () => 1],
    ['an object with a method', { run: () => 1 }],
    ['a class instance', new URL('https://example.invalid')],
    ['a Map', new Map([['a', 1]])],
    ['a BigInt', 1n],
    ['NaN', Number.NaN],
    ['a cycle', cycle],
    [
      'a structure that would be endless as text',
      Array.from({ length: 40 }).reduce<unknown[]>((shared) => [shared, shared], []),
    ],
    ['half of a character', ['\ud83d']],
    ['half of a character as a name', { '\ud83d': 1 }],
    ['a list with a hole', [undefined, 1]],
    ['something with a symbol key', { [Symbol('hidden')]: 1 }],
    [
      'something whose getter throws',
      {
        get secret(): never {
          throw new Error('boom');
        },
      },
    ],
  ])('%s stays on the JavaScript side, as it is', (_, value) => {
    const binding = fakeNodeBinding();
    const coordinator = fromNodeBinding(binding);
    coordinator.registerCapability('value', value);
    expect(coordinator.getCapability('value')).toBe(value);
    expect(binding.getCapability('value')).toBeNull();
  });
});

describe('clean-up', () => {
  test('runs our own newest first, then the binding\u2019s', async () => {
    const ran: string[] = [];
    const coordinator = fromNodeBinding(
      fakeNodeBinding({ onCleanup: () => void ran.push('binding') }),
    );
    coordinator.registerCleanup(() => void ran.push('first'));
    coordinator.registerCleanup(() => void ran.push('second'));
    await coordinator.cleanup();
    expect(ran).toEqual(['second', 'first', 'binding']);
  });

  test('a binding whose clean-up fails is reported, never thrown', async () => {
    const faults: CoordinatorFault[] = [];
    const binding = fakeNodeBinding({ onCleanup: () => Promise.reject(new Error('native')) });
    await fromNodeBinding(binding, { onFault: (fault) => void faults.push(fault) }).cleanup();
    expect(faults).toEqual([{ where: 'binding', name: 'cleanup', error: new Error('native') }]);
  });
});

describe('hooks', () => {
  const emit = async (
    handler: HookHandler,
    options: Parameters<typeof fromNodeBinding>[1] = {},
  ): Promise<{ result: HookResult; fatal: readonly unknown[] }> => {
    const binding = fakeNodeBinding();
    const { hooks } = fromNodeBinding(binding, options);
    hooks.register('tool:pre', handler, 0, 'mine');
    return { result: await hooks.emit('tool:pre', {}), fatal: binding.fatal };
  };

  test('a throwing handler is reported by name, and never reaches the binding', async () => {
    const onFault = vi.fn();
    const { result, fatal } = await emit(
      () => {
        throw new Error('boom');
      },
      { onFault },
    );
    expect(result.action).toBe('continue');
    expect(fatal).toEqual([]);
    expect(onFault).toHaveBeenCalledExactlyOnceWith({
      where: 'hook',
      name: 'mine',
      error: new Error('boom'),
    });
  });

  test.each([
    ['an unknown action', { action: 'perhaps' }],
    ['no action', {}],
    ['a text', 'deny'],
    ['data that JSON cannot hold', { action: 'modify', data: { big: 1n } }],
    ['data that is no object', { action: 'modify', data: 'text' }],
    [
      'an action that throws when it is read',
      {
        get action(): never {
          throw new Error('boom');
        },
      },
    ],
  ])('%s is a deny: a refusal must not be overheard', async (_, answer) => {
    const { result, fatal } = await emit(() => answer as unknown as HookResult);
    expect([result.action, result.reason]).toEqual([
      'deny',
      'Hook handler returned invalid response',
    ]);
    expect(fatal).toEqual([]);
  });

  test.each(['Deny', 'deny'])('the action %s denies', async (action) => {
    const { result } = await emit(() => ({ action, reason: 'no' }) as unknown as HookResult);
    expect([result.action, result.reason]).toEqual(['deny', 'no']);
  });

  test('the action Continue continues, though the binding itself would read a deny', async () => {
    expect(
      (await emit(() => ({ action: 'Continue' }) as unknown as HookResult)).result.action,
    ).toBe('continue');
  });

  test(
    'a handler that answers with a promise is a deny that says so, and its rejection is ' +
      'reported',
    async () => {
      const onFault = vi.fn();
      const { result } = await emit(() => Promise.reject(new Error('boom')), { onFault });
      expect([result.action, result.reason]).toEqual([
        'deny',
        'Hook handler mine returned a promise, and this binding does not wait for promises',
      ]);
      expect(onFault).toHaveBeenCalledExactlyOnceWith({
        where: 'hook',
        name: 'mine',
        error: new Error('boom'),
      });
    },
  );

  test('results are in the port\u2019s spelling', async () => {
    const { result } = await emit(() => ({
      action: 'inject_context',
      context_injection: 'note',
      context_injection_role: 'assistant',
      user_message: 'm',
      user_message_level: 'warning',
    }));
    expect(result).toMatchObject({
      action: 'inject_context',
      context_injection: 'note',
      context_injection_role: 'assistant',
      user_message: 'm',
      user_message_level: 'warning',
      data: null,
    });
  });

  test('an unregistered handler stays listed with the binding and does nothing', async () => {
    const binding = fakeNodeBinding();
    const { hooks } = fromNodeBinding(binding);
    const handler = vi.fn(() => ({ action: 'deny' }) as const);
    const unregister = hooks.register('tool:pre', handler, 0, 'mine');
    unregister();
    expect((await hooks.emit('tool:pre', {})).action).toBe('continue');
    expect(handler).not.toHaveBeenCalled();
    expect(binding.hooks.listHandlers()).toEqual({ 'tool:pre': ['mine'] });
  });

  test('half of a character costs one character, and not the event', async () => {
    const seen = vi.fn();
    const { hooks } = fromNodeBinding(fakeNodeBinding());
    hooks.setDefaultFields?.({ host: '\ud83d' });
    hooks.register('tool:pre', (_, data) => {
      seen(data);
      return { action: 'deny', reason: 'No \ud83d' };
    });
    expect(await hooks.emit('tool:pre', { '\udcca': ['a\ud83d'] })).toMatchObject({
      action: 'deny',
      reason: 'No \ufffd',
    });
    expect(seen).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ '\ufffd': ['a\ufffd'], host: '\ufffd' }),
    );
  });

  test('the data of a result includes what the binding\u2019s own handlers changed', async () => {
    const binding = fakeNodeBinding();
    binding.hooks.register(
      'tool:pre',
      (_, json) =>
        JSON.stringify({
          action: 'modify',
          data: { ...(JSON.parse(json) as object), native: true },
        }),
      99,
      'native',
    );
    const { hooks } = fromNodeBinding(binding);
    expect((await hooks.emit('tool:pre', { tool_call_id: '1' })).data).toMatchObject({
      tool_call_id: '1',
      native: true,
    });
  });

  test('a handler at the last priority still comes before the data is taken', async () => {
    const { hooks } = fromNodeBinding(fakeNodeBinding());
    hooks.register('tool:pre', () => undefined);
    await hooks.emit('tool:pre', {});
    for (const priority of [2 ** 31 - 1, Number.POSITIVE_INFINITY, 1e12])
      hooks.register(
        'tool:pre',
        (_, data) => ({ action: 'modify', data: { ...data, [String(priority)]: true } }),
        priority,
      );
    expect((await hooks.emit('tool:pre', {})).data).toMatchObject({
      '2147483647': true,
      Infinity: true,
      '1000000000000': true,
    });
  });

  test('any number is a priority', async () => {
    const { hooks } = fromNodeBinding(fakeNodeBinding());
    const ran: number[] = [];
    for (const priority of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5])
      hooks.register('tool:pre', () => void ran.push(priority), priority);
    await hooks.emit('tool:pre', {});
    expect(ran).toEqual([Number.NEGATIVE_INFINITY, Number.NaN, 1.5, Number.POSITIVE_INFINITY]);
  });

  test('emissions that cannot be distinguished get no data', async () => {
    const { hooks } = fromNodeBinding(fakeNodeBinding());
    hooks.register('tool:pre', () => undefined);
    const results = await Promise.all([1, 2, 3].map((n) => hooks.emit('tool:pre', { n })));
    for (const [index, { action, data }] of results.entries()) {
      expect(action).toBe('continue');
      expect(data === undefined || data?.n === index + 1).toBe(true);
    }
    expect((await hooks.emit('tool:pre', { n: 4 })).data?.n).toBe(4);
  });

  test('an emission of the runtime itself never gets its data mixed with ours', async () => {
    const binding = fakeNodeBinding();
    const { hooks } = fromNodeBinding(binding);
    hooks.register('tool:pre', () => undefined);
    await hooks.emit('tool:pre', {});
    for (const order of ['ours first', 'theirs first']) {
      const emitTheirs = (): Promise<unknown> => binding.hooks.emit('tool:pre', '{"from":"them"}');
      const theirs = order === 'theirs first' ? emitTheirs() : undefined;
      const ours = hooks.emit('tool:pre', { from: 'us' });
      await (theirs ?? emitTheirs());
      const { action, data } = await ours;
      expect([action, data === undefined || data?.from === 'us'], order).toEqual([
        'continue',
        true,
      ]);
    }
  });

  test('unregistering twice counts once, and other handlers keep their effect', async () => {
    const { hooks } = fromNodeBinding(fakeNodeBinding());
    const unregister = hooks.register('tool:pre', () => undefined);
    hooks.register('tool:pre', (_, data) => ({
      action: 'modify',
      data: { ...data, changed: true },
    }));
    unregister();
    unregister();
    expect((await hooks.emit('tool:pre', {})).data?.changed).toBe(true);
  });

  test('everything an answer says reaches the binding, in its spelling', async () => {
    let answered: unknown;
    const spied: NodeBinding = {
      ...createTestNodeBinding(),
      hooks: {
        register: (_, handler) => {
          answered = handler('tool:pre', '{}');
        },
        emit: async () => ({ action: 'Continue' }),
      },
    };
    const answer = {
      action: 'ask_user',
      data: { a: 1 },
      reason: 'r',
      context_injection: 'c',
      context_injection_role: 'user',
      ephemeral: true,
      append_to_last_tool_result: true,
      suppress_output: true,
      user_message: 'm',
      user_message_level: 'error',
      user_message_source: 's',
      approval_prompt: 'p',
      approval_options: ['Allow'],
      approval_timeout: 1,
      approval_default: 'allow',
    } as const satisfies Required<HookResult>;
    fromNodeBinding(spied).hooks.register('tool:pre', () => ({ ...answer, unknown: true }));
    expect(JSON.parse(String(answered))).toEqual(answer);
  });

  test('an emission of the runtime itself leaves no data behind', async () => {
    const binding = fakeNodeBinding();
    const { hooks } = fromNodeBinding(binding);
    hooks.register('tool:pre', () => undefined);
    await hooks.emit('tool:pre', { tool_call_id: 'ours' });
    const [ours] = await Promise.all([
      hooks.emit('tool:pre', { tool_call_id: 'a', from: 'us' }),
      binding.hooks.emit('tool:pre', '{"tool_call_id":"b","from":"them"}'),
    ]);
    expect(ours.data?.from).toBe('us');
    await binding.hooks.emit('tool:pre', '{"tool_call_id":"c"}');
    expect((await hooks.emit('tool:pre', { tool_call_id: 'c', from: 'us' })).data?.from).toBe('us');
  });

  test('an emission that the binding cannot make is a deny, and does not reject', async () => {
    const onFault = vi.fn();
    const { hooks } = fromNodeBinding(fakeNodeBinding(), { onFault });
    expect(await hooks.emit('tool:pre', { big: 1n })).toEqual({
      action: 'deny',
      reason: 'The event could not be emitted',
    });
    const failing: NodeBinding = {
      ...createTestNodeBinding(),
      hooks: { register: () => undefined, emit: () => Promise.reject(new Error('native')) },
    };
    expect((await fromNodeBinding(failing, { onFault }).hooks.emit('tool:pre', {})).action).toBe(
      'deny',
    );
    expect(onFault).toHaveBeenCalledTimes(2);
  });

  test('a result with an unknown action is a deny', async () => {
    const odd: NodeBinding = {
      ...createTestNodeBinding(),
      hooks: { register: () => undefined, emit: async () => ({ action: 'Perhaps' }) },
    };
    expect(await fromNodeBinding(odd).hooks.emit('tool:pre', {})).toEqual({
      action: 'deny',
      reason: 'Unknown hook action Perhaps',
    });
  });

  test('a binding that lacks what is optional still works', async () => {
    const { hooks, registerCapability, getCapability, cleanup } = createTestNodeBinding();
    const coordinator = fromNodeBinding({
      hooks: { register: hooks.register, emit: hooks.emit },
      registerCapability,
      getCapability,
      cleanup,
    });
    expect(coordinator.cancellation).toBeUndefined();
    expect(coordinator.config).toBeUndefined();
    coordinator.hooks.setDefaultFields({ a: 1 });
    coordinator.hooks.register('tool:pre', (_, data) => ({
      action: 'modify',
      data: { ...data, changed: true },
    }));
    expect((await coordinator.hooks.emit('tool:pre', {})).data?.changed).toBe(true);
  });

  test('the configuration is parsed, the cancellation token is the binding\u2019s', () => {
    const cancellation = { isCancelled: true, isGraceful: true, isImmediate: false };
    const coordinator = fromNodeBinding(
      fakeNodeBinding({ config: { key: 'value' }, cancellation }),
    );
    expect(coordinator.config).toEqual({ key: 'value' });
    expect(coordinator.cancellation).toBe(cancellation);
  });
});
