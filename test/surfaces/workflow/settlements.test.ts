/**
 * A batch that is settled call by call: what it costs, and that no state sees what came after it.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  reduce,
  replay,
  serializeState,
  type WorkflowState,
} from '../../../src/surfaces/workflow/index.ts';
import { applied, observe, settle, succeeded, workflow } from './events.ts';

const batchOf = (count: number, name: string): WorkflowState =>
  applied(
    workflow(),
    { type: 'run_requested' },
    observe(...Array.from({ length: count }, (_, index) => [`c${index}`, name] as const)),
  ).state;

const methods = [
  'map',
  'filter',
  'findIndex',
  'find',
  'some',
  'every',
  'slice',
  'flat',
  'flatMap',
  'entries',
  Symbol.iterator,
] as const;

/** How many items of arrays are walked or copied, by an iterator or by a method. */
function walked(work: () => void): number {
  let items = 0;
  const real = methods.map(
    (method) => [method, Array.prototype[method] as (...args: unknown[]) => unknown] as const,
  );
  const replace = (method: PropertyKey, value: unknown): unknown =>
    Object.defineProperty(Array.prototype, method, {
      value,
      enumerable: false,
      configurable: true,
      writable: true,
    });
  for (const [method, run] of real)
    replace(method, function (this: unknown[], one: unknown, two: unknown) {
      items += this.length;
      return run.call(this, one, two);
    });
  try {
    work();
  } finally {
    for (const [method, run] of real) replace(method, run);
  }
  return items;
}

describe('settling a batch', () => {
  test.each(['read', 'exec'])(
    'of ten times the calls of `%s` takes ten times the steps, not a hundred times',
    (name) => {
      const cost = (count: number): number => {
        const state = batchOf(count, name);
        const events = Array.from({ length: count }, (_, index) => settle(`c${index}`));
        return walked(() => replay(state, events));
      };
      expect(cost(1_000) / cost(100)).toBeLessThan(11);
    },
  );

  test('that was stored as JSON half-way continues where it was', () => {
    const half = applied(batchOf(3, 'exec'), settle('c0')).state;
    const stored = JSON.parse(JSON.stringify(half)) as WorkflowState;
    expect(JSON.stringify(half)).toBe(JSON.stringify(stored));
    expect(applied(stored, settle('c1')).commands).toEqual(applied(half, settle('c1')).commands);
    expect(serializeState(applied(stored, settle('c1')).state)).toBe(
      serializeState(applied(half, settle('c1')).state),
    );
  });
});

describe('a state of a batch', () => {
  test('stays as it was when later ones come of it, whether it was looked at before or not', () => {
    const began = batchOf(3, 'read');
    const first = applied(began, settle('c1')).state;
    const second = applied(first, settle('c0')).state;
    expect(began.batch?.calls.map(({ result }) => result !== null)).toEqual([false, false, false]);
    expect(first.batch?.calls.map(({ result }) => result !== null)).toEqual([false, true, false]);
    expect(second.batch?.calls.map(({ result }) => result !== null)).toEqual([true, true, false]);
    expect(
      Object.isFrozen(first.batch) &&
        Object.isFrozen(first.batch?.calls) &&
        first.batch?.calls.every(Object.isFrozen),
    ).toBe(true);
    expect(first.batch?.calls).toBe(first.batch?.calls);
  });

  test('can be gone on from twice, and each way sees its own results alone', () => {
    const began = applied(batchOf(3, 'read'), settle('c0')).state;
    const outcomes = ['one', 'two', 'three'].map(
      (output) =>
        applied(began, { type: 'tool_call_settled', callId: 'c1', result: succeeded('c1', output) })
          .state,
    );
    expect(outcomes.map(({ batch }) => batch?.calls[1]?.result?.output)).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(outcomes.map(({ batch }) => batch?.calls[0]?.result?.success)).toEqual([
      true,
      true,
      true,
    ]);
    expect(applied(outcomes[0] as WorkflowState, settle('c2')).commands).toMatchObject([
      { type: 'batch_settled' },
      { type: 'llm_generate' },
    ]);
  });

  test('in any order, from any states, equals that of a copy from JSON', () => {
    const calls = ['read', 'grep', 'exec', 'nothing', 'write', 'edit', 'exec', 'read'].map(
      (name, index) => [`c${index}`, name] as const,
    );
    const began = applied(workflow(), { type: 'run_requested' }, observe(...calls)).state;
    fc.assert(
      fc.property(
        fc.array(fc.record({ from: fc.nat(), call: fc.nat(8) }), { maxLength: 30 }),
        (steps) => {
          const shared = [began];
          const copied = [JSON.parse(serializeState(began)) as WorkflowState];
          for (const { from, call } of steps) {
            const at = from % shared.length;
            const one = reduce(shared[at] as WorkflowState, settle(`c${call}`));
            const other = reduce(copied[at] as WorkflowState, settle(`c${call}`));
            expect(one.commands).toEqual(other.commands);
            shared.push(one.state);
            copied.push(JSON.parse(serializeState(other.state)) as WorkflowState);
          }
          expect(shared.map(serializeState)).toEqual(copied.map(serializeState));
        },
      ),
    );
  });
});
