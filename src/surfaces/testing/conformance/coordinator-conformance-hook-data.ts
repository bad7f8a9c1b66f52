/**
 * Conformance rules: what hooks see and what an emission returns, as far as coordinators differ in
 * it.
 */
import assert from 'node:assert/strict';
import type { HookHandler } from '../../../core.ts';
import {
  answer,
  emitThrough,
  event,
  hooksOf,
  method,
  type RuleBody,
  rules,
} from './coordinator-conformance-rule.ts';

export const hookDataRules: readonly RuleBody[] = [
  ...rules('hookData', {
    'without handlers the data comes back untouched: no defaults, no timestamp': async (target) => {
      hooksOf(target).setDefaultFields?.({ session_id: 's' });
      const data = { tool_name: 'git' };
      assert.deepEqual((await hooksOf(target).emit('no:handlers', data)).data, data);
    },
    'a modify is in the data of the result': async (target) => {
      const result = await emitThrough(
        target,
        [(_, data) => ({ action: 'modify', data: { ...data, changed: true } })],
        { tool_call_id: '1', kept: 1 },
      );
      assert.deepEqual([result.data?.kept, result.data?.changed], [1, true]);
    },
    'emissions side by side each get their own data': async (target) => {
      hooksOf(target).register(event, (_, data) => ({
        action: 'modify',
        data: { ...data, echo: data.tool_call_id },
      }));
      const ids = ['a', 'b', 'c'];
      const results = await Promise.all(
        ids.map((tool_call_id) => hooksOf(target).emit(event, { tool_call_id })),
      );
      assert.deepEqual(
        results.map(({ data }) => data?.echo),
        ids,
      );
    },
    'after its last handler is unregistered, an event is like one without handlers': async (
      target,
    ) => {
      const unregister = hooksOf(target).register(event, () => ({
        action: 'modify',
        data: { changed: true },
      })) as () => void;
      await hooksOf(target).emit(event, {});
      unregister();
      assert.deepEqual((await hooksOf(target).emit(event, { kept: 1 })).data, { kept: 1 });
    },
  }),
  ...rules('hookDetails', {
    'approval options survive': async (target) => {
      const result = await emitThrough(target, [
        answer({
          action: 'ask_user',
          approval_prompt: 'Sure?',
          approval_options: ['Allow once', 'Deny'],
        }),
      ]);
      assert.deepEqual(result.approval_options, ['Allow once', 'Deny']);
    },
    'a merged injection goes to the last tool result when any of them asks for it': async (
      target,
    ) => {
      const result = await emitThrough(target, [
        answer({ action: 'inject_context', context_injection: 'one' }),
        answer({
          action: 'inject_context',
          context_injection: 'two',
          append_to_last_tool_result: true,
        }),
      ]);
      assert.equal(result.append_to_last_tool_result, true);
    },
  }),
  ...rules('hookDefaults', {
    'default fields fill in what the data of an event lacks': async (target) => {
      let seen: unknown;
      const hooks = hooksOf(target);
      method(hooks, 'setDefaultFields')({ session_id: 'default', tool_name: 'default' });
      hooks.register(event, (_, data) => {
        seen = [data.session_id, data.tool_name];
      });
      await hooks.emit(event, { tool_name: 'git' });
      assert.deepEqual(seen, ['default', 'git']);
    },
  }),
  ...rules('hookTimestamps', {
    'handlers see a UTC timestamp, which the emitter cannot set': async (target) => {
      let seen: unknown;
      hooksOf(target).register(event, (_, data) => {
        seen = data.timestamp;
      });
      await hooksOf(target).emit(event, { timestamp: 'forged' });
      assert.match(String(seen), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/);
    },
  }),
  ...rules('hookCollect', {
    'emitAndCollect returns the data of each answer in order, without handlers that fail': async (
      target,
    ) => {
      const hooks = hooksOf(target);
      for (const handler of [
        answer({ action: 'continue', data: { id: 1 } }),
        () => Promise.reject(new Error('boom')),
        answer({ action: 'continue' }),
        answer({ action: 'deny', data: { id: 2 } }),
      ])
        hooks.register(event, handler);
      assert.deepEqual(await method(hooks, 'emitAndCollect')(event, {}), [{ id: 1 }, { id: 2 }]);
    },
    'emitAndCollect adds neither defaults nor a timestamp': async (target) => {
      let seen: unknown;
      const hooks = hooksOf(target);
      hooks.setDefaultFields?.({ session_id: 's' });
      hooks.register(event, (_, data) => {
        seen = { ...data };
      });
      await method(hooks, 'emitAndCollect')(event, { id: 1 });
      assert.deepEqual(seen, { id: 1 });
    },
  }),
  ...rules('asyncHooks', {
    'asynchronous handlers are awaited, one after the other': async (target) => {
      const ran: string[] = [];
      const slow: HookHandler = async () => {
        await Promise.resolve();
        ran.push('slow');
      };
      await emitThrough(target, [slow, () => void ran.push('fast')]);
      assert.deepEqual(ran, ['slow', 'fast']);
    },
    'an asynchronous deny denies': async (target) => {
      assert.equal(
        (await emitThrough(target, [async () => ({ action: 'deny', reason: 'no' })])).action,
        'deny',
      );
    },
    'a handler that rejects continues': async (target) => {
      assert.equal(
        (await emitThrough(target, [() => Promise.reject(new Error('boom'))])).action,
        'continue',
      );
    },
  }),
];
