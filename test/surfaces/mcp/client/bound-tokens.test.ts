/** Imports with bound tokens, with scopes of their own, and with the word of a platform. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { HostToolRegistry, memoryStore } from '../../../../src/index.ts';
import { importMcpTools, type McpAuth } from '../../../../src/surfaces/mcp/index.ts';
import { authorizationWorld, theAssertion } from '../../../cli/authorization-server.ts';

async function telling(url: string, auth: McpAuth): Promise<boolean> {
  const imported = await importMcpTools({ url, auth });
  const registry = new HostToolRegistry();
  registry.registerAll(imported.tools);
  try {
    return (await registry.createSession({ sessionId: 's' }).call('tell', {})).success;
  } finally {
    await registry.close();
    await imported.close();
  }
}

const person = (logins: URL[] = []) =>
  ({
    grant: 'authorization_code',
    redirectUrl: 'http://127.0.0.1:9/callback',
    async authorize(address: URL) {
      logins.push(address);
      const answer = await fetch(address, { redirect: 'manual' });
      return answer.headers.get('location') ?? '';
    },
  }) as const;

const workload = (url: string) =>
  ({ grant: 'jwt_bearer', clientId: 'app', issuer: new URL(url).origin }) as const;

describe('with `dpop`', () => {
  test('each request is signed, and a kept login is used with its key by the next process', async () => {
    const { url } = await authorizationWorld(undefined, { binds: true });
    const logins: URL[] = [];
    const store = memoryStore();
    onTestFinished(() => store.close?.());
    const auth = { ...person(logins), dpop: true, store };
    expect([await telling(url, auth), await telling(url, auth)]).toEqual([true, true]);
    expect(logins).toHaveLength(1);
  });

  test('a kept login without a key is not used', async () => {
    const { url } = await authorizationWorld();
    const logins: URL[] = [];
    const store = memoryStore();
    onTestFinished(() => store.close?.());
    await telling(url, { ...person(logins), store });
    await expect(telling(url, { ...person(logins), store, dpop: true })).rejects.toThrow(
      'bound to the key of this client',
    );
    expect(logins).toHaveLength(2);
  });

  test('a program signs too, and takes no token that anybody could use', async () => {
    const signing = await authorizationWorld(undefined, { binds: true });
    const assertion = theAssertion;
    const auth = (url: string) => ({ ...workload(url), assertion, dpop: true });
    expect(await telling(signing.url, auth(signing.url))).toBe(true);
    const { url } = await authorizationWorld();
    await expect(telling(url, auth(url))).rejects.toThrow('bound to the key of this client');
  });
});

describe('a program for which its platform vouches', () => {
  test('is asked for the word of the platform for each token', async () => {
    const { url, expire } = await authorizationWorld();
    let asked = 0;
    const assertion = async () => {
      asked++;
      return theAssertion;
    };
    const imported = await importMcpTools({ url, auth: { ...workload(url), assertion } });
    onTestFinished(() => imported.close());
    expire();
    await imported.refresh();
    expect(asked).toBe(2);
  });

  test('gives it to no issuer but its own', async () => {
    const { url, grants } = await authorizationWorld();
    const auth = { ...workload(url), issuer: 'https://login.example.com', assertion: theAssertion };
    await expect(telling(url, auth)).rejects.toThrow();
    expect(grants).toEqual([]);
  });

  test('is refused with a wrong one, once, and no error shows it', async () => {
    const { url, grants } = await authorizationWorld();
    const assertion = 'a-word-that-nobody-else-may-read';
    const error = await telling(url, { ...workload(url), assertion }).catch(String);
    expect(error).not.toContain(assertion);
    expect(grants).toHaveLength(1);
  });

  test.each(['', 1])('without one (%j), is told so', async (given) => {
    const { url } = await authorizationWorld();
    const failing = telling(url, { ...workload(url), assertion: async () => given as string });
    await expect(failing).rejects.toThrow('Expected `auth.assertion` to resolve to a JWT');
  });
});

describe('scopes of the host', () => {
  const demands = { callScope: 'mail:write' };

  test('are asked for in place of those that the server names', async () => {
    const { url, logins } = await authorizationWorld(undefined, demands);
    expect(await telling(url, { ...person(), scopes: ['mail:write'] })).toBe(true);
    expect(logins.map(({ scope }) => scope)).toEqual(['mail:write']);
  });

  test('are kept when a call needs more', async () => {
    const { url, logins } = await authorizationWorld(undefined, demands);
    expect(await telling(url, { ...person(), scopes: ['mail:list'] })).toBe(true);
    expect(logins.map(({ scope }) => scope)).toEqual(['mail:list', 'mail:list mail:write']);
  });

  test('are those of a program, too', async () => {
    const { url, grants } = await authorizationWorld(undefined, demands);
    const auth = { ...workload(url), assertion: theAssertion, scopes: ['mail:write'] };
    expect(await telling(url, auth)).toBe(true);
    expect(grants).toHaveLength(1);
  });
});

test('a server that always wants more is asked for a login once for each call', async () => {
  // Nobody has both as one scope.
  const { url, logins } = await authorizationWorld(undefined, { callScope: 'mail:a mail:b' });
  const imported = await importMcpTools({ url, auth: person() });
  const registry = new HostToolRegistry();
  onTestFinished(async () => {
    await registry.close();
    await imported.close();
  });
  registry.registerAll(imported.tools);
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('tell', {})).success).toBe(false);
  expect(logins).toHaveLength(2);
  expect((await session.call('tell', {})).success).toBe(false);
  expect(logins.length).toBeLessThanOrEqual(3);
});
