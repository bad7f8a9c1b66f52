/** Policies in Cedar, by the real engine. */
import { describe, expect, test } from 'vitest';
import { HostToolRegistry, type JsonObject } from '../../../../src/index.ts';
import {
  type CedarOptions,
  cedarPolicy,
} from '../../../../src/surfaces/policy-engines/cedar/index.ts';
import { define } from '../../../core/call/define.ts';
import { askAbout } from './kit.ts';

const permitAll = 'permit(principal, action, resource);';
const when = (condition: string): string =>
  `permit(principal, action, resource) when { ${condition} };`;
const outcomeOf = async (
  options: CedarOptions,
  ...more: Parameters<typeof askAbout> extends [unknown, ...infer Rest] ? Rest : never
): Promise<string> => (await askAbout(cedarPolicy(options), ...more)).outcome;

describe('the decision', () => {
  test('what a policy permits is allowed, also where the default is to deny', async () => {
    expect(await outcomeOf({ policies: permitAll })).toBe('allowed');
  });

  test('what none permits is denied', async () => {
    const policy = cedarPolicy({ policies: when('context.input has x') });
    const { outcome, result, logged } = await askAbout(policy, {}, {}, {}, 'allow');
    expect(outcome).toBe('cedar_not_permitted');
    expect(result.error).toMatchObject({ code: 'policy_denied', ruleId: 'cedar' });
    expect(logged).toEqual([]);
  });

  test('with `unmatched: "abstain"`, a call without a policy is left to other gates', async () => {
    const options = { policies: when('context.input has x'), unmatched: 'abstain' } as const;
    expect(await outcomeOf(options, {}, {}, {}, 'allow')).toBe('allowed');
    expect(await outcomeOf(options, {}, {}, {}, 'deny')).toBe('denied_by_default');
  });

  test('a forbid beats a permit, and the message names the policies', async () => {
    const policy = cedarPolicy({
      id: 'bank',
      policies: `${permitAll}
        @id("closed") forbid(principal, action, resource);
        forbid(principal, action, resource == Tool::"transfer");`,
    });
    const { result } = await askAbout(policy, {}, {}, {}, 'allow');
    expect(result.error).toMatchObject({
      code: 'policy_denied',
      reason: 'cedar_forbidden',
      ruleId: 'bank',
      message:
        'The call was denied by the policies `closed`, `policy2`. Do not retry it unchanged.',
    });
  });

  test('also with `unmatched: "abstain"`', async () => {
    const policies = 'forbid(principal, action, resource);';
    expect(await outcomeOf({ policies, unmatched: 'abstain' }, {}, {}, {}, 'allow')).toBe(
      'cedar_forbidden',
    );
  });

  test('a message names at most five policies', async () => {
    const policies = Object.fromEntries(
      Array.from({ length: 7 }, (_, index) => [
        `p${index}-${'x'.repeat(200)}`,
        'forbid(principal, action, resource);',
      ]),
    );
    const { result } = await askAbout(cedarPolicy({ policies }));
    expect(result.error?.message).toMatch(/ and 2 more\. Do not/);
    expect(result.error?.message.length).toBeLessThan(700);
  });

  test('a permit overrides neither an ask nor a deny of a rule', async () => {
    const registry = new HostToolRegistry({
      rules: [{ id: 'no', effect: 'deny', tools: 'transfer' }],
      policies: [cedarPolicy({ policies: permitAll })],
    });
    registry.register(define('transfer'));
    const session = registry.createSession({ sessionId: 's' });
    expect((await session.call('transfer')).error?.ruleId).toBe('no');
  });

  test('`explain` says what would be decided', async () => {
    const registry = new HostToolRegistry({
      policies: [
        cedarPolicy({
          policies: {
            ok: permitAll,
            big: 'forbid(principal, action, resource) when { context.input.amount > 10 };',
          },
        }),
      ],
    });
    registry.register(define('transfer'));
    const session = registry.createSession({ sessionId: 's' });
    expect(await session.explain('transfer', { amount: 11 })).toMatchObject({
      code: 'policy_denied',
      ruleId: 'cedar',
      decision: { reason: 'cedar_forbidden', message: expect.stringContaining('`big`') },
    });
    expect((await session.explain('transfer', { amount: 10 })).code).toBeUndefined();
    expect((await session.explain('transfer', {})).steps).toContainEqual({
      source: 'registry',
      effect: 'deny',
      reason: 'cedar_error',
    });
  });
});

