/** `credentials` of tools: a resolver gives the principal's token after the gates, once a call. */

import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  type CredentialAnswer,
  type CredentialRequest,
  type CredentialResolver,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type ToolContext,
} from '../../../src/index.ts';
import { textOf } from './text-of.ts';

const canary = 'gho_Canary.0123+456/789=';

/** A registry with a tool that needs a credential. */
function setUp(
  credentials: CredentialResolver | undefined,
  handler: (context: ToolContext<unknown, unknown, 'github'>) => unknown = () => 'listed',
  options: RegistryOptions = {},
) {
  const logged: unknown[] = [];
  const log = (data: object, message?: string): void => void logged.push([data, message]);
  const registry = new HostToolRegistry({
    credentials,
    logger: { warn: log, error: log },
    ...options,
  });
  const repos = defineTool({
    name: 'repos',
    description: 'Lists repositories.',
    parameters: z.object({ note: z.string().optional() }),
    credentials: { github: { scopes: ['repo'], audience: 'https://api.github.test' } },
    handler: (_input, context) => handler(context),
  });
  registry.register(repos);
  const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
  return { registry, session, repos, logged };
}

const give = (): CredentialAnswer => ({ token: canary });

describe('a tool that needs a credential', () => {
  test('gets the token of the principal, and headers with it', async () => {
    const asked: CredentialRequest[] = [];
    const seen: unknown[] = [];
    const { session } = setUp(
      async (request) => {
        asked.push(request);
        return { token: canary, expiresAt: Date.now() + 60_000 };
      },
      ({ credentials: { github } }) => {
        seen.push(github.token, github.headers(), Object.keys(github));
        return 'listed';
      },
    );
    expect(await session.call('repos', {})).toMatchObject({ success: true, output: 'listed' });
    expect(seen).toEqual([canary, { Authorization: `Bearer ${canary}` }, []]);
    expect(asked).toMatchObject([
      {
        principal: 'ann',
        name: 'github',
        scopes: ['repo'],
        audience: 'https://api.github.test',
        tool: 'repos',
      },
    ]);
    expect(asked[0]?.signal).toBeInstanceOf(AbortSignal);
  });

  test('is asked for after approval, and not for a call that is refused', async () => {
    const order: string[] = [];
    const resolver = vi.fn(() => {
      order.push('resolver');
      return give();
    });
    const { registry } = setUp(resolver, () => void order.push('handler'), {
      rules: [{ effect: 'ask', tools: 'repos' }],
    });
    const session = (answer: 'allow_once' | 'reject_once', sessionId: string) =>
      registry.createSession({
        sessionId,
        approver: () => {
          order.push(answer);
          return answer;
        },
      });
    await session('reject_once', 's2').call('repos', {});
    expect(order).toEqual(['reject_once']);
    expect((await session('allow_once', 's3').call('repos', {})).success).toBe(true);
    expect(order).toEqual(['reject_once', 'allow_once', 'resolver', 'handler']);
    expect(resolver).toHaveBeenCalledTimes(1);
  });

  test('is judged again after the wait, and asked for once although it comes back', async () => {
    const resolver = vi.fn(async () => {
      registry.addRules([{ id: 'late', effect: 'ask', tools: 'repos' }]);
      return give();
    });
    const { registry } = setUp(resolver);
    const approver = vi.fn(() => 'allow_once' as const);
    const session = registry.createSession({ sessionId: 's2', approver });
    expect((await session.call('repos', {})).success).toBe(true);
    expect(approver).toHaveBeenCalledTimes(1);
    expect(resolver).toHaveBeenCalledTimes(1);
  });

  test('has no credentials that it does not name, and other tools have none', async () => {
    const seen: unknown[] = [];
    const { registry, session } = setUp(give, ({ credentials }) => {
      const all = credentials as Readonly<Record<string, unknown>>;
      seen.push(Object.keys(all), all.gitlab, all.constructor, Object.isFrozen(all));
    });
    registry.register(
      defineTool({
        name: 'plain',
        description: 'Needs nothing.',
        parameters: z.object({}),
        handler: (_input, context) => void seen.push(Object.keys(context.credentials)),
      }),
    );
    await session.call('repos', {});
    await session.call('plain', {});
    expect(seen).toEqual([['github'], undefined, undefined, true, []]);
  });

  test('gets the credential of its own principal, however calls overlap', async () => {
    const seen: string[] = [];
    const { registry } = setUp(
      async ({ principal }) => {
        await new Promise((resolve) => setTimeout(resolve, principal === 'ann' ? 5 : 0));
        return { token: `token-of-${principal}` };
      },
      ({ principal, credentials }) => void seen.push(`${principal} ${credentials.github.token}`),
    );
    const of = (principal: string) =>
      registry.createSession({ sessionId: 's', principal }).call('repos', {});
    await Promise.all([of('ann'), of('bob'), of('ann')]);
    expect(seen.sort()).toEqual(['ann token-of-ann', 'ann token-of-ann', 'bob token-of-bob']);
  });
});

