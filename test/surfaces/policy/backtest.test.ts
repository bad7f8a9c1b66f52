import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, type HostToolRegistry, type Rule } from '../../../src/index.ts';
import { backtest } from '../../../src/surfaces/policy/index.ts';
import { recordTape } from '../../../src/surfaces/testing/index.ts';
import { refund, refunds, registryOf } from './kit.ts';

const large: Rule = { id: 'large', effect: 'ask', tools: 'refund', when: { amount: { gt: 100 } } };
const huge: Rule = { id: 'huge', effect: 'deny', tools: 'refund', when: { amount: { gt: 1000 } } };

test('lists the calls that the new rules decide differently, with the rule', async () => {
  const result = await backtest(refunds({ amount: 50 }, { amount: 500 }, { amount: 5_000 }), {
    registry: registryOf(),
    after: [large, huge],
  });
  expect(result).toEqual({
    calls: 3,
    changed: [
      { callId: '1', toolName: 'refund', before: 'allow', after: 'ask', ruleId: 'large' },
      { callId: '2', toolName: 'refund', before: 'allow', after: 'deny', ruleId: 'huge' },
    ],
    unknown: [],
    byRule: {
      large: { matched: 2, shadow: 0, changed: 1 },
      huge: { matched: 1, shadow: 0, changed: 1 },
    },
    summary: {
      judged: 3,
      before: { allow: 3, ask: 0, deny: 0 },
      after: { allow: 1, ask: 1, deny: 1 },
      changes: [
        { before: 'allow', after: 'ask', calls: 1 },
        { before: 'allow', after: 'deny', calls: 1 },
      ],
      changed: 2,
      unknown: 0,
      invalid: 0,
      redacted: 0,
      unasked: 0,
      untimed: 3,
      unordered: 0,
    },
  });
});

test('compares with the rules of the registry, unless `before` is given', async () => {
  const registry = registryOf({ rules: [large] });
  const calls = refunds({ amount: 500 });
  expect((await backtest(calls, { registry, after: [large] })).changed).toEqual([]);
  expect((await backtest(calls, { registry, after: [] })).changed).toEqual([
    { callId: '0', toolName: 'refund', before: 'ask', after: 'allow', ruleId: 'large' },
  ]);
  expect((await backtest(calls, { registry, before: [], after: [large] })).changed).toEqual([
    { callId: '0', toolName: 'refund', before: 'allow', after: 'ask', ruleId: 'large' },
  ]);
});

test('names the rule of the stricter side; a default has none', async () => {
  const registry = registryOf({ default: 'deny', rules: [huge] });
  const { changed } = await backtest(refunds({ amount: 1 }, { amount: 5_000 }), {
    registry,
    after: [{ id: 'ok', effect: 'allow' }],
  });
  expect(changed.map(({ before, after, ruleId }) => [before, after, ruleId])).toEqual([
    ['deny', 'allow', 'ok'],
    ['deny', 'allow', 'huge'],
  ]);
});

test('keeps the rules of scopes and profiles on both sides', async () => {
  const registry = registryOf({ rules: [huge] }, []);
  const scope = registry.scope('plugin', { rules: [{ id: 'scoped', effect: 'ask' }] });
  scope.register(refund);
  registry.defineProfile({
    id: 'frozen',
    tools: ['refund'],
    rules: [{ id: 'no-refunds', effect: 'deny', when: { amount: { gt: 1 } } }],
  });
  const { summary, byRule } = await backtest(
    [
      { toolName: 'refund', input: { amount: 5 } },
      { toolName: 'refund', input: { amount: 5 }, profile: 'frozen' },
    ],
    { registry, after: [] },
  );
  expect([summary.before, summary.after]).toEqual([
    { allow: 0, ask: 1, deny: 1 },
    { allow: 0, ask: 1, deny: 1 },
  ]);
  expect(byRule).toEqual({
    scoped: { matched: 2, shadow: 0, changed: 0 },
    'no-refunds': { matched: 1, shadow: 0, changed: 0 },
  });
});

