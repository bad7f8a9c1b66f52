/** A call whose principal has to log in waits, and goes on once, in whatever process hears of it. */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type CredentialResolver,
  defineTool,
  HostToolRegistry,
  memoryStore,
  type RegistryOptions,
  type SessionOptions,
} from '../../../src/index.ts';

const secret = 'k'.repeat(32);
const url = 'https://login.test/authorize?client=1&state=abc';

/** Several processes with one store, in which people log in. */
function setUp(options: RegistryOptions = {}) {
  const store = memoryStore();
  const loggedIn = new Set<string>();
  const ran: string[] = [];
  const resolver = vi.fn<CredentialResolver>(({ principal, name }) =>
    loggedIn.has(`${principal} ${name}`)
      ? { token: `token-of-${principal}` }
      : { authorize: { url, state: 'abc' } },
  );
  const start = (more: SessionOptions<unknown> | object = {}) => {
    const registry: HostToolRegistry = new HostToolRegistry({
      credentials: resolver,
      store,
      ...options,
      approvals: {
        secret,
        session: ({ sessionId, principal }) =>
          registry.createSession({ approvalMode: 'suspend', ...more, sessionId, principal }),
        ...options.approvals,
      },
    });
    registry.register(
      defineTool({
        name: 'repos',
        description: 'Lists repositories.',
        parameters: z.object({ of: z.string().optional() }),
        credentials: { github: {} },
        handler: ({ of = 'all' }, { credentials: { github } }) => {
          ran.push(`${of} with ${github.token}`);
          return of;
        },
      }),
    );
    registry.register(
      defineTool({
        name: 'outer',
        description: 'Calls another tool.',
        parameters: z.object({}),
        uses: ['repos'],
        handler: async (_input, { tools }) => (await tools.call('repos', {})).error?.reason ?? '',
      }),
    );
    return registry;
  };
  const open = (registry: HostToolRegistry, more: Partial<SessionOptions<unknown>> = {}) =>
    registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
      ...more,
    });
  return { store, loggedIn, ran, resolver, start, open };
}

const ann = { principal: 'ann', name: 'github' };

describe('a call whose principal has to log in', () => {
  test('is suspended with the address, and goes on after the login', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const registry = start();
    const session = open(registry);
    const result = await session.call('repos', { of: 'a' });
    expect(result).toMatchObject({
      error: {
        code: 'approval_pending',
        reason: 'authorization_required',
        details: { credential: 'github', url },
      },
      metadata: { status: 'pending' },
    });
    expect(result.error?.message).toContain(url);
    const [listed] = await registry.approvals.list();
    expect(listed).toMatchObject({
      principal: 'ann',
      title: 'Waits for a login to `github`',
      login: [{ credential: 'github', url, state: 'abc' }],
    });
    expect(await registry.credentials.granted({ principal: 'bob', name: 'github' })).toEqual([]);
    expect(await registry.credentials.granted({ principal: 'ann', name: 'gitlab' })).toEqual([]);
    loggedIn.add('ann github');
    expect(await registry.credentials.granted(ann)).toMatchObject([{ success: true, output: 'a' }]);
    expect(ran).toEqual(['a with token-of-ann']);
    expect(await session.approvals.outcome(listed?.id ?? '')).toMatchObject({
      status: 'settled',
      result: { success: true },
    });
    expect(await registry.credentials.granted(ann)).toEqual([]);
    expect(await registry.approvals.list()).toEqual([]);
  });

  test('runs once, however many processes hear of the login', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const processes = [start(), start(), start()];
    const session = open(processes[0] as HostToolRegistry);
    for (const of of ['a', 'b', 'c']) await session.call('repos', { of });
    loggedIn.add('ann github');
    const heard = [...processes, ...processes].map((one) => one.credentials.granted(ann));
    const results = (await Promise.all(heard)).flat();
    expect(results.map(({ output }) => output).sort()).toEqual(['a', 'b', 'c']);
    expect(ran.length).toBe(3);
  });

  test('is judged again: what was denied meanwhile does not run', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const registry = start();
    await open(registry).call('repos', {});
    registry.addRules([{ id: 'no-more', effect: 'deny', tools: 'repos' }]);
    loggedIn.add('ann github');
    const [result] = await registry.credentials.granted(ann);
    expect(result?.error?.ruleId).toBe('no-more');
    expect(ran).toEqual([]);
  });

  test('waits again if the login was not enough', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const registry = start();
    await open(registry).call('repos', {});
    const [again] = await registry.credentials.granted(ann);
    expect(again?.error?.reason).toBe('authorization_required');
    loggedIn.add('ann github');
    expect(await registry.credentials.granted(ann)).toMatchObject([{ success: true }]);
    expect(ran.length).toBe(1);
  });

  test('can be suspended in a session that asks at once', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const registry = start();
    const session = open(registry, { approvalMode: 'ask' });
    expect((await session.call('repos', {})).error?.code).toBe('approval_pending');
    loggedIn.add('ann github');
    expect(await registry.credentials.granted(ann)).toMatchObject([{ success: true }]);
    expect(ran.length).toBe(1);
  });
});