describe('a policy that fails on a call', () => {
  test.each([
    [
      'a forbid, which Cedar itself would skip',
      `${permitAll} forbid(principal, action, resource) when { context.input.nope };`,
    ],
    ['a permit beside one that holds', `${permitAll} ${when('context.input.nope')}`],
    [
      'a permit beside a forbid that holds',
      `${when('context.input.nope')} forbid(principal, action, resource);`,
    ],
  ])('denies it and is logged: %s', async (_, policies) => {
    const { outcome, result, logged } = await askAbout(
      cedarPolicy({ policies }),
      {},
      {},
      {},
      'allow',
    );
    expect(outcome).toBe('cedar_error');
    expect(result.error).toMatchObject({ code: 'policy_error', ruleId: 'cedar' });
    expect(result.error?.message).not.toContain('nope');
    expect(logged.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^policy `policy[01]`: record does not have the attribute `nope`/),
    ]);
  });

  test('denies it also with `unmatched: "abstain"`', async () => {
    const policies = 'forbid(principal, action, resource) when { context.input.nope };';
    expect(await outcomeOf({ policies, unmatched: 'abstain' }, {}, {}, {}, 'allow')).toBe(
      'cedar_error',
    );
  });
});

describe('what Cedar is asked', () => {
  test.each<[string, string, JsonObject?]>([
    ['the principal', 'principal == User::"ada"'],
    ['the action', 'action == Action::"call"'],
    ['the tool', 'resource == Tool::"transfer"'],
    ['its name', 'resource.name == "transfer"'],
    ['its source', 'resource.source == "host"'],
    ['its tags', 'resource.tags.containsAll(["money", "eu"])'],
    [
      'its hints',
      'resource.annotations == {readOnly: false, destructive: true, idempotent: false, ' +
        'openWorld: false}',
    ],
    ['its fingerprint', 'resource.fingerprint like "sha256:*"'],
    ['the input', 'context.input.to.name == "Bob"', { to: { name: 'Bob' } }],
    ['the facts', 'context.facts.tier == "gold"'],
    ['the surface', 'context.surface == ""'],
    ['the session', 'context.sessionId == "chat-1"'],
    ['what the attributes of the tool returned', 'context.attributes.payee.known', { payee: 'x' }],
    [
      'lists as sets',
      'context.input.to.contains("a") && !context.input.to.contains("c")',
      { to: ['a', 'b', 'b'] },
    ],
    ['whole numbers as longs', 'context.input.n > 9007199254740990', { n: 2 ** 53 - 1 }],
    ['others as decimals', 'context.input.n.lessThan(decimal("12.3451"))', { n: 12.345 }],
    ['small ones too', 'context.input.n == decimal("-0.0001")', { n: -0.0001 }],
    ['minus zero as zero', 'context.input.n == 0', { n: -0 }],
    [
      'null as nothing',
      '!(context.input has a) && context.input.b == ["x"]',
      { a: null, b: [null, 'x'] },
    ],
    [
      'a member `__proto__`',
      'context.input["__proto__"].role == "admin" && !(context.input has role)',
      JSON.parse('{"__proto__":{"role":"admin"}}'),
    ],
    [
      'all characters',
      'context.input.s == "\\u{0} \\" \\\\ \\u{1F600}"',
      { s: '\0 " \\ \u{1f600}' },
    ],
  ])('%s', async (_, condition, input = {}) => {
    const { outcome, logged } = await askAbout(
      cedarPolicy({ policies: when(condition) }),
      input,
      { facts: { tier: 'gold' } },
      {
        tags: ['money', 'eu'],
        annotations: { destructive: true },
        attributes: { payee: () => ({ known: true }) },
      },
    );
    expect(logged).toEqual([]);
    expect(outcome).toBe('allowed');
  });

  test('a session without a principal is the user ""', async () => {
    const policies = when('principal == User::""');
    expect(await outcomeOf({ policies }, {}, { principal: undefined })).toBe('allowed');
  });

  test('`decimals` makes whole numbers at a path decimals too', async () => {
    const options: CedarOptions = {
      policies: when(
        'context.input.amount.lessThan(decimal("10.5")) && context.input.items.contains({price: ' +
          'decimal("3.0"), count: 2})',
      ),
      decimals: ['input.amount', 'input.items.*.price'],
    };
    for (const amount of [10, 10.25])
      expect(await outcomeOf(options, { amount, items: [{ price: 3, count: 2 }] })).toBe('allowed');
    expect(await outcomeOf(options, { amount: 11, items: [] })).toBe('cedar_not_permitted');
  });
});