test('rules see principal, surface and facts of a record', async () => {
  const after: Rule[] = [
    { id: 'who', effect: 'deny', principal: 'eve' },
    { id: 'way', effect: 'deny', surface: 'mcp' },
    { id: 'fact', effect: 'deny', facts: { frozen: true } },
  ];
  const call = { toolName: 'refund', input: {} };
  const { changed } = await backtest(
    [
      { ...call, callId: 'a' },
      { ...call, callId: 'b', principal: 'eve' },
      { ...call, callId: 'c', surface: 'mcp' },
      { ...call, callId: 'd', facts: { frozen: true } },
      { ...call, callId: 'e', principal: '', surface: '' },
    ],
    { registry: registryOf(), after },
  );
  expect(changed.map(({ callId, ruleId }) => [callId, ruleId])).toEqual([
    ['b', 'who'],
    ['c', 'way'],
    ['d', 'fact'],
  ]);
});

test('reports shadow rules in `byRule`; they change no decision', async () => {
  const { changed, byRule } = await backtest(refunds({ amount: 1 }, { amount: 500 }), {
    registry: registryOf(),
    after: [{ ...large, shadow: true }],
  });
  expect(changed).toEqual([]);
  expect(byRule).toEqual({ large: { matched: 1, shadow: 1, changed: 0 } });
});

test('nothing of the host runs but `attributes`; what was not asked is counted', async () => {
  const never = vi.fn();
  const asked = vi.fn((value: unknown, { services }: { services: unknown }) => ({
    sanctioned: (services as { listed: unknown[] }).listed.includes(value),
  }));
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ payee: z.string() }),
    attributes: { payee: asked },
    requiresApproval: never,
    policy: { check: never },
    handler: never,
  } as never);
  const registry = registryOf({}, [pay as never, refund]);
  const { changed, summary } = await backtest(
    [
      { toolName: 'pay', input: { payee: 'mallory' } },
      { toolName: 'pay', input: { payee: 'bob' } },
      { toolName: 'refund', input: {} },
    ],
    {
      registry: registry as HostToolRegistry,
      after: [{ id: 'sanctions', effect: 'deny', when: { 'payee@sanctioned': true } }],
      services: { listed: ['mallory'] },
    },
  );
  expect(changed).toEqual([
    { callId: '0', toolName: 'pay', before: 'allow', after: 'deny', ruleId: 'sanctions' },
  ]);
  expect(summary.unasked).toBe(2);
  expect(never).not.toHaveBeenCalled();
  // The rules before read no attribute.
  expect(asked).toHaveBeenCalledTimes(2);
});

test('a registry with policies counts every call as not asked about fully', async () => {
  const check = vi.fn();
  const registry = registryOf({ policies: [{ id: 'p', check }] });
  const { summary } = await backtest(refunds({}, {}), { registry, after: [] });
  expect(summary.unasked).toBe(2);
  expect(check).not.toHaveBeenCalled();
});

test('an approval that is always required is an ask on both sides', async () => {
  const careful = defineTool({
    name: 'careful',
    description: 'Asks.',
    parameters: { type: 'object' },
    requiresApproval: true,
    handler: () => 1,
  });
  const { changed, summary } = await backtest([{ toolName: 'careful', input: {} }], {
    registry: registryOf({}, [careful]),
    after: [{ effect: 'deny', id: 'no' }],
  });
  expect(changed).toMatchObject([{ before: 'ask', after: 'deny', ruleId: 'no' }]);
  expect(summary.unasked).toBe(0);
});

