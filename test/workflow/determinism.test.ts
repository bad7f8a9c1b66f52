/** The laws of the reducer, over streams of events that nobody would write by hand. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/index.ts';
import {
  createWorkflow,
  type ExecuteCalls,
  reduce,
  replay,
  serializeState,
  type WorkflowCommand,
  type WorkflowEvent,
  type WorkflowState,
} from '../../src/workflow.ts';
import { succeeded, tools, workflow } from './events.ts';

const name = fc.constantFrom('read', 'grep', 'write', 'edit', 'exec', 'deploy', 'nothing', '__proto__', 'constructor');
const names = fc.uniqueArray(name, { maxLength: 3 });
const callId = fc.constantFrom('c1', 'c2', 'c3', 'c4', 'toString');
const event: fc.Arbitrary<WorkflowEvent> = fc.oneof(
  fc.constant<WorkflowEvent>({ type: 'run_requested' }),
  fc.constant<WorkflowEvent>({ type: 'run_requested', runId: 'own', provider: 'reader' }),
  fc.constant<WorkflowEvent>({ type: 'run_completed' }),
  fc.constant<WorkflowEvent>({ type: 'run_cancelled' }),
  fc.record({ type: fc.constant('tool_profile_selected' as const), profile: fc.constantFrom('all', 'reader', 'toString') }),
  fc.record({
    type: fc.constant('tool_overrides_set' as const),
    scope: fc.constantFrom('session' as const, 'run' as const),
    enable: names,
    disable: names,
    force: names,
  }),
  fc.record({
    type: fc.constant('facts_updated' as const),
    facts: fc.dictionary(fc.constantFrom('network', 'a', '__proto__'), fc.constantFrom(true, null, 1)) as fc.Arbitrary<JsonObject>,
  }),
  fc.record({
    type: fc.constant('host_session_updated' as const),
    hostSessionId: fc.constantFrom('h', null),
    status: fc.constantFrom('ready' as const, 'closed' as const, null),
  }),
  fc.record({
    type: fc.constant('tool_registry_set' as const),
    tools: fc.constantFrom(tools, tools.slice(0, 3)),
    profiles: fc.constantFrom({ all: ['read', 'write'], reader: ['read'] }, {}),
  }),
  fc.record({
    type: fc.constant('tool_calls_observed' as const),
    calls: fc.array(fc.record({ id: callId, name, arguments: fc.constantFrom({}, { path: 'a', deep: { z: 1, a: 2 } }) }), { maxLength: 5 }),
  }),
  callId.map((id): WorkflowEvent => ({ type: 'tool_call_settled', callId: id, result: succeeded(id) })),
);
const events = fc.array(event, { maxLength: 40 });

/** The same value, every object's keys in reverse. */
function shuffled<T>(value: T): T {
  if (Array.isArray(value)) return value.map(shuffled) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  ) as T;
}

/** What every state must be, whatever happened. */
function check(state: WorkflowState): void {
  const { run, batch } = state;
  if (batch === null) return;
  expect(run).not.toBeNull();
  const open = batch.calls.filter(({ result }) => result === null);
  expect(open.length).toBeGreaterThan(0);
  expect(open.every(({ accepted, name: called }) => accepted && run?.effective.names.includes(called))).toBe(true);
}

describe('the same events', () => {
  test('give the same bytes, the same commands and the same plan hash', () => {
    fc.assert(
      fc.property(events, (stream) => {
        const first = replay(workflow(), stream);
        const second = replay(workflow(), stream);
        expect(serializeState(second.state)).toBe(serializeState(first.state));
        expect(second).toEqual(first);
      }),
    );
  });

  test('give them also with object keys in another order', () => {
    fc.assert(
      fc.property(events, (stream) => {
        const first = replay(workflow(), stream);
        const second = replay(shuffled(workflow()), shuffled(stream));
        expect(serializeState(second.state)).toBe(serializeState(first.state));
        expect(second.state.lastPlanHash).toBe(first.state.lastPlanHash);
      }),
    );
  });

  test('give them also when the state goes through JSON after every event', () => {
    fc.assert(
      fc.property(events, (stream) => {
        let stored = workflow();
        for (const one of stream) stored = JSON.parse(serializeState(reduce(stored, one).state));
        expect(serializeState(stored)).toBe(serializeState(replay(workflow(), stream).state));
      }),
    );
  });

  test('give them from any point on', () => {
    fc.assert(
      fc.property(events, fc.nat(40), (stream, cut) => {
        const half = replay(workflow(), stream.slice(0, cut));
        const rest = replay(half.state, stream.slice(cut));
        const whole = replay(workflow(), stream);
        expect(serializeState(rest.state)).toBe(serializeState(whole.state));
        expect([...half.commands, ...rest.commands]).toEqual(whole.commands);
      }),
    );
  });
});

describe('any event', () => {
  test('leaves the state before it as it was, and a refused one gives that very state back', () => {
    fc.assert(
      fc.property(events, event, (stream, last) => {
        const { state } = replay(workflow(), stream);
        const before = serializeState(state);
        const reduction = reduce(state, last);
        expect(serializeState(state)).toBe(before);
        if (reduction.error === undefined) return check(reduction.state);
        expect(reduction.state).toBe(state);
        expect(reduction.commands).toEqual([]);
      }),
    );
  });

  test('that is no event at all is refused, and throws nothing', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }), (value) => {
        const state = workflow();
        expect(reduce(state, value as WorkflowEvent)).toMatchObject({ state, commands: [], error: { code: 'invalid_event' } });
      }),
    );
  });

  test('whatever a host does with its answers, every batch ends with one result for each observed call, and every accepted call is asked for once', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: callId, name }), { maxLength: 8 }), fc.infiniteStream(fc.nat(7)), (calls, picks) => {
        let { state } = reduce(workflow(), { type: 'run_requested' });
        const asked: string[] = [];
        const commands: WorkflowCommand[] = [];
        const apply = (one: WorkflowEvent): void => {
          const reduction = reduce(state, one);
          state = reduction.state;
          commands.push(...reduction.commands);
          for (const command of reduction.commands) if (command.type === 'execute_calls') asked.push(...command.calls.map(({ id }) => id));
        };
        apply({ type: 'tool_calls_observed', calls });
        while (state.batch !== null) {
          const open = (commands.findLast(({ type }) => type === 'execute_calls') as ExecuteCalls).calls.filter(
            ({ id }) => state.batch?.calls.find((call) => call.id === id && call.accepted)?.result === null,
          );
          const { value } = picks.next();
          apply({ type: 'tool_call_settled', callId: open[(value as number) % open.length]?.id as string, result: succeeded('any') });
        }
        const settled = commands.filter((command) => command.type === 'batch_settled');
        expect(settled).toHaveLength(1);
        expect(settled[0]?.results.map(({ callId: id, toolName }) => [id, toolName])).toEqual(calls.map(({ id, name: called }) => [id, called]));
        expect(new Set(asked).size).toBe(asked.length);
        expect(commands.at(-1)).toMatchObject({ type: 'llm_generate' });
      }),
    );
  });
});

test('profiles and tools of any order and key order make the same workflow where their order means the same', () => {
  const one = createWorkflow({ tools: [{ name: 'a', tokens: 1, description: 'x' }], profiles: { p: ['a'], q: [] }, facts: { b: 1, a: 2 } });
  const two = createWorkflow({ facts: { a: 2, b: 1 }, profiles: { q: [], p: ['a'] }, tools: [{ description: 'x', tokens: 1, name: 'a' }] });
  expect(serializeState(two)).toBe(serializeState(one));
});