describe('what Cedar cannot express denies the call, whatever the policies look at', () => {
  let deep: JsonObject = {};
  for (let level = 0; level < 62; level++) deep = { a: deep };

  test.each<[string, JsonObject, string]>([
    [
      'five decimal places',
      { n: 0.12345 },
      'more than the 4 decimal places of a Cedar decimal (at /input/n)',
    ],
    ['a tiny number', { a: [{ n: 1e-7 }] }, '(at /input/a/0/n)'],
    ['a number beyond decimals', { n: 922337203685477.75 }, 'overflow when converting to decimal'],
    ['an integer that is not exact', { n: 2 ** 53 }, 'an integer beyond 2^53 - 1'],
    ['an integer beyond 64 bits', { n: 2 ** 63 }, 'an integer beyond 2^53 - 1'],
    ['the largest number', { n: Number.MAX_VALUE }, 'an integer beyond 2^53 - 1'],
    ['half of a surrogate pair', { s: 'a\ud800' }, 'surrogate pair'],
    ['one in a key', { 'a\udc00': 1 }, 'surrogate pair'],
    ['an entity', { to: { __entity: { type: 'User', id: 'ada' } } }, 'a member named `__entity`'],
    ['a function', { to: [{ __extn: { fn: 'ip', arg: '10.0.0.1' } }] }, 'a member named `__extn`'],
    ['an expression', { __expr: 'true' }, 'a member named `__expr`'],
    [
      'more members than are read in time',
      Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`k${n}`, n])),
      'larger than the budget of 20000',
    ],
    [
      'more items',
      { to: Array.from({ length: 20_001 }, () => 1) },
      'larger than the budget of 20000',
    ],
    ['more text', { s: 'x'.repeat(20_000 * 64) }, 'larger than the budget of 20000'],
  ])('%s', async (_, input, told) => {
    const { outcome, logged } = await askAbout(
      cedarPolicy({ policies: permitAll }),
      input,
      { limits: { maxInputBytes: 10_000_000 } },
      {},
      'allow',
    );
    expect(outcome).toBe('cedar_error');
    expect(logged.map(({ message }) => message).join()).toContain(told);
  });

  test('the deepest input that a call may have is no problem', async () => {
    expect(await outcomeOf({ policies: permitAll }, deep)).toBe('allowed');
  });

  test('the same for facts, attributes and the names of sessions and principals', async () => {
    const options = { policies: permitAll };
    const ask = (session: object, tool = {}) =>
      outcomeOf(options, { p: 1 }, session, tool, 'allow');
    expect(await ask({ facts: { n: 0.12345 } })).toBe('cedar_error');
    expect(await ask({ principal: '\ud800' })).toBe('cedar_error');
    expect(await ask({ sessionId: '\ud800' })).toBe('cedar_error');
    expect(await ask({}, { attributes: { p: () => 0.12345 } })).toBe('cedar_error');
    expect(await ask({})).toBe('allowed');
  });

  test('a decimal path does not make an inexact integer acceptable', async () => {
    const options: CedarOptions = { policies: permitAll, decimals: ['input.n'] };
    expect(await outcomeOf(options, { n: 2 ** 53 })).toBe('cedar_error');
    expect(await outcomeOf(options, { n: 922337203685478 })).toBe('cedar_error');
    expect(await outcomeOf(options, { n: 922337203685477 })).toBe('allowed');
  });

  test('a call after thousands that could not be judged is judged', async () => {
    const policy = cedarPolicy({ policies: when('context.input.s == "y"') });
    const registry = new HostToolRegistry({ policies: [policy] });
    registry.register(define('transfer'));
    const session = registry.createSession({ sessionId: 's' });
    for (let round = 0; round < 2_000; round++)
      await session.call('transfer', { s: round % 2 === 0 ? { __extn: 1 } : '\ud800' });
    expect((await askAbout(policy, { s: 'y' })).outcome).toBe('allowed');
    expect((await askAbout(policy, { s: 'n' })).outcome).toBe('cedar_not_permitted');
  });
});

