import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeEffective, type ToolSpec } from '../../../src/surfaces/workflow/index.ts';

const spec = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({ name, ...more });
const abc = [spec('a'), spec('b'), spec('c')];
const ready = { fact: 'host.ready', equals: true } as const;

describe('computeEffective', () => {
  test('without a profile every tool given is effective, in the order given', () => {
    expect(computeEffective({ tools: abc })).toMatchObject({
      names: ['a', 'b', 'c'],
      dropped: [],
      prerequisites: [],
    });
  });

  test('a profile chooses and orders; `[]` chooses none', () => {
    expect(computeEffective({ tools: abc, profile: ['c', 'a'] })).toMatchObject({
      names: ['c', 'a'],
      dropped: [{ name: 'b', code: 'not_in_profile' }],
    });
    expect(computeEffective({ tools: abc, profile: [] }).names).toEqual([]);
  });

  test(
    'enabled = profile, enable and force, minus disable, over both scopes; extras follow by ' +
      'code unit',
    () => {
      const tools = ['z', 'y', 'B', 'a', 'x'].map((name) => spec(name));
      expect(
        computeEffective({
          tools,
          profile: ['z'],
          overrides: { session: { enable: ['y', 'a'] }, run: { force: ['B'], disable: ['y'] } },
        }),
      ).toMatchObject({
        names: ['z', 'B', 'a'],
      });
    },
  );

  test('disable beats all: profile, enable, force, and the other scope', () => {
    const overrides = { session: { disable: ['a'] }, run: { enable: ['a'], force: ['a'] } };
    expect(computeEffective({ tools: abc, profile: ['a'], overrides }).dropped).toContainEqual({
      name: 'a',
      code: 'disabled',
    });
  });

  test('force never beats a gate', () => {
    const tools = [spec('a', { requires: [ready] }), spec('b', { blocked: ['denied'] })];
    expect(computeEffective({ tools, overrides: { run: { force: ['a', 'b'] } } })).toMatchObject({
      names: [],
      dropped: [
        { name: 'a', code: 'fact_unmet:host.ready' },
        { name: 'b', code: 'denied' },
      ],
    });
  });

  test.each([
    ['equals', ready, { 'host.ready': true }, true],
    ['equals another value', ready, { 'host.ready': 'true' }, false],
    ['in', { fact: 'os', in: ['linux', 'mac'] }, { os: 'mac' }, true],
    ['in, not among', { fact: 'os', in: ['linux'] }, { os: 'mac' }, false],
    ['an absent fact', ready, {}, false],
    ['a fact of every object', { fact: 'toString', equals: 'x' }, {}, false],
  ] as const)('facts: %s', (_, rule, facts, holds) => {
    expect(computeEffective({ tools: [spec('a', { requires: [rule] })], facts }).names).toEqual(
      holds ? ['a'] : [],
    );
  });

  test('the first code that applies is reported, in the order of the list', () => {
    const everything: ToolSpec = spec('a', {
      requires: [ready],
      blocked: ['disabled', 'denied', 'not_registered', 'knobs_missing'],
    });
    const code = (tool: ToolSpec, profile: string[] = ['a'], facts = {}): string | undefined =>
      computeEffective({ tools: [tool], profile, facts }).dropped[0]?.code;
    expect(code(everything, [])).toBe('disabled');
    expect(
      code({ ...everything, blocked: ['denied', 'not_registered', 'knobs_missing'] }, []),
    ).toBe('denied');
    expect(code({ ...everything, blocked: ['not_registered', 'knobs_missing'] }, [])).toBe(
      'not_in_profile',
    );
    expect(code({ ...everything, blocked: ['not_registered', 'knobs_missing'] })).toBe(
      'fact_unmet:host.ready',
    );
    expect(
      code({ ...everything, blocked: ['knobs_missing', 'not_registered'] }, ['a'], {
        'host.ready': true,
      }),
    ).toBe('not_registered');
    expect(code({ ...everything, blocked: ['knobs_missing'] }, ['a'], { 'host.ready': true })).toBe(
      'knobs_missing',
    );
  });

  test(
    'budgets: required tools are kept first and count; one over the token budget is skipped, ' +
      'smaller ones after it still fit',
    () => {
      const tools = [
        spec('big', { tokens: 80 }),
        spec('small', { tokens: 10 }),
        spec('must', { tokens: 50 }),
        spec('tiny', { tokens: 40 }),
      ];
      expect(
        computeEffective({ tools, budget: { maxTokens: 100, required: ['must'] } }),
      ).toMatchObject({
        names: ['small', 'must', 'tiny'],
        dropped: [{ name: 'big', code: 'token_budget' }],
      });
      expect(
        computeEffective({ tools, budget: { maxTools: 2, required: ['must'] } }),
      ).toMatchObject({
        names: ['big', 'must'],
        dropped: [
          { name: 'small', code: 'tool_budget' },
          { name: 'tiny', code: 'tool_budget' },
        ],
      });
    },
  );

  test("without `tokens` a tool costs a quarter of its JSON's characters", () => {
    const tool = spec('a', { description: 'd'.repeat(400), parameters: { type: 'object' } });
    const cost = Math.ceil(
      JSON.stringify({ name: 'a', description: tool.description, parameters: tool.parameters })
        .length / 4,
    );
    expect(computeEffective({ tools: [tool], budget: { maxTokens: cost } }).names).toEqual(['a']);
    expect(computeEffective({ tools: [tool], budget: { maxTokens: cost - 1 } }).names).toEqual([]);
  });

  test('a prerequisite names the tool that provides an unmet fact, and what it unlocks', () => {
    const tools = [
      spec('open', { provides: ['host.ready'] }),
      spec('a', { requires: [ready] }),
      spec('b', { requires: [ready] }),
      spec('hidden', { provides: ['host.ready'], blocked: ['denied'] }),
    ];
    expect(computeEffective({ tools }).prerequisites).toEqual([
      { tool: 'open', fact: 'host.ready', unlocks: ['a', 'b'] },
    ]);
    expect(computeEffective({ tools, facts: { 'host.ready': true } }).prerequisites).toEqual([]);
  });

  test.each([
    ['profile', { profile: ['nobody'] }],
    ['overrides', { overrides: { session: { disable: ['nobody'] } } }],
    ['run overrides', { overrides: { run: { force: ['nobody'] } } }],
    ['required', { budget: { required: ['nobody'] } }],
    ['a name of every object', { profile: ['constructor'] }],
  ])('an unknown name throws `unknown_tool`: %s', (_, more) => {
    expect(() => computeEffective({ tools: abc, ...more })).toThrow(
      expect.objectContaining({ code: 'unknown_tool' }),
    );
  });

  test('an unknown name is reported with the nearest known one', () => {
    const tools = [spec('read_file'), spec('write_file')];
    expect(() => computeEffective({ tools, profile: ['read_fle'] })).toThrow(
      /`profile`.*`read_fle`.*Did you mean `read_file`/,
    );
    expect(() =>
      computeEffective({ tools, overrides: { run: { disable: ['write_fiel'] } } }),
    ).toThrow(/`overrides\.run\.disable`.*`write_file`/);
  });

  test('two specs with one name are refused, because either could be meant', () => {
    expect(() => computeEffective({ tools: [...abc, spec('b', { tokens: 3 })] })).toThrow(
      expect.objectContaining({ code: 'duplicate_name', message: expect.stringContaining('`b`') }),
    );
  });

  test('a profile, an override or `required` that repeats a name says it once', () => {
    const set = computeEffective({
      tools: abc,
      profile: ['b', 'b', 'a', 'b'],
      overrides: { session: { enable: ['c', 'a', 'c'] }, run: { force: ['c'] } },
      budget: { required: ['a', 'a'] },
    });
    expect(set).toMatchObject({ names: ['b', 'a', 'c'], dropped: [] });
  });

  test('names that every object has are names like others, as tools and as facts', () => {
    const hostile = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
    const tools = hostile.map((name) =>
      spec(name, { requires: [{ fact: name, equals: 'yes' }], provides: [name] }),
    );
    expect(computeEffective({ tools }).dropped).toEqual(
      hostile.map((name) => ({ name, code: `fact_unmet:${name}` })),
    );
    const facts = JSON.parse(
      `{${hostile.map((name) => `${JSON.stringify(name)}:"yes"`).join()}}`,
    ) as Record<string, string>;
    expect(
      computeEffective({ tools, facts, profile: hostile, overrides: { run: { enable: hostile } } })
        .names,
    ).toEqual(hostile);
    expect(({} as Record<string, unknown>).yes).toBeUndefined();
  });

  test('a required tool counts beyond every limit, but no gate lets it through', () => {
    const tools = [
      spec('a', { tokens: 50 }),
      spec('b', { tokens: 50 }),
      spec('c', { tokens: 1 }),
      spec('gated', { requires: [ready] }),
    ];
    expect(
      computeEffective({
        tools,
        budget: { maxTools: 1, maxTokens: 60, required: ['b', 'a', 'gated'] },
      }),
    ).toMatchObject({
      names: ['a', 'b'],
      dropped: [
        { name: 'gated', code: 'fact_unmet:host.ready' },
        { name: 'c', code: 'tool_budget' },
      ],
    });
    expect(
      computeEffective({ tools, budget: { maxTokens: 100, required: ['b', 'a'] } }).dropped,
    ).toContainEqual({ name: 'c', code: 'token_budget' });
  });

  test('if both limits refuse a tool, it is `tool_budget`; a limit of 0 allows none', () => {
    expect(
      computeEffective({ tools: [spec('a', { tokens: 2 })], budget: { maxTools: 0, maxTokens: 0 } })
        .dropped,
    ).toEqual([{ name: 'a', code: 'tool_budget' }]);
    const free = [spec('free', { tokens: 0 }), spec('a', { tokens: 1 })];
    expect(computeEffective({ tools: free, budget: { maxTokens: 0 } })).toMatchObject({
      names: ['free'],
      dropped: [{ name: 'a', code: 'token_budget' }],
    });
  });

  test.each([
    ['maxTools', { maxTools: -1 }],
    ['maxTools that is no number', { maxTools: Number.NaN }],
    ['maxTokens', { maxTokens: -1 }],
    ['a text', { maxTokens: '100' as never }],
  ])('a limit that is none throws `invalid_option`: %s', (_, budget) => {
    expect(() => computeEffective({ tools: abc, budget })).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
  });

  test.each([-1, Number.NaN, '5' as never])(
    'a cost that is none throws `invalid_option`: %s',
    (tokens) => {
      expect(() =>
        computeEffective({ tools: [spec('a', { tokens })], budget: { maxTokens: 10 } }),
      ).toThrow(
        expect.objectContaining({
          code: 'invalid_option',
          message: expect.stringContaining('`tools[0].tokens`'),
        }),
      );
    },
  );

  test(
    'a tool that a budget drops unlocks nothing; of several providers each is told, in ' +
      'effective order',
    () => {
      const tools = [
        spec('a', { requires: [ready] }),
        spec('second', { provides: ['host.ready', 'host.ready'], tokens: 1 }),
        spec('first', { provides: ['host.ready'], tokens: 1 }),
        spec('dear', { provides: ['host.ready'], tokens: 99 }),
      ];
      expect(
        computeEffective({
          tools,
          profile: ['first', 'second', 'dear', 'a'],
          budget: { maxTokens: 10 },
        }).prerequisites,
      ).toEqual([
        { tool: 'first', fact: 'host.ready', unlocks: ['a'] },
        { tool: 'second', fact: 'host.ready', unlocks: ['a'] },
      ]);
    },
  );

  test('a tool that waits for several facts names the first unmet one', () => {
    const tools = [spec('a', { requires: [ready, { fact: 'os', in: ['linux'] }] })];
    expect(computeEffective({ tools }).dropped).toEqual([
      { name: 'a', code: 'fact_unmet:host.ready' },
    ]);
    expect(computeEffective({ tools, facts: { 'host.ready': true } }).dropped).toEqual([
      { name: 'a', code: 'fact_unmet:os' },
    ]);
    expect(computeEffective({ tools, facts: { os: 'linux', 'host.ready': true } }).names).toEqual([
      'a',
    ]);
  });

  test('the hash is of names, dropped and prerequisites, and of nothing else', () => {
    const hash = (more: object): string => computeEffective({ tools: abc, ...more }).hash;
    expect(hash({ facts: { unrelated: 1 } })).toBe(hash({}));
    expect(hash({ profile: ['a', 'b', 'c'] })).toBe(hash({}));
    expect(hash({ profile: ['b', 'a', 'c'] })).not.toBe(hash({}));
    expect(hash({ profile: ['a', 'b'] })).not.toBe(
      hash({ overrides: { run: { disable: ['c'] } } }),
    );
  });

  const names = ['a', 'b', 'c', 'd', 'e'];
  const some = fc.subarray(names);
  const input = fc.record({
    tools: fc.shuffledSubarray(names, { minLength: 5 }).chain((order) =>
      fc.tuple(
        ...order.map((name) =>
          fc.record({
            name: fc.constant(name),
            requires: fc.constantFrom([], [ready]),
            provides: fc.constantFrom([], ['host.ready']),
            blocked: fc.subarray(['disabled', 'denied', 'knobs_missing'] as const),
            tokens: fc.integer({ min: 1, max: 9 }),
          }),
        ),
      ),
    ),
    profile: fc.option(some, { nil: undefined as never }),
    overrides: fc.record({
      session: fc.record({ enable: some, disable: some, force: some }),
      run: fc.record({ enable: some, disable: some, force: some }),
    }),
    facts: fc.constantFrom({}, { 'host.ready': true }),
    budget: fc.record({
      maxTools: fc.integer({ min: 0, max: 5 }),
      maxTokens: fc.integer({ min: 0, max: 30 }),
      required: fc.constant([]),
    }),
  });

  test(
    'property: pure and deterministic; every tool is either named or dropped, once; what is ' +
      'disabled is never named',
    () => {
      fc.assert(
        fc.property(input, (given) => {
          const before = JSON.stringify(given);
          const set = computeEffective(given);
          expect(computeEffective(structuredClone(given))).toEqual(set);
          expect(JSON.stringify(given)).toBe(before);
          expect([...set.names, ...set.dropped.map(({ name }) => name)].sort()).toEqual(names);
          for (const scope of ['session', 'run'] as const)
            for (const name of given.overrides[scope].disable)
              expect(set.names).not.toContain(name);
          expect(set.names.length).toBeLessThanOrEqual(given.budget.maxTools);
          expect(set.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
        }),
      );
    },
  );

  /** The same value with the keys of every object in another order. */
  const shuffledKeys = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(shuffledKeys)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, member]) => [key, shuffledKeys(member)]),
          )
        : value;

  test(
    'property: the order of keys and of the names in an override or `required` changes nothing, ' +
      'nor does a JSON round trip',
    () => {
      fc.assert(
        fc.property(input, fc.dictionary(fc.string(), fc.jsonValue()), (given, others) => {
          const whole = { ...given, facts: { ...others, ...given.facts } };
          const reversed = (lists: { enable: string[]; disable: string[]; force: string[] }) => ({
            enable: [...lists.enable].reverse(),
            disable: [...lists.disable].reverse(),
            force: [...lists.force].reverse(),
          });
          const { session, run } = given.overrides;
          const other = shuffledKeys({
            ...whole,
            overrides: { run: reversed(run), session: reversed(session) },
          }) as typeof whole;
          const set = computeEffective(whole as never);
          expect(computeEffective(other as never)).toEqual(set);
          expect(computeEffective(JSON.parse(JSON.stringify(other)))).toEqual(set);
          // The two scopes count alike.
          expect(
            computeEffective({ ...whole, overrides: { session: run, run: session } } as never),
          ).toEqual(set);
        }),
      );
    },
  );

  test('property: input that is frozen to the bottom is taken as well', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null)
        for (const member of Object.values(Object.freeze(value))) freeze(member);
      return value;
    };
    fc.assert(
      fc.property(input, (given) => {
        expect(computeEffective(freeze(structuredClone(given)))).toEqual(computeEffective(given));
      }),
    );
  });
});

test('a misspelt list of overrides is refused: it would lift what it was to disable', () => {
  const overrides = { session: { disabled: ['a'] } } as never;
  expect(() => computeEffective({ tools: [{ name: 'a' }], overrides })).toThrow(
    '`overrides.session`: unknown field `disabled`; did you mean `disable`?',
  );
});