test('changes nothing of the registry: no counts, uses, quotas or events', async () => {
  const now = () => 1_000;
  const registry = registryOf({
    now,
    rules: [large],
    quotas: [{ id: 'one', max: 1, per: 'day', by: 'registry' }],
  });
  registry.scope('plugin', { rules: [{ id: 'scoped', effect: 'deny' }] });
  registry.defineProfile({ id: 'p', tools: ['refund'], rules: [{ id: 'own', effect: 'ask' }] });
  const heard = vi.fn();
  registry.events.on('*', heard);
  await backtest(
    [
      { toolName: 'refund', input: { amount: 500 }, profile: 'p' },
      { toolName: 'refund', input: { amount: 500 } },
    ],
    { registry, after: [large] },
  );
  expect(registry.metrics().calls).toBe(0);
  expect(registry.unusedRules().map(({ id }) => id)).toEqual(['large', 'scoped', 'own']);
  expect(heard).not.toHaveBeenCalled();
  const explained = await registry.createSession({ sessionId: 's' }).explain('refund', {});
  expect(explained.quotas).toMatchObject([{ quota: 'one', used: 0 }]);
});

test('tools that are gone are listed, arguments that no longer fit are counted', async () => {
  const { unknown, summary, calls } = await backtest(
    [
      { toolName: 'gone', input: {} },
      { toolName: 'gone', input: {} },
      ...refunds({ amount: 'much' }, { amount: 500 }),
    ],
    { registry: registryOf(), after: [large] },
  );
  expect(calls).toBe(4);
  expect(unknown).toEqual(['gone']);
  expect(summary).toMatchObject({ judged: 1, unknown: 2, invalid: 1, changed: 1 });
});

test('a hidden tool is denied before its arguments are read, as in a real call', async () => {
  const { changed, summary } = await backtest(refunds({ amount: 5 }, { amount: 'much' }), {
    registry: registryOf(),
    after: [{ id: 'off', effect: 'deny', tools: 'refund' }],
  });
  expect(changed).toEqual([
    { callId: '0', toolName: 'refund', before: 'allow', after: 'deny', ruleId: 'off' },
  ]);
  // The second one is refused either way.
  expect(summary.invalid).toBe(1);
});

test('whether a tool was listed is no matter: the record says that it was called', async () => {
  const gated = defineTool({
    name: 'gated',
    description: 'Waits for a fact.',
    parameters: { type: 'object' },
    requires: [{ fact: 'ready', equals: true }],
    exposure: 'internal',
    handler: () => 1,
  });
  const { changed } = await backtest([{ toolName: 'gated', input: {} }], {
    registry: registryOf({}, [gated]),
    after: [{ effect: 'ask', id: 'x' }],
  });
  expect(changed).toMatchObject([{ after: 'ask' }]);
});

test('rules see what redaction left, and the summary counts it', async () => {
  const login = defineTool({
    name: 'login',
    description: 'Logs in.',
    parameters: z.object({ user: z.string(), pin: z.number().meta({ secret: true }) }),
    attributes: {
      user: () => {
        throw new Error('Not asked about arguments that the schema refuses.');
      },
    },
    handler: () => 1,
  });
  const { changed, summary } = await backtest(
    [
      { toolName: 'login', input: { user: 'ann', pin: '[redacted]' } },
      { toolName: 'login', input: { user: 'eve', pin: '[redacted]' } },
      { toolName: 'login', input: { user: 'eve' } },
    ],
    {
      registry: registryOf({}, [login]),
      after: [
        { id: 'no-eve', effect: 'deny', when: { user: 'eve' } },
        { id: 'blocked', effect: 'deny', when: { 'user@blocked': true } },
      ],
    },
  );
  expect(changed).toMatchObject([{ callId: '1', ruleId: 'no-eve' }]);
  expect(summary).toMatchObject({ judged: 2, redacted: 2, invalid: 1 });
});