describe('entities', () => {
  const inStaff = 'permit(principal in Group::"staff", action, resource);';
  const ada = {
    uid: { type: 'User', id: 'ada' },
    parents: [{ type: 'Group', id: 'staff' }],
    attrs: { level: 3 },
  };

  test('are a list', async () => {
    expect(await outcomeOf({ policies: inStaff, entities: [ada] })).toBe('allowed');
    expect(await outcomeOf({ policies: inStaff })).toBe('cedar_not_permitted');
    const policies = when('principal.level >= 3');
    expect(await outcomeOf({ policies, entities: [ada] })).toBe('allowed');
  });

  test.each([
    ['at once', () => [ada]],
    ['later', () => Promise.resolve([ada])],
  ])('or come from a function, %s', async (_, entities) => {
    expect(await outcomeOf({ policies: inStaff, entities })).toBe('allowed');
  });

  test('a function gets the call', async () => {
    const seen: unknown[] = [];
    await outcomeOf(
      {
        policies: inStaff,
        entities: ({ context, tool, input }) => {
          seen.push(context.principal, tool.name, input);
          return [];
        },
      },
      { a: 1 },
    );
    expect(seen).toEqual(['ada', 'transfer', { a: 1 }]);
  });

  test.each<[string, unknown, string]>([
    ['nothing', undefined, 'cedar_error'],
    ['no list', {}, 'cedar_error'],
    ['an entity without a name', [{}], 'cedar_error'],
    ['half of a surrogate pair', [{ uid: { type: 'User', id: '\ud800' } }], 'cedar_error'],
    ['two entities of one name', [ada, { ...ada, attrs: {} }], 'cedar_error'],
    ['null in an attribute', [{ ...ada, attrs: { a: null } }], 'cedar_error'],
    ['something cyclic', [{ ...ada, attrs: cyclic() }], 'cedar_error'],

    ['a promise of nothing', Promise.resolve(undefined), 'cedar_error'],
  ])('a function that returns %s denies the call', async (_, answer, reason) => {
    const options = { policies: permitAll, entities: () => answer as never };
    const { outcome, logged } = await askAbout(cedarPolicy(options), {}, {}, {}, 'allow');
    expect(outcome).toBe(reason);
    expect(logged).toHaveLength(1);
  });

  test('a function that rejects denies the call, as any policy that does', async () => {
    const entities = () => Promise.reject(new Error('no directory'));
    const { outcome, logged } = await askAbout(cedarPolicy({ policies: permitAll, entities }));
    expect(outcome).toBe('policy_threw');
    expect(logged.map(({ message }) => message)).toEqual(['no directory']);
  });

  test('may say more of a tool: its groups and further attributes', async () => {
    const entities = [
      {
        uid: { type: 'Tool', id: 'transfer' },
        parents: [{ type: 'ToolGroup', id: 'money' }],
        attrs: { owner: 'treasury' },
        tags: { since: '2024' },
      },
    ];
    const policies = `permit(principal, action, resource in ToolGroup::"money") when {
      resource.owner == "treasury" && resource.source == "host" && resource.getTag("since") == "2024"
    };`;
    expect(await outcomeOf({ policies, entities })).toBe('allowed');
  });

  function cyclic(): object {
    const attrs: Record<string, unknown> = {};
    attrs.self = attrs;
    return attrs;
  }
});

