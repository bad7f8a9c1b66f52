/** Scopes of tools, of tools in profiles, and of sessions. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { inspectSession } from '../../../src/extend.ts';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';

function registryWith(...scopes: string[]) {
  const registry = new HostToolRegistry();
  const ran: string[] = [];
  registry.register(
    defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({}),
      scopes,
      handler: () => {
        ran.push('pay');
        return 'paid';
      },
    }),
  );
  return { registry, ran };
}

test('a call by a caller without one of the scopes is denied, and nothing runs', async () => {
  const { registry, ran } = registryWith('pay:read', 'pay:write');
  const session = registry.createSession({ sessionId: 's', scopes: ['pay:read'] });
  const { error } = await session.call('pay', {});
  expect(error).toMatchObject({ code: 'policy_denied', reason: 'scope_missing' });
  expect(error?.message).toBe(
    'The call was denied, because the caller has not been granted the scope `pay:write`. Do not ' +
      'retry it unchanged.',
  );
  expect(ran).toEqual([]);
  expect(session.tools().map(({ name }) => name)).toEqual(['pay']);
});

test('with all of them, it runs', async () => {
  const { registry } = registryWith('a', 'b');
  const session = registry.createSession({ sessionId: 's', scopes: ['b', 'c', 'a'] });
  expect((await session.call('pay', {})).output).toBe('paid');
});

test('a tool without scopes needs none', async () => {
  const { registry } = registryWith();
  const session = registry.createSession({ sessionId: 's', scopes: [] });
  expect((await session.call('pay', {})).output).toBe('paid');
});

test('they are facts: rules test them, and the host may take one back', async () => {
  const { registry } = registryWith('a');
  registry.addRules([
    { id: 'guests', effect: 'ask', tools: 'pay', facts: { 'scope.guest': { equals: true } } },
  ]);
  const asked: string[] = [];
  const session = registry.createSession({
    sessionId: 's',
    scopes: ['a', 'guest'],
    approver: ({ tool }) => {
      asked.push(tool.name);
      return 'allow_once';
    },
  });
  expect((await session.call('pay', {})).output).toBe('paid');
  expect(asked).toEqual(['pay']);
  session.setFacts({ 'scope.a': null });
  expect((await session.call('pay', {})).error?.reason).toBe('scope_missing');
});

test('a profile adds scopes, and its heirs keep them; none takes away what the tool needs', async () => {
  const { registry } = registryWith('tool');
  registry.defineProfile({ id: 'parent', tools: [{ name: 'pay', scopes: ['parent'] }] });
  registry.defineProfile({
    id: 'child',
    extends: 'parent',
    tools: [{ name: 'pay', scopes: ['child'] }],
  });
  const reasonWith = async (...scopes: string[]) => {
    const session = registry.createSession({ sessionId: 's', profile: 'child', scopes });
    const { error } = await session.call('pay', {});
    await session.close();
    return error?.message.match(/scopes? (.*)\. Do/)?.[1];
  };
  expect(await reasonWith('tool', 'parent', 'child')).toBeUndefined();
  expect(await reasonWith('tool')).toBe('`parent`, `child`');
  expect(await reasonWith('parent', 'child')).toBe('`tool`');
});

test('a surface that knows the scopes of a request uses those, also for child calls', async () => {
  const { registry } = registryWith('a');
  registry.register(
    defineTool({
      name: 'outer',
      description: 'Calls the other.',
      parameters: z.object({}),
      uses: ['pay'],
      handler: async (_input, { tools }) => (await tools.call('pay', {})).error?.reason ?? 'ran',
    }),
  );
  const session = registry.createSession({ sessionId: 's', scopes: ['a'] });
  const surface = { name: 'x', scopes: [] as string[] };
  expect((await session.call('pay', {}, { surface })).error?.reason).toBe('scope_missing');
  expect((await session.call('outer', {}, { surface })).output).toBe('scope_missing');
  expect((await session.call('outer', {})).output).toBe('ran');
});

test('a rule cannot allow what a scope forbids, and a person is not asked about it', async () => {
  const { registry, ran } = registryWith('a');
  registry.addRules([{ effect: 'ask', tools: 'pay' }]);
  const session = registry.createSession({
    sessionId: 's',
    approver: () => expect.unreachable(),
  });
  expect((await session.call('pay', {})).error?.reason).toBe('scope_missing');
  expect(ran).toEqual([]);
});

test('`explain` names the missing scopes', async () => {
  const { registry } = registryWith('a', 'b');
  const session = registry.createSession({ sessionId: 's', scopes: ['a'] });
  expect(await session.explain('pay', {})).toMatchObject({
    decision: { effect: 'deny', reason: 'scope_missing' },
    steps: expect.arrayContaining([
      { source: 'tool', effect: 'deny', reason: 'scope_missing', scopes: ['b'] },
    ]),
  });
});

test.each([
  ['a blank', 'a b'],
  ['a quote', 'a"b'],
  ['nothing', ''],
  ['a letter outside ASCII', 'é'],
])('%s in a scope is refused wherever it is written', (_what, scope) => {
  expect(() => registryWith(scope)).toThrow('`scopes`');
  const { registry } = registryWith();
  expect(() => registry.createSession({ sessionId: 's', scopes: [scope] })).toThrow('`scopes`');
  expect(() =>
    registry.defineProfile({ id: 'p', tools: [{ name: 'pay', scopes: [scope] }] }),
  ).toThrow('scopes');
});

test('scopes of a surface that are no list end the call', async () => {
  const { registry, ran } = registryWith('a');
  const session = registry.createSession({ sessionId: 's' });
  const surface = { name: 'x', scopes: 'a' as unknown as string[] };
  expect((await session.call('pay', {}, { surface })).error?.code).toBe('invalid_input');
  expect(ran).toEqual([]);
});

describe('a call that waits for a person', () => {
  const secret = 'a key of at least thirty-two bytes, for tests';
  const suspending = (...had: string[]) => {
    const registry = new HostToolRegistry({ approvals: { secret } });
    const ran: string[] = [];
    registry.register(
      defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: z.object({}),
        scopes: ['a'],
        requiresApproval: true,
        handler: () => void ran.push('pay'),
      }),
    );
    const session = registry.createSession({
      sessionId: 's',
      principal: 'user:ann',
      approvalMode: 'suspend',
      scopes: had,
    });
    return { session, ran };
  };
  const yes = { decision: 'allow_once', by: 'user:bob' } as const;

  test.each([
    ['elsewhere', undefined, undefined],
    ['by a request with the same scopes', { name: 'x', scopes: ['a', 'b'] }, undefined],
    ['by a request with fewer scopes', { name: 'x', scopes: [] }, 'scope_missing'],
  ])(
    'is judged by the scopes of the request that made it, as far as it goes on by one that has them: %s',
    async (_, surface, reason) => {
      const { session, ran } = suspending();
      const asked = await session.call('pay', {}, { surface: { name: 'mcp', scopes: ['a'] } });
      expect(asked.error?.code).toBe('approval_pending');
      const token = asked.success ? '' : (asked.approval?.token as string);
      const options = surface === undefined ? undefined : { surface };
      const { error } = await inspectSession(session).resume(token, yes, options);
      expect(error?.reason).toBe(reason);
      expect(ran).toEqual(reason === undefined ? ['pay'] : []);
    },
  );

  test('without scopes of a request, the session counts, as in records of older releases', async () => {
    const { session, ran } = suspending('a');
    const asked = await session.call('pay', {});
    session.setFacts({ 'scope.a': null });
    const token = asked.success ? '' : (asked.approval?.token as string);
    expect((await session.approvals.resume(token, yes)).error?.reason).toBe('scope_missing');
    expect(ran).toEqual([]);
  });
});