test('takes a tape: calls of one session, a resumed call once', async () => {
  const recorded = registryOf({}, [defineTool({ ...refundConfig, handler: () => 'paid' })]);
  const session = recorded.createSession({ sessionId: 's' });
  const recording = recordTape(session);
  await session.call('refund', { amount: 500 }, { callId: 'first' });
  await session.call('refund', { amount: 5 }, { callId: 'second' });
  const tape = recording.tape();
  const again = { ...tape.calls[0]!, attempt: 2 };
  const { calls, changed } = await backtest(
    { ...tape, calls: [...tape.calls, again] },
    { registry: registryOf(), after: [large] },
  );
  expect(calls).toBe(2);
  expect(changed).toEqual([
    { callId: 'first', toolName: 'refund', before: 'allow', after: 'ask', ruleId: 'large' },
  ]);
});

const refundConfig = {
  name: 'refund',
  description: 'Pays money back.',
  parameters: { type: 'object', properties: { amount: { type: 'number' } } },
} as const;

test('a profile with a range of versions gets the version of a real session', async () => {
  const version = (text: string, requiresApproval: boolean) =>
    defineTool({
      name: 'pay',
      description: 'Pays.',
      version: text,
      parameters: { type: 'object' },
      requiresApproval,
      handler: () => 1,
    });
  const registry = registryOf({}, [version('1.0.0', true), version('2.0.0', false)]);
  registry.defineProfile({ id: 'old', tools: ['pay@^1'] });
  const { summary } = await backtest(
    [
      { toolName: 'pay', input: {} },
      { toolName: 'pay', input: {}, profile: 'old' },
    ],
    { registry, after: [] },
  );
  expect(summary.after).toEqual({ allow: 1, ask: 1, deny: 0 });
});

test('lists at most `maxChanged` changed calls and counts all', async () => {
  const { changed, summary, byRule } = await backtest(
    refunds({ amount: 500 }, { amount: 500 }, { amount: 500 }),
    { registry: registryOf(), after: [large], maxChanged: 1 },
  );
  expect(changed).toHaveLength(1);
  expect(summary.changed).toBe(3);
  expect(byRule.large?.changed).toBe(3);
});

