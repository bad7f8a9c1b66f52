import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HookAction, HookResult } from '../../../../src/core/mount/coordinator.ts';
import {
  createTestHooks,
  hookResultDefaults,
} from '../../../../src/surfaces/testing/coordinator/coordinator-hooks.ts';

describe('timestamp', () => {
  test('comes from the clock that is given, over what the emitter says', async () => {
    const hooks = createTestHooks({ now: () => Date.UTC(2025, 0, 2, 3, 4, 5, 6) });
    hooks.setDefaultFields({ timestamp: 'default', session_id: 's' });
    hooks.register('tool:pre', () => undefined);
    const { data } = await hooks.emit('tool:pre', { timestamp: 'mine', tool_name: 'git' });
    expect(data).toEqual({
      timestamp: '2025-01-02T03:04:05.006Z',
      session_id: 's',
      tool_name: 'git',
    });
  });
});

describe('results', () => {
  test('have every field, with the defaults of the runtime', async () => {
    const hooks = createTestHooks();
    const data = { tool_name: 'git' };
    expect(await hooks.emit('nobody:listens', data)).toEqual({
      ...hookResultDefaults,
      action: 'continue',
      data,
    });
    expect(hookResultDefaults).toMatchObject({
      context_injection_role: 'system',
      ephemeral: false,
      approval_options: null,
      approval_timeout: 300,
      approval_default: 'deny',
      user_message_level: 'info',
    });
  });

  test('a deny that wins keeps all its fields', async () => {
    const hooks = createTestHooks();
    const deny: HookResult = {
      action: 'deny',
      reason: 'no',
      user_message: 'Stopped',
      user_message_level: 'error',
      data: { why: 1 },
    };
    hooks.register('tool:pre', () => deny);
    expect(await hooks.emit('tool:pre', {})).toMatchObject(deny);
  });

  test('when ask_user wins, data that was changed is lost', async () => {
    const hooks = createTestHooks();
    hooks.register('tool:pre', () => ({ action: 'modify', data: { changed: true } }));
    hooks.register('tool:pre', () => ({ action: 'ask_user', approval_prompt: 'Sure?' }));
    expect((await hooks.emit('tool:pre', {})).data).toBeNull();
  });

  test('the precedence is deny, ask_user, inject_context, continue, in any order', async () => {
    const actions: HookAction[] = ['continue', 'modify', 'inject_context', 'ask_user', 'deny'];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...actions), fc.integer({ min: -3, max: 3 })), {
          maxLength: 8,
        }),
        async (handlers) => {
          const hooks = createTestHooks({ now: () => 0 });
          for (const [action, priority] of handlers)
            hooks.register(
              'tool:pre',
              () => ({ action, context_injection: 'note', data: { action } }),
              priority,
            );
          const given = new Set(handlers.map(([action]) => action));
          const expected =
            (['deny', 'ask_user', 'inject_context'] as const).find((action) => given.has(action)) ??
            'continue';
          expect((await hooks.emit('tool:pre', {})).action).toBe(expected);
        },
      ),
    );
  });

  test('an answer whose fields throw when they are read is a handler that throws', async () => {
    const onFault = vi.fn();
    const hooks = createTestHooks({ onFault });
    hooks.register('tool:pre', () => ({
      action: 'modify',
      get data(): never {
        throw new Error('boom');
      },
    }));
    expect(await hooks.emit('tool:pre', {})).toMatchObject({ action: 'continue' });
    expect(onFault).toHaveBeenCalledOnce();
  });

  test('an answer that is no hook result is a fault and continues', async () => {
    for (const nonsense of [7, 'deny', {}, { action: 'Deny' }, { action: 'toString' }, []]) {
      const onFault = vi.fn();
      const hooks = createTestHooks({ onFault });
      hooks.register('tool:pre', () => nonsense as unknown as HookResult, 0, 'odd');
      expect((await hooks.emit('tool:pre', {})).action).toBe('continue');
      expect(onFault).toHaveBeenCalledExactlyOnceWith({
        where: 'hook',
        name: 'odd',
        error: expect.any(TypeError) as unknown,
      });
    }
  });
});

describe('registrations', () => {
  test('an emission keeps the handlers it began with', async () => {
    const hooks = createTestHooks();
    const ran: string[] = [];
    hooks.register('tool:pre', () => {
      ran.push('first');
      unregister();
      hooks.register('tool:pre', () => void ran.push('third'));
    });
    const unregister = hooks.register('tool:pre', () => void ran.push('second'));
    await hooks.emit('tool:pre', {});
    expect(ran).toEqual(['first', 'second']);
    ran.length = 0;
    await hooks.emit('tool:pre', {});
    expect(ran.slice(0, 2)).toEqual(['first', 'third']);
  });

  test('are listed by event in the order in which they run, and leave nothing behind', () => {
    const hooks = createTestHooks();
    const undo = [
      hooks.register('__proto__', () => undefined, 5, 'late'),
      hooks.register('__proto__', () => undefined, -5, 'early'),
      hooks.register('other', () => undefined),
    ];
    expect(hooks.listHandlers()).toEqual(
      new Map([
        ['__proto__', ['early', 'late']],
        ['other', ['handler-3']],
      ]),
    );
    for (const fn of undo) fn();
    expect(hooks.listHandlers()).toEqual(new Map());
  });

  test('a listener for faults that throws or rejects affects nothing', async () => {
    for (const onFault of [
      () => {
        throw new Error('listener');
      },
      () => Promise.reject(new Error('listener')) as unknown as undefined,
    ]) {
      const hooks = createTestHooks({ onFault });
      hooks.register('tool:pre', () => {
        throw new Error('boom');
      });
      expect((await hooks.emit('tool:pre', {})).action).toBe('continue');
    }
  });
});

describe('emitAndCollect', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('gives each handler one second by default, and continues', async () => {
    const onFault = vi.fn();
    const hooks = createTestHooks({ onFault });
    hooks.register('resolve', () => new Promise(() => undefined), 0, 'stuck');
    hooks.register('resolve', () => ({ action: 'continue', data: { id: 1 } }));
    const collecting = hooks.emitAndCollect('resolve');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await collecting).toEqual([{ id: 1 }]);
    expect(onFault).toHaveBeenCalledExactlyOnceWith({
      where: 'hook',
      name: 'stuck',
      error: new Error('No answer within 1000 ms'),
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a late rejection is swallowed', async () => {
    const hooks = createTestHooks();
    hooks.register('resolve', async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      throw new Error('late');
    });
    const collecting = hooks.emitAndCollect('resolve', {}, 10);
    await vi.advanceTimersByTimeAsync(100);
    expect(await collecting).toEqual([]);
  });

  test('an event without handlers collects nothing', async () => {
    expect(await createTestHooks().emitAndCollect('nobody:listens')).toEqual([]);
  });
});