describe('a schema', () => {
  const schema = `
    entity User;
    entity Tool = {
      name: String, source: String, tags: Set<String>, fingerprint: String,
      annotations: { readOnly: Bool, destructive: Bool, idempotent: Bool, openWorld: Bool },
    };
    action call appliesTo {
      principal: User,
      resource: Tool,
      context: {
        input: { amount?: decimal, to?: String },
        facts: {}, attributes: {}, surface: String, sessionId: String,
      },
    };`;
  const options: CedarOptions = {
    schema,
    decimals: ['input.amount'],
    policies: when('context.input has amount && context.input.amount.lessThan(decimal("10.0"))'),
  };

  test('a call that fits it is judged', async () => {
    expect(await outcomeOf(options, { amount: 9 })).toBe('allowed');
    expect(await outcomeOf(options, { amount: 10 })).toBe('cedar_not_permitted');
  });

  test.each<[string, JsonObject]>([
    ['a member that it does not know', { amount: 9, note: 'x' }],
    ['a value of another type', { amount: 9, to: 1 }],
  ])('a call that does not fit is denied: %s', async (_, input) => {
    expect(await outcomeOf({ ...options, policies: permitAll }, input)).toBe('cedar_error');
  });

  test("may be in Cedar's JSON", async () => {
    const json = { '': { entityTypes: { User: {}, Tool: {} }, actions: {} } };
    expect(() => cedarPolicy({ policies: permitAll, schema: json })).not.toThrow();
  });
});