describe('a resolver that gives no token', () => {
  const faults: Readonly<Record<string, CredentialResolver>> = {
    'throws, with a token in its text': () => {
      throw new TypeError(`401 for Bearer ${canary}`);
    },
    rejects: () => Promise.reject(Object.assign(new Error(canary), { name: canary, canary })),
    'rejects with a text': () => Promise.reject(canary),
    'answers nothing': () => undefined as never,
    'answers a text': () => canary as never,
    'answers an empty object': () => ({}) as never,
    'answers both': () => ({ token: canary, authorize: { url: 'https://a.test' } }) as never,
    'answers a short token': () => ({ token: 'abc' }),
    'answers a token that begins another header': () => ({ token: `${canary}\r\nX-Evil: 1` }),
    'answers a token with a line end': () => ({ token: `${canary}\n` }),
    'answers a token with a blank': () => ({ token: `${canary} x` }),
    'answers a long token': () => ({ token: canary.repeat(1_000) }),
    'answers an expired token': () => ({ token: canary, expiresAt: Date.now() - 1 }),
    'answers a wrong time': () => ({ token: canary, expiresAt: Number.NaN }),
    'misspells a member': () => ({ token: canary, expiresat: 1 }) as never,
    'answers a page of a script': () => ({ authorize: { url: 'javascript:alert(1)' } }),
    'has getters that throw': () =>
      Object.defineProperty({}, 'token', {
        get: () => {
          throw new Error(canary);
        },
        enumerable: true,
      }) as never,
    'answers a revoked proxy': () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy as never;
    },
  };

  test.each(Object.entries(faults))(
    '%s: the call is refused, and nothing is told',
    async (...[, resolver]) => {
      const ran = vi.fn();
      const { session, logged } = setUp(resolver, ran);
      const result = await session.call('repos', {});
      expect(result).toMatchObject({
        error: { code: 'policy_error', reason: 'credentials_unavailable' },
        metadata: { status: 'rejected' },
      });
      expect(ran).not.toHaveBeenCalled();
      expect(logged.length).toBe(1);
      expect(textOf([result, result.error?.cause, logged])).not.toContain('Canary');
    },
  );

  test('hangs: the call is refused after `policyTimeoutMs`, and the resolver is told', async () => {
    let signal: AbortSignal | undefined;
    const { session } = setUp(
      (request) => {
        signal = request.signal;
        return new Promise(() => {});
      },
      undefined,
      { policyTimeoutMs: 20 },
    );
    const result = await session.call('repos', {});
    expect(result.error?.reason).toBe('credentials_unavailable');
    expect(signal?.aborted).toBe(true);
  });

  test('answers too late: nothing runs, and nothing is told', async () => {
    const ran = vi.fn();
    let reject: (error: Error) => void = () => {};
    const { session, logged } = setUp(() => new Promise((_, refuse) => (reject = refuse)), ran, {
      policyTimeoutMs: 10,
    });
    await session.call('repos', {});
    reject(new Error(canary));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ran).not.toHaveBeenCalled();
    expect(textOf(logged)).not.toContain('Canary');
  });

  test('is absent: the call is refused, and the log says what to give', async () => {
    const { session, logged } = setUp(undefined);
    expect((await session.call('repos', {})).error?.reason).toBe('credentials_unavailable');
    expect(textOf(logged)).toContain('new HostToolRegistry({ credentials })');
    expect(await session.explain('repos', {})).toMatchObject({
      code: 'policy_error',
      steps: expect.arrayContaining([
        expect.objectContaining({ stage: 'credentials', reason: 'credentials_unavailable' }),
      ]) as unknown,
    });
  });

  test('is asked by no explanation', async () => {
    const resolver = vi.fn(give);
    const { session } = setUp(resolver);
    expect((await session.explain('repos', {})).decision).toMatchObject({ effect: 'allow' });
    expect(resolver).not.toHaveBeenCalled();
  });
});

test('a cancelled call tells the resolver, and does not wait for it', async () => {
  let signal: AbortSignal | undefined;
  const { session } = setUp((request) => {
    signal = request.signal;
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const calling = session.call('repos', {}, { signal: controller.signal });
  await vi.waitFor(() => expect(signal).toBeDefined());
  controller.abort();
  expect((await calling).error?.code).toBe('cancelled');
  expect(signal?.aborted).toBe(true);
});

test('a token that expires while the call waits for a person is not used', async () => {
  let now = 1_000;
  const resolver = vi.fn(() => {
    registry.addRules([{ effect: 'ask', tools: 'repos' }]);
    return { token: canary, expiresAt: 2_000 };
  });
  const { registry } = setUp(resolver, undefined, { now: () => now });
  const session = registry.createSession({
    sessionId: 's2',
    approver: () => {
      now = 3_000;
      return 'allow_once';
    },
  });
  expect((await session.call('repos', {})).error?.reason).toBe('credentials_unavailable');
  expect(resolver).toHaveBeenCalledTimes(1);
});

test('a login that is needed refuses a call that cannot wait for it', async () => {
  const { session } = setUp(() => ({ authorize: { url: 'https://login.test/?a=1' } }));
  expect(await session.call('repos', {})).toMatchObject({
    error: {
      reason: 'authorization_required',
      details: { credential: 'github', url: 'https://login.test/?a=1' },
    },
  });
});

describe('what a definition says', () => {
  const tool = (credentials: object) => () =>
    defineTool({
      name: 'a',
      description: 'Does something.',
      parameters: z.object({}),
      credentials: credentials as { readonly github: object },
      handler: () => null,
    });

  test.each([
    [{}, '1 to 16 of them'],
    [{ 'git hub': {} }, 'names of at most 64'],
    [{ __proto__: {}, 'x:': {} }, 'names of at most 64'],
    [{ github: null }, '`credentials.github` to be an object'],
    [{ github: { scope: ['a'] } }, 'unknown field `credentials.github.scope`'],
    [{ github: { scopes: ['a b'] } }, '`credentials.github.scopes`'],
    [{ github: { audience: '' } }, '`credentials.github.audience`'],
  ])('%j is refused', (credentials, message) => {
    expect(tool(credentials)).toThrow(message);
  });

  test('an external tool has none, since no token is sent elsewhere', () => {
    expect(() =>
      defineTool({
        name: 'a',
        description: 'Does something.',
        parameters: z.object({}),
        credentials: { github: {} },
        external: true,
      }),
    ).toThrow('left out for a tool whose calls run elsewhere (`external`)');
  });
});
