/** Conformance rules: the hook pipeline. */
import assert from 'node:assert/strict';
import {
  answer,
  emitThrough,
  event,
  hooksOf,
  type RuleBody,
  rules,
} from './coordinator-conformance-rule.ts';

export const hookRules: readonly RuleBody[] = rules('hooks', {
  'an event without handlers continues': async (target) => {
    assert.equal((await hooksOf(target).emit('no:handlers', {})).action, 'continue');
  },
  'a handler sees the event and its data': async (target) => {
    let seen: unknown;
    hooksOf(target).register(event, (name, data) => {
      seen = [name, data.tool_name, data.tool_input];
    });
    await hooksOf(target).emit(event, {
      tool_name: 'git',
      tool_input: { args: ['status'], deep: { __proto__: null } },
    });
    assert.equal(JSON.stringify(seen), '["tool:pre","git",{"args":["status"],"deep":{}}]');
  },
  'a handler that returns nothing continues': async (target) => {
    assert.equal((await emitThrough(target, [() => undefined, () => null])).action, 'continue');
  },
  'lower priority runs first, equals in the order of registration': async (target) => {
    const ran: string[] = [];
    for (const [name, priority] of [
      ['late', 10],
      ['a', 0],
      ['early', -5],
      ['b', 0],
    ] as const)
      hooksOf(target).register(
        event,
        () => {
          ran.push(name);
        },
        priority,
        name,
      );
    hooksOf(target).register(event, () => {
      ran.push('default');
    });
    await hooksOf(target).emit(event, {});
    assert.deepEqual(ran, ['early', 'a', 'b', 'default', 'late']);
  },
  'a handler gets only its own event': async (target) => {
    let heard = 0;
    hooksOf(target).register(event, () => {
      heard += 1;
    });
    await hooksOf(target).emit('tool:post', {});
    assert.equal(heard, 0);
  },
  'a deny stops the pipeline and keeps its reason': async (target) => {
    let reached = false;
    const result = await emitThrough(target, [
      answer({ action: 'deny', reason: 'not here' }),
      () => {
        reached = true;
      },
    ]);
    assert.deepEqual([result.action, result.reason, reached], ['deny', 'not here', false]);
  },
  'a deny beats ask_user, inject_context and modify that came before it': async (target) => {
    const result = await emitThrough(target, [
      answer({ action: 'ask_user', approval_prompt: 'Sure?' }),
      answer({ action: 'inject_context', context_injection: 'note' }),
      answer({ action: 'modify', data: { changed: true } }),
      answer({ action: 'deny', reason: 'no' }),
    ]);
    assert.equal(result.action, 'deny');
  },
  'a modify changes what the next handlers see': async (target) => {
    let seen: unknown;
    await emitThrough(
      target,
      [
        (_, data) => ({ action: 'modify', data: { ...data, step: 1 } }),
        (_, data) => ({ action: 'modify', data: { ...data, step: Number(data.step) + 1 } }),
        (_, data) => {
          seen = [data.step, data.kept];
        },
      ],
      { kept: true },
    );
    assert.deepEqual(seen, [2, true]);
  },
  'a modify ends as continue': async (target) => {
    assert.equal(
      (await emitThrough(target, [answer({ action: 'modify', data: { changed: true } })])).action,
      'continue',
    );
  },
  'a handler that changes its data without a modify changes nothing': async (target) => {
    let seen: unknown;
    await emitThrough(
      target,
      [
        (_, data) => {
          (data as Record<string, unknown>).kept = false;
        },
        (_, data) => {
          seen = data.kept;
        },
      ],
      { kept: true },
    );
    assert.equal(seen, true);
  },
  'the first ask_user wins, over inject_context too': async (target) => {
    const result = await emitThrough(target, [
      answer({ action: 'inject_context', context_injection: 'note' }),
      answer({ action: 'ask_user', approval_prompt: 'First?' }),
      answer({ action: 'ask_user', approval_prompt: 'Second?' }),
    ]);
    assert.deepEqual([result.action, result.approval_prompt], ['ask_user', 'First?']);
  },
  'several injections become one, joined by an empty line, with the settings of the first': async (
    target,
  ) => {
    const result = await emitThrough(target, [
      answer({
        action: 'inject_context',
        context_injection: 'one',
        context_injection_role: 'user',
        ephemeral: true,
      }),
      answer({ action: 'modify', data: { changed: true } }),
      answer({
        action: 'inject_context',
        context_injection: 'two',
        context_injection_role: 'system',
      }),
    ]);
    assert.deepEqual(
      [result.action, result.context_injection, result.context_injection_role, result.ephemeral],
      ['inject_context', 'one\n\ntwo', 'user', true],
    );
  },
  'an injection without text injects nothing': async (target) => {
    assert.equal(
      (await emitThrough(target, [answer({ action: 'inject_context' })])).action,
      'continue',
    );
  },
  'fields that an answer leaves out have the defaults of the runtime': async (target) => {
    const result = await emitThrough(target, [
      answer({ action: 'ask_user', approval_prompt: 'Sure?' }),
    ]);
    const {
      context_injection_role,
      ephemeral,
      approval_timeout,
      approval_default,
      user_message_level,
    } = result;
    assert.deepEqual(
      [context_injection_role, ephemeral, approval_timeout, approval_default, user_message_level],
      ['system', false, 300, 'deny', 'info'],
    );
  },
  'a handler that throws continues, and the next handlers run': async (target) => {
    let reached = false;
    const result = await emitThrough(target, [
      () => {
        throw new Error('boom');
      },
      () => {
        reached = true;
      },
    ]);
    assert.deepEqual([result.action, reached], ['continue', true]);
  },
  'unregistering takes away that registration only, even where a name repeats': async (target) => {
    const ran: string[] = [];
    const hooks = hooksOf(target);
    const listen = (heard: string, label: string): unknown =>
      hooks.register(
        heard,
        () => {
          ran.push(label);
        },
        0,
        'same-name',
      );
    const unregister = listen('tool:pre', 'pre') as (() => void) | undefined;
    listen('tool:pre', 'pre again');
    listen('tool:post', 'post');
    assert.equal(typeof unregister, 'function', 'Expected register() to return a function');
    unregister?.();
    unregister?.();
    await hooks.emit('tool:pre', {});
    await hooks.emit('tool:post', {});
    assert.deepEqual(ran, ['pre again', 'post']);
  },
  'one emission does not disturb another that is under way': async (target) => {
    const seen: unknown[] = [];
    hooksOf(target).register(event, (_, data) => {
      seen.push(data.tool_call_id);
      return { action: 'continue' };
    });
    await Promise.all(
      ['a', 'b', 'c'].map((tool_call_id) => hooksOf(target).emit(event, { tool_call_id })),
    );
    assert.deepEqual(seen.sort(), ['a', 'b', 'c']);
  },
});
