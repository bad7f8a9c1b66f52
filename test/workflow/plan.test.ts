import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../src/workflow/effective.ts';
import { planBatch } from '../../src/workflow/plan.ts';

const tools: ToolSpec[] = [
  { name: 'read', parallelSafe: true },
  { name: 'write', parallelSafe: false },
  { name: 'plain' },
  { name: 'locks', parallelSafe: true, resourceKey: 'file' },
];
/** `read`, `write:1` and so on: a name, and the call's own key. */
const calls = (...texts: string[]) =>
  texts.map((text, index) => {
    const [name = '', resourceKey] = text.split(':');
    return { id: `${index + 1}`, name, ...(resourceKey === undefined ? {} : { resourceKey }) };
  });
const groups = (...texts: string[]): unknown => planBatch(calls(...texts), tools).groups;

describe('planBatch', () => {
  test.each([
    ['calls that are parallel-safe share a group', ['read', 'read', 'read'], [['1', '2', '3']]],
    ['one that is not is a group of its own, and a barrier', ['read', 'write', 'read'], [['1'], ['2'], ['3']]],
    ['a tool that says nothing is not parallel-safe', ['plain', 'plain'], [['1'], ['2']]],
    [
      'a key that is in the group already opens a new one',
      ['locks', 'read', 'locks', 'read'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    ["a call's own key beats its spec's", ['locks', 'locks:other', 'locks:third'], [['1', '2', '3']]],
    ['own keys conflict', ['read:x', 'read:y', 'read:x'], [['1', '2'], ['3']]],
    ['unknown calls split nothing', ['read', 'nobody', 'read'], [['1', '3']]],
    ['nothing', [], []],
  ])('%s', (_, texts, expected) => {
    expect(groups(...texts)).toEqual(expected);
  });

  test('unknown, ineffective and repeated calls are not accepted; the first of an id is planned', () => {
    const plan = planBatch(
      [
        { id: '1', name: 'read' },
        { id: '1', name: 'read' },
        { id: '2', name: 'nobody' },
        { id: '3', name: 'write' },
        { id: '2', name: 'read' },
        { id: '4', name: 'constructor' },
      ],
      tools,
      ['read'],
    );
    expect(plan.calls).toEqual([
      { id: '1', name: 'read', accepted: true },
      { id: '1', name: 'read', accepted: false, code: 'duplicate_call_id' },
      { id: '2', name: 'nobody', accepted: false, code: 'tool_not_found' },
      { id: '3', name: 'write', accepted: false, code: 'tool_not_available' },
      { id: '2', name: 'read', accepted: false, code: 'duplicate_call_id' },
      { id: '4', name: 'constructor', accepted: false, code: 'tool_not_found' },
    ]);
    expect(plan.groups).toEqual([['1']]);
  });

  test('property: order is kept, each accepted call stands once, and no two of a group may not run side by side', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('read', 'write', 'plain', 'locks', 'read:x', 'read:y', 'nobody'), { maxLength: 20 }), (texts) => {
        const given = calls(...texts);
        const plan = planBatch(given, tools);
        expect(planBatch(structuredClone(given), new Map(tools.map((tool) => [tool.name, tool])))).toEqual(plan);
        const accepted = plan.calls.filter((call) => call.accepted).map(({ id }) => id);
        expect(plan.groups.flat()).toEqual(accepted);
        expect(plan.calls.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
        for (const group of plan.groups) {
          const members = group.map((id) => given[Number(id) - 1]);
          const keys = members
            .map((call) => call?.resourceKey ?? tools.find(({ name }) => name === call?.name)?.resourceKey)
            .filter((key) => key !== undefined);
          expect(new Set(keys).size).toBe(keys.length);
          if (members.length > 1) for (const call of members) expect(tools.find(({ name }) => name === call?.name)?.parallelSafe).toBe(true);
        }
      }),
    );
  });
});