describe('a call that was approved before', () => {
  const options: RegistryOptions = {
    rules: [{ effect: 'ask', tools: 'repos' }],
    approvals: { secret, fourEyes: true },
  };

  test('is not asked about again, and the record says who approved it', async () => {
    const { start, open, loggedIn, ran, resolver } = setUp(options);
    const registry = start();
    await open(registry).call('repos', {});
    expect(resolver).not.toHaveBeenCalled();
    const [question] = await registry.approvals.list();
    const allow = { decision: 'allow_once', by: 'bob' } as const;
    const waits = await registry.approvals.answer(question?.id ?? '', allow);
    expect(waits.error?.reason).toBe('authorization_required');
    const [waiting] = await registry.approvals.list();
    expect(waiting?.login).toMatchObject([{ credential: 'github', approvedBy: 'bob' }]);
    loggedIn.add('ann github');
    expect(await registry.credentials.granted(ann)).toMatchObject([{ success: true }]);
    expect(ran.length).toBe(1);
  });

  test('nobody approves a call by allowing its login', async () => {
    const { start, open, loggedIn, ran } = setUp({ approvals: { secret } });
    const registry = start();
    await open(registry).call('repos', {});
    registry.addRules([{ id: 'now', effect: 'ask', tools: 'repos' }]);
    loggedIn.add('ann github');
    const [waiting] = await registry.approvals.list();
    const allow = { decision: 'allow_always', by: 'eve' } as const;
    const asked = await registry.approvals.answer(waiting?.id ?? '', allow);
    expect(asked.error?.reason).toBe('approval_required');
    expect(ran).toEqual([]);
  });

  test('whoever rejects the login cancels the call', async () => {
    const { start, open, loggedIn, ran } = setUp();
    const registry = start();
    await open(registry).call('repos', {});
    const [waiting] = await registry.approvals.list();
    const reject = { decision: 'reject_once', by: 'bob' } as const;
    const rejected = await registry.approvals.answer(waiting?.id ?? '', reject);
    expect(rejected.error?.code).toBe('approval_denied');
    loggedIn.add('ann github');
    expect(await registry.credentials.granted(ann)).toEqual([]);
    expect(ran).toEqual([]);
  });
});

describe('a call that cannot wait is refused with the address', () => {
  test.each([
    ['without `approvals.secret`', {}, { principal: 'ann' }, false],
    ['without a principal', { approvals: { secret } }, {}, false],
  ])('%s', async (_name, options, session, waits) => {
    const registry = new HostToolRegistry({
      credentials: () => ({ authorize: { url } }),
      ...options,
    });
    registry.register(
      defineTool({
        name: 'repos',
        description: 'Lists repositories.',
        parameters: z.object({}),
        credentials: { github: {} },
        handler: () => null,
      }),
    );
    const result = await registry.createSession({ sessionId: 's', ...session }).call('repos', {});
    expect(result.error).toMatchObject({ reason: 'authorization_required', details: { url } });
    expect(result.error?.code === 'approval_pending').toBe(waits);
  });

  test('of another tool, and in a session that was delegated to', async () => {
    const { start, open } = setUp();
    const registry = start();
    const session = open(registry, { approvalMode: 'ask' });
    expect((await session.call('outer', {})).output).toBe('authorization_required');
    const inner = session.delegate({ agent: 'helper' });
    expect((await inner.call('repos', {})).error?.code).toBe('tool_not_available');
  });
});

test('a login of nobody is refused where it is written', async () => {
  const registry = setUp().start();
  await expect(registry.credentials.granted({ name: 'github' } as never)).rejects.toThrow(
    '`principal`',
  );
});
