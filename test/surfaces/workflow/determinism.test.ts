/** The laws of the reducer, over streams of events that nobody would write by hand. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createWorkflow,
  type ExecuteCalls,
  reduce,
  replay,
  serializeState,
  type WorkflowCommand,
  type WorkflowEvent,
  type WorkflowState,
} from '../../../src/surfaces/workflow/index.ts';
import { callId, event, events, name, shuffled } from './arbitrary.ts';
import { succeeded, workflow } from './events.ts';

/** What every state must be, whatever happened. */
function check(state: WorkflowState): void {
  const { run, batch } = state;
  if (batch === null) return;
  expect(run).not.toBeNull();
  const open = batch.calls.filter(({ result }) => result === null);
  expect(open.length).toBeGreaterThan(0);
  // The tools that the model saw, and those that it could have found.
  const callable = [
    ...(run?.effective.names ?? []),
    ...(run?.effective.dropped ?? []).flatMap(({ name, code }) =>
      code === 'not_discovered' ? [name] : [],
    ),
  ];
  for (const { accepted, name: called } of open) {
    expect(accepted).toBe(true);
    expect(callable).toContain(called);
  }
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

  test('give the same refusals, word for word, with object keys in another order', () => {
    fc.assert(
      fc.property(events, (stream) => {
        let one = workflow();
        let other = shuffled(workflow());
        for (const given of stream) {
          const first = reduce(one, given);
          const second = reduce(other, shuffled(given));
          expect(second.error).toEqual(first.error);
          one = first.state;
          other = second.state;
        }
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
      {
        examples: [
          // A tool that only a search would list is called without one.
          [
            [{ type: 'tools_listed', names: [] }, { type: 'run_requested' }],
            { type: 'tool_calls_observed', calls: [{ id: 'c1', name: 'read', arguments: {} }] },
          ],
        ],
      },
    );
  });

  test('that is no event at all is refused, and throws nothing', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true }),
        (value) => {
          const state = workflow();
          expect(reduce(state, value as WorkflowEvent)).toMatchObject({
            state,
            commands: [],
            error: { code: 'invalid_event' },
          });
        },
      ),
    );
  });

  test(
    'whatever a host does with its answers, every batch ends with one result for each observed ' +
      'call, and every accepted call is asked for once',
    () => {
      fc.assert(
        fc.property(
          fc.array(fc.record({ id: callId, name }), { maxLength: 8 }),
          fc.infiniteStream(fc.nat(7)),
          (calls, picks) => {
            let { state } = reduce(workflow(), { type: 'run_requested' });
            const asked: string[] = [];
            const commands: WorkflowCommand[] = [];
            const apply = (one: WorkflowEvent): void => {
              const reduction = reduce(state, one);
              state = reduction.state;
              commands.push(...reduction.commands);
              for (const command of reduction.commands)
                if (command.type === 'execute_calls')
                  asked.push(...command.calls.map(({ id }) => id));
            };
            apply({ type: 'tool_calls_observed', calls });
            while (state.batch !== null) {
              const open = (
                commands.findLast(({ type }) => type === 'execute_calls') as ExecuteCalls
              ).calls.filter(
                ({ id }) =>
                  state.batch?.calls.find((call) => call.id === id && call.accepted)?.result ===
                  null,
              );
              const { value } = picks.next();
              apply({
                type: 'tool_call_settled',
                callId: open[(value as number) % open.length]?.id as string,
                result: succeeded('any'),
              });
            }
            const settled = commands.filter((command) => command.type === 'batch_settled');
            expect(settled).toHaveLength(1);
            expect(settled[0]?.results.map(({ callId: id, toolName }) => [id, toolName])).toEqual(
              calls.map(({ id, name: called }) => [id, called]),
            );
            expect(new Set(asked).size).toBe(asked.length);
            expect(commands.at(-1)).toMatchObject({ type: 'llm_generate' });
          },
        ),
      );
    },
  );
});

test(
  'profiles and tools of any order and key order make the same workflow where their order means ' +
    'the same',
  () => {
    const one = createWorkflow({
      tools: [{ name: 'a', tokens: 1, description: 'x' }],
      profiles: { p: ['a'], q: [] },
      facts: { b: 1, a: 2 },
    });
    const two = createWorkflow({
      facts: { a: 2, b: 1 },
      profiles: { q: [], p: ['a'] },
      tools: [{ description: 'x', tokens: 1, name: 'a' }],
    });
    expect(serializeState(two)).toBe(serializeState(one));
  },
);