test('lets other work of the process have its turn', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await backtest(
    Array.from({ length: 5_000 }, (_, amount) => ({ toolName: 'refund', input: { amount } })),
    { registry: registryOf(), after: [large] },
  );
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test('the registry may change meanwhile: the backtest uses its earlier state', async () => {
  const registry = registryOf();
  async function* records() {
    yield* refunds({ amount: 500 });
    registry.unregister('refund');
    yield* refunds({ amount: 500 });
  }
  const { changed } = await backtest(records(), { registry, after: [large] });
  expect(changed).toHaveLength(2);
});

test('ids of rules may be any text', async () => {
  const { byRule } = await backtest(refunds({}), {
    registry: registryOf(),
    after: [
      { id: '__proto__', effect: 'ask' },
      { id: 'constructor', effect: 'allow', when: { amount: 1 } },
    ],
  });
  expect(Object.entries(byRule)).toEqual([
    ['__proto__', { matched: 1, shadow: 0, changed: 1 }],
    ['constructor', { matched: 0, shadow: 0, changed: 0 }],
  ]);
});

test('a registry without `attributes` that answer denies, and the host learns why', async () => {
  const logger = { warn: vi.fn(), error: vi.fn() };
  const broken = defineTool({
    name: 'broken',
    description: 'Asks a broken service.',
    parameters: { type: 'object', properties: { to: { type: 'string' } } },
    attributes: {
      to: () => {
        throw new Error('away');
      },
    },
    handler: () => 1,
  });
  const { changed } = await backtest([{ toolName: 'broken', input: { to: 'x' } }], {
    registry: registryOf({ logger }, [broken]),
    after: [{ effect: 'ask', when: { 'to@known': false } }],
  });
  expect(changed).toEqual([{ callId: '0', toolName: 'broken', before: 'allow', after: 'deny' }]);
  expect(logger.error).toHaveBeenCalledOnce();
});

test.each<[string, unknown, string]>([
  [
    'a record that is none',
    [5],
    'backtest: record 0: expected an object of fields, got `5` (number).',
  ],
  ['a hole', [undefined], 'backtest: record 0: expected an object of fields, got null.'],
  [
    'no tool',
    [...refunds({}), { input: {} }],
    'backtest: record 1: expected `toolName` to be a string, got undefined.',
  ],
  [
    'no input',
    [{ toolName: 'refund' }],
    'backtest: record 0: expected `input` to be the arguments of the call, got undefined.',
  ],
  [
    'an unknown field',
    [{ toolName: 'refund', input: {}, principle: 'ann' }],
    'backtest: record 0: unknown field `principle`; did you mean `principal`?',
  ],
  [
    'a time that is none',
    [{ toolName: 'refund', input: {}, at: 'yesterday' }],
    'backtest: record 0: expected `at` to be epoch milliseconds or a time such as ' +
      '"2026-03-01T09:30:00Z", got `yesterday` (string).',
  ],
  [
    'a day without a time',
    [{ toolName: 'refund', input: {}, at: '2026-02-30T00:00' }],
    'backtest: record 0: expected `at` to be epoch milliseconds or a time such as ' +
      '"2026-03-01T09:30:00Z", got `2026-02-30T00:00` (string).',
  ],
  [
    'a day that no calendar has',
    [{ toolName: 'refund', input: {}, at: '2026-02-30T09:30:00Z' }],
    'got `2026-02-30T09:30:00Z` (string).',
  ],
  [
    'facts that are no object',
    [{ toolName: 'refund', input: {}, facts: [] }],
    'backtest: record 0: expected `facts` to be a JSON object, got an array of 0.',
  ],
  [
    'an unknown profile',
    [{ toolName: 'refund', input: {}, profile: 'none' }],
    'backtest: record 0: expected `profile` to name a profile, got `none` (string). None is defined',
  ],
  [
    'text',
    'refund',
    'backtest: expected records to be a list, an iterable or a tape, got `refund` (string).',
  ],
  ['nothing', null, 'backtest: expected records to be a list, an iterable or a tape, got null.'],
  [
    'a tape of another version',
    { version: 2, tools: [], calls: [] },
    'backtest: expected `/version` of the tape to be 1, got `2` (number). Record the tape again ' +
      'with this version of host-tools.',
  ],
])('refuses %s', async (_, records, message) => {
  await expect(backtest(records as never, { registry: registryOf(), after: [] })).rejects.toThrow(
    message,
  );
});

test.each<[string, object, string]>([
  ['no rules', {}, 'backtest: expected `after` to be an array, got undefined.'],
  ['an unknown option', { after: [], befor: [] }, 'unknown option `befor`; did you mean `before`?'],
  [
    'no registry',
    { after: [], registry: {} },
    'backtest: Expected a HostToolRegistry of this copy of host-tools, got an object',
  ],
  [
    'a malformed rule',
    { after: [{ effect: 'forbid' }] },
    'backtest: `after`: registry rule 0: Expected `effect` to be `allow`, `ask` or `deny`, got ' +
      '`forbid`',
  ],
  [
    'no number of calls',
    { after: [], maxChanged: -1 },
    'backtest: expected `maxChanged` to be a whole number',
  ],
])('refuses %s', async (_, options, message) => {
  await expect(backtest([], { registry: registryOf(), ...options } as never)).rejects.toThrow(
    message,
  );
});

test('hostile inputs are refused as those of calls are', async () => {
  const deep: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`);
  const wide = { to: Array.from({ length: 60_000 }, () => 1) };
  const proto: unknown = JSON.parse('{"__proto__":{"amount":1}}');
  const getter = {
    get amount(): number {
      throw new Error('boom');
    },
  };
  const { summary } = await backtest(
    [deep, wide, proto, getter, 'text', null, [], Symbol('s')].map((input) => ({
      toolName: 'refund',
      input,
    })),
    { registry: registryOf(), after: [large] },
  );
  expect(summary).toMatchObject({ judged: 0, invalid: 8 });
});
