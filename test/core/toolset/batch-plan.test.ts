import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../src/core/toolset/tool-spec.ts';
import { planBatch } from '../../../src/surfaces/workflow/plan-batch.ts';

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
    [
      'one that is not is a group of its own, and a barrier',
      ['read', 'write', 'read'],
      [['1'], ['2'], ['3']],
    ],
    ['a tool that says nothing is not parallel-safe', ['plain', 'plain'], [['1'], ['2']]],
    [
      'a key that is in the group already opens a new one',
      ['locks', 'read', 'locks', 'read'],
      [
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      "a call's own key beats its spec's",
      ['locks', 'locks:other', 'locks:third'],
      [['1', '2', '3']],
    ],
    ['own keys conflict', ['read:x', 'read:y', 'read:x'], [['1', '2'], ['3']]],
    ['unknown calls split nothing', ['read', 'nobody', 'read'], [['1', '3']]],
    ['nothing', [], []],
  ])('%s', (_, texts, expected) => {
    expect(groups(...texts)).toEqual(expected);
  });

  test('unknown, ineffective and repeated calls are rejected; the first id counts', () => {
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

  test('two specs of one name are refused', () => {
    expect(() => planBatch(calls('read'), [...tools, { name: 'read' }])).toThrow(
      expect.objectContaining({ code: 'duplicate_name' }),
    );
  });

  test(
    'a key lasts as long as its group: a barrier forgets it, also a barrier of a tool that is ' +
      'alone',
    () => {
      expect(groups('read:x', 'write', 'read:x', 'read:y', 'write:x', 'read:x')).toEqual([
        ['1'],
        ['2'],
        ['3', '4'],
        ['5'],
        ['6'],
      ]);
    },
  );

  test('names and ids that every object has are like others', () => {
    const hostile = ['__proto__', 'constructor', 'toString'];
    const plan = planBatch(
      hostile.map((name) => ({ id: name, name, resourceKey: name })),
      hostile.map((name) => ({ name, parallelSafe: true })),
      hostile,
    );
    expect(plan.groups).toEqual([hostile]);
    expect(planBatch([{ id: '1', name: '__proto__' }], tools).calls[0]?.code).toBe(
      'tool_not_found',
    );
  });

  test('an empty effective list accepts nothing; without one, every tool counts', () => {
    expect(planBatch(calls('read'), tools, [])).toMatchObject({
      groups: [],
      calls: [{ code: 'tool_not_available' }],
    });
    expect(planBatch(calls('read'), tools)).toMatchObject({ groups: [['1']] });
  });

  test(
    'the hash is of the groups and the verdicts: arguments and the order of keys are nothing to ' +
      'it',
    () => {
      const one = planBatch([{ id: '1', name: 'read', arguments: { a: 1 } }], tools);
      expect(one.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(planBatch([{ arguments: { b: [2] }, name: 'read', id: '1' }], tools).hash).toBe(
        one.hash,
      );
      expect(planBatch([{ id: '1', name: 'read', resourceKey: 'x' }], tools).hash).toBe(one.hash);
      expect(planBatch([{ id: '2', name: 'read' }], tools).hash).not.toBe(one.hash);
      expect(planBatch([{ id: '1', name: 'write' }], tools).hash).not.toBe(one.hash);
      expect(planBatch([{ id: '1', name: 'read' }], tools, []).hash).not.toBe(one.hash);
    },
  );

  test('a plan is plain JSON, with its hash', () => {
    const plan = planBatch(calls('read', 'nobody'), tools);
    expect(JSON.parse(JSON.stringify(plan))).toEqual({
      groups: [['1']],
      calls: [
        { id: '1', name: 'read', accepted: true },
        { id: '2', name: 'nobody', accepted: false, code: 'tool_not_found' },
      ],
      hash: plan.hash,
    });
  });

  test(
    'work grows with the calls alone: each is looked up once, however many tools and groups ' +
      'there are',
    () => {
      let looks = 0;
      const table = new Map<string, ToolSpec>(
        Array.from({ length: 1_000 }, (_, index) => [
          `tool_${index}`,
          { name: `tool_${index}`, resourceKey: `${index}` },
        ]),
      );
      const counted = {
        get: (name: string) => {
          looks++;
          return table.get(name);
        },
      } as unknown as ReadonlyMap<string, ToolSpec>;
      let asked = 0;
      const effective = {
        has: (name: string) => {
          asked++;
          return table.has(name);
        },
      };
      const many = [...table.keys()].map((name, index) => ({ id: `${index}`, name }));
      expect(planBatch(many, counted, effective).groups).toHaveLength(1_000);
      expect([looks, asked]).toEqual([1_000, 1_000]);
    },
  );

  test(
    'property: order is kept, each accepted call stands once, and no two of a group may not run ' +
      'side by side',
    () => {
      fc.assert(
        fc.property(
          fc.array(
            fc.constantFrom('read', 'write', 'plain', 'locks', 'read:x', 'read:y', 'nobody'),
            {
              maxLength: 20,
            },
          ),
          (texts) => {
            const given = calls(...texts);
            const before = JSON.stringify([given, tools]);
            const plan = planBatch(given, tools);
            expect(JSON.stringify([given, tools])).toBe(before);
            expect(planBatch(given, [...tools].reverse())).toEqual(plan);
            expect(
              planBatch(structuredClone(given), new Map(tools.map((tool) => [tool.name, tool]))),
            ).toEqual(plan);
            const accepted = plan.calls.filter((call) => call.accepted).map(({ id }) => id);
            expect(plan.groups.flat()).toEqual(accepted);
            expect(plan.calls.map(({ id }) => id)).toEqual(given.map(({ id }) => id));
            for (const group of plan.groups) {
              const members = group.map((id) => given[Number(id) - 1]);
              const keys = members
                .map(
                  (call) =>
                    call?.resourceKey ?? tools.find(({ name }) => name === call?.name)?.resourceKey,
                )
                .filter((key) => key !== undefined);
              expect(new Set(keys).size).toBe(keys.length);
              if (members.length > 1)
                for (const call of members)
                  expect(tools.find(({ name }) => name === call?.name)?.parallelSafe).toBe(true);
            }
          },
        ),
      );
    },
  );
});

test.each([
  ['text'],
  [undefined],
  [[{ name: 'a' }]],
  [[null]],
  [[{ id: 'a', name: 1 }]],
  [new Array(1)],
  [[{ id: 'a', name: 'a', resourceKey: 1 }]],
])('what is no list of calls is refused: %j', (calls) => {
  expect(() => planBatch(calls as never, [{ name: 'a' }])).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringMatching(/^planBatch: .*`calls/),
    }),
  );
});