describe('what is wrong where the policy is made, throws there', () => {
  const make = (options: object) => () => cedarPolicy(options as CedarOptions);

  test.each<[string, object, string | RegExp]>([
    ['no policies', {}, 'expected `policies` to be a text of Cedar policies'],
    ['an empty text', { policies: '// none yet' }, 'at least one policy'],
    ['an empty object', { policies: {} }, 'at least one policy'],
    ['a list', { policies: [permitAll] }, 'got an array of 1'],
    [
      'a syntax error in a text',
      { policies: `${permitAll}\n// \u{1f600}é\nforbid(principal, action, resource) whn;` },
      '`policies`, line 3, column 40: unexpected token `;` (expected `{`)',
    ],
    ['one after a wide character', { policies: `/* */` }, '`policies`, line 1, column 1'],
    [
      'a syntax error in one of several',
      { policies: { ok: permitAll, broken: 'permit(\n  principal, action, thing);' } },
      'policy `broken`, line 2, column 22',
    ],
    [
      'an unknown function',
      { policies: when('near(context)') },
      'line 1, column 44: `near` is not a valid function',
    ],
    [
      'a template',
      { policies: 'permit(principal == ?principal, action, resource);' },
      'static policy set includes a template',
    ],
    [
      'a template by its id',
      { policies: { t: 'permit(principal == ?principal, action, resource);' } },
      'policy `t`, line 1, column 21',
    ],
    ['two policies for one id', { policies: { two: permitAll + permitAll } }, 'policy `two`'],
    [
      'one id for two policies',
      { policies: `@id("a") ${permitAll} @id("a") ${permitAll}` },
      'two policies have the id `a`',
    ],
    [
      'an id that is the name of another',
      { policies: `${permitAll} @id("policy0") ${permitAll}` },
      'two policies have the id `policy0`',
    ],
    ['half of a surrogate pair', { policies: when('context.s == "\ud800"') }, 'Cedar failed'],
    [
      'a schema with a syntax error',
      { policies: permitAll, schema: 'entity User;\nentty Tool;' },
      '`schema`, line 2, column 1: error parsing schema: unexpected token `entty`',
    ],
    [
      'a schema that is no JSON',
      { policies: permitAll, schema: { a: () => 1 } },
      'expected `schema` to be JSON',
    ],
    [
      'a policy that does not fit the schema',
      {
        policies: { a: 'permit(principal, action == Action::"cal", resource);' },
        schema:
          'entity User; entity Tool; action call appliesTo { principal: User, resource: Tool };',
      },
      'policy `a`, line 1, column 29: for policy `a`, unrecognized action `Action::"cal"` (did ' +
        'you mean',
    ],
    [
      'an entity without a type',
      { policies: permitAll, entities: [{ uid: { id: 'a' } }] },
      'expected `entities[0].uid` to be Cedar entities',
    ],
    [
      'an entity in another form',
      { policies: permitAll, entities: [{ uid: { __entity: { type: 'User', id: 'a' } } }] },
      '`entities[0].uid`',
    ],
    [
      'an unknown member of an entity',
      { policies: permitAll, entities: [{ uid: { type: 'User', id: 'a' }, attributes: {} }] },
      'an unknown member `attributes`',
    ],
    [
      'parents of another form',
      { policies: permitAll, entities: [{ uid: { type: 'User', id: 'a' }, parents: ['staff'] }] },
      '`entities[0].parents`',
    ],
    [
      'a type that Cedar refuses',
      { policies: permitAll, entities: [{ uid: { type: 'a b', id: 'a' } }] },
      '`entities`: error during entity deserialization',
    ],
    [
      'an entity that says what the tool says',
      {
        policies: permitAll,
        entities: [{ uid: { type: 'Tool', id: 'a' }, attrs: { source: 'x' } }],
      },
      '`entities[0].attrs.source`',
    ],
    [
      'an entity twice',
      {
        policies: permitAll,
        entities: [
          { uid: { type: 'User', id: 'a' } },
          { uid: { type: 'User', id: 'a' }, attrs: { a: 1 } },
        ],
      },
      'duplicate entity entry',
    ],
    [
      'a path outside the context',
      { policies: permitAll, decimals: ['amount'] },
      'expected `decimals` to be an array of paths that begin with',
    ],
    [
      'another word for what does not match',
      { policies: permitAll, unmatched: 'allow' },
      '"deny" or "abstain"',
    ],
    [
      'an unknown option',
      { policies: permitAll, entites: [] },
      'unknown option `entites`; did you mean `entities`?',
    ],
    ['an empty id', { policies: permitAll, id: '' }, 'expected `id` to be a non-empty string'],
  ])('%s', (_, options, told) => {
    expect(make(options)).toThrow(
      expect.objectContaining({
        name: 'MisuseError',
        code: 'invalid_option',
        message: expect.stringMatching(/^cedarPolicy: /),
      }),
    );
    expect(make(options)).toThrow(told);
  });

  test('each policy of a text has its own position as its id, also beyond ten', async () => {
    const policies = Array.from(
      { length: 13 },
      (_, index) => `forbid(principal, action, resource) when { context.input.n == ${index} };`,
    ).join('\n');
    const policy = cedarPolicy({ policies });
    for (const n of [0, 2, 9, 10, 12])
      expect((await askAbout(policy, { n })).result.error?.message).toContain(`\`policy${n}\``);
  });
});

test('the same policies may be made several times, and others beside them', async () => {
  const [one, two, other] = [permitAll, permitAll, when('false')].map((policies) =>
    cedarPolicy({ policies }),
  );
  expect((await askAbout(one!)).outcome).toBe('allowed');
  expect((await askAbout(other!)).outcome).toBe('cedar_not_permitted');
  expect((await askAbout(two!)).outcome).toBe('allowed');
});
