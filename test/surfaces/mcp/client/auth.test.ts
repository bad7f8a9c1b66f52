/** Imports that get their tokens themselves, from a real authorization server. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import {
  HostToolRegistry,
  isMisuseError,
  memoryStore,
  type ToolResult,
} from '../../../../src/index.ts';
import { authorizerOf } from '../../../../src/surfaces/mcp/client/auth.ts';
import { importByWishes } from '../../../../src/surfaces/mcp/client/import.ts';
import {
  importMcpTools,
  type McpAuth,
  type McpAuthorizationCode,
} from '../../../../src/surfaces/mcp/index.ts';
import { authorizedServer, machineSecret, pem, redirectUrl } from '../authorized-server.ts';
import { logIn } from '../oidc-server.ts';
import { opened, signal } from '../server/kit.ts';

const open = opened();
afterEach(() => open.close());

/** The text of a result's only content block. */
const textOf = ({ output }: ToolResult): unknown => (output as [{ text: string }])[0].text;

/** A session with the imported tools. */
async function importing(url: URL, auth: McpAuth) {
  const imported = await importMcpTools({ url, auth }, { name: 'orders' });
  const registry = new HostToolRegistry();
  registry.registerAll(imported.tools);
  open.defer(async () => {
    await registry.close();
    await imported.close();
  });
  return registry.createSession({ sessionId: 'host' });
}

function personWith(more: Partial<McpAuthorizationCode> = {}) {
  const asked: URL[] = [];
  const auth: McpAuthorizationCode = {
    grant: 'authorization_code',
    redirectUrl,
    clientId: 'app',
    authorize(address) {
      asked.push(address);
      return logIn(address, 'ann', redirectUrl);
    },
    ...more,
  };
  return { auth, asked };
}

describe('a person', () => {
  test('logs in when the import connects, and again when a tool needs more; each call runs once', async () => {
    const { url, ran } = await authorizedServer(open);
    const { auth, asked } = personWith();
    const session = await importing(url, auth);
    expect(asked).toHaveLength(1);
    expect(textOf(await session.call('read', {}))).toBe('read for ann');
    // Several calls that need the same wait for one login.
    const written = await Promise.all([1, 2, 3].map(() => session.call('write', {})));
    expect(written.map(textOf)).toEqual(Array(3).fill('write for ann'));
    expect(asked).toHaveLength(2);
    expect(ran).toEqual(['read', 'write', 'write', 'write']);
  });

  test('of a client that registers itself gets the scopes that tools need, in one login more', async () => {
    const { url, ran } = await authorizedServer(open);
    const { auth, asked } = personWith({ clientId: undefined });
    const session = await importing(url, auth);
    const written = await Promise.all([1, 2, 3].map(() => session.call('write', {})));
    expect(written.map(textOf)).toEqual(Array(3).fill('write for ann'));
    expect(asked).toHaveLength(2);
    expect(textOf(await session.call('read', {}))).toBe('read for ann');
    expect(ran).toEqual(['write', 'write', 'write', 'read']);
    const clients = asked.map((address) => address.searchParams.get('client_id'));
    // It was registered for the scopes of the first login only.
    expect(new Set(clients).size).toBe(2);
  });

  test('of a client that registers itself gets the scopes of the host at once', async () => {
    const { url } = await authorizedServer(open);
    const scopes = ['orders:read', 'orders:write'];
    const { auth, asked } = personWith({ clientId: undefined, scopes });
    const session = await importing(url, auth);
    expect(textOf(await session.call('write', {}))).toBe('write for ann');
    expect(asked).toHaveLength(1);
  });

  test('who declines more scopes keeps those that there were, and the reason is told', async () => {
    const { url } = await authorizedServer(open);
    const { auth } = personWith({ clientId: undefined });
    const logins: URL[] = [];
    const session = await importing(url, {
      ...auth,
      authorize(address) {
        logins.push(address);
        const state = address.searchParams.get('state');
        return logins.length === 1
          ? auth.authorize(address)
          : `${redirectUrl}?error=access_denied&error_description=Not%20today&state=${state}`;
      },
    });
    const { error } = await session.call('write', {});
    expect(error?.message).toBe('The login was refused: access_denied (Not today).');
    expect(textOf(await session.call('read', {}))).toBe('read for ann');
    expect(logins).toHaveLength(2);
  });

  test('who comes back late runs no call that has ended meanwhile', async () => {
    const { url, ran } = await authorizedServer(open);
    const second = signal();
    const back = signal();
    const { auth, asked } = personWith({
      async authorize(address) {
        if (asked.push(address) > 1) {
          second.resolve();
          await back.promise;
        }
        return logIn(address, 'ann', redirectUrl);
      },
    });
    const session = await importing(url, auth);
    const abort = new AbortController();
    const ended = session.call('write', {}, { signal: abort.signal });
    await second.promise;
    abort.abort();
    expect((await ended).error?.code).toBe('cancelled');
    const next = session.call('write', {});
    back.resolve();
    expect(textOf(await next)).toBe('write for ann');
    expect(ran).toEqual(['write']);
  });

  test('is asked once by connections that need the same login', async () => {
    const { auth, asked } = personWith({
      authorize(address) {
        asked.push(address);
        return `${redirectUrl}?code=a&state=${address.searchParams.get('state')}`;
      },
    });
    const { provider, finish } = await authorizerOf(
      auth,
      new URL('https://tools.example.com/mcp'),
    )();
    const begin = async (verifier: string) => {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      await provider.saveCodeVerifier(verifier);
      await provider.redirectToAuthorization(
        new URL(`https://login.example.com/?state=${verifier}&code_challenge=${challenge}`),
      );
    };
    const redeemed: string[] = [];
    const redeem = async () => void redeemed.push(await provider.codeVerifier());
    await begin('first');
    const waiting = finish?.(redeem);
    await begin('second');
    await Promise.all([waiting, finish?.(redeem)]);
    expect([asked.length, redeemed]).toEqual([1, ['first']]);
    // The next one is another login.
    await begin('third');
    await finish?.(redeem);
    expect([asked.length, redeemed]).toEqual([2, ['first', 'third']]);
  });

  test('whose answer belongs to another login is not believed', async () => {
    const { url } = await authorizedServer(open);
    const { auth } = personWith({
      async authorize(address) {
        const back = await logIn(address, 'ann', redirectUrl);
        back.searchParams.set('state', 'of-somebody-else');
        return back;
      },
    });
    await expect(importMcpTools({ url, auth })).rejects.toThrow('another `state`');
  });

  test('who declines ends the import, and the reason is said without the code', async () => {
    const { url } = await authorizedServer(open);
    const { auth } = personWith({
      authorize: (address) =>
        `${redirectUrl}?error=access_denied&state=${address.searchParams.get('state')}`,
    });
    const failing = importMcpTools({ url, auth });
    await expect(failing).rejects.toThrow('access_denied');
    await expect(failing).rejects.toMatchObject({ code: 'executor_lost' });
  });

  test('whose login is in a store is not asked by the next process', async () => {
    const { url } = await authorizedServer(open);
    const store = memoryStore();
    open.defer(() => store.close());
    const first = personWith({ store });
    await importing(url, first.auth);
    const second = personWith({ store });
    const session = await importing(url, second.auth);
    expect(textOf(await session.call('read', {}))).toBe('read for ann');
    expect([first.asked.length, second.asked.length]).toEqual([1, 0]);
    const other = personWith({ store, principal: 'user:bob' });
    await importing(url, other.auth);
    expect(other.asked).toHaveLength(1);
  });

  test('is not sent to an address that a server on another machine must not name', async () => {
    const asked: URL[] = [];
    const { auth } = personWith({
      authorize(address) {
        asked.push(address);
        return redirectUrl;
      },
    });
    const server = createServer((request, response) => {
      const { port } = server.address() as AddressInfo;
      const base = `http://127.0.0.1:${port}`;
      if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true)
        return response.end(
          JSON.stringify({ resource: `${base}/mcp`, authorization_servers: [base] }),
        );
      if (request.url?.startsWith('/.well-known/') === true)
        return response.end(
          JSON.stringify({
            issuer: base,
            authorization_endpoint: 'javascript:alert(1)',
            token_endpoint: `${base}/token`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
          }),
        );
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.defer(() => server.close());
    const { port } = server.address() as AddressInfo;
    await expect(importMcpTools({ url: `http://127.0.0.1:${port}/mcp`, auth })).rejects.toThrow();
    expect(asked).toEqual([]);
  });
});

describe('a program', () => {
  test('gets tokens with its secret, for the scopes that it asks for', async () => {
    const { url, issuer } = await authorizedServer(open);
    const session = await importing(url, {
      grant: 'client_credentials',
      clientId: 'batch',
      clientSecret: machineSecret,
      issuer,
      scopes: ['orders:read'],
    });
    expect(textOf(await session.call('read', {}))).toBe('read for batch');
  });

  test('gets tokens with its key', async () => {
    const { url, issuer } = await authorizedServer(open);
    const session = await importing(url, {
      grant: 'private_key_jwt',
      clientId: 'keyed',
      privateKey: pem,
      issuer,
      scopes: ['orders:read'],
    });
    expect(textOf(await session.call('read', {}))).toBe('read for keyed');
  });

  test('does not give its secret to an issuer that the server names instead of its own', async () => {
    const { url } = await authorizedServer(open);
    const failing = importMcpTools({
      url,
      auth: {
        grant: 'client_credentials',
        clientId: 'batch',
        clientSecret: machineSecret,
        issuer: 'https://login.example.com',
      },
    });
    await expect(failing).rejects.toThrow();
    await failing.catch((error: Error) => {
      expect(JSON.stringify([error.message, String(error.cause)])).not.toContain('a-secret-of');
    });
  });

  test('tells a gateway each token that it gets, so that nothing shows it', async () => {
    const { url, issuer } = await authorizedServer(open);
    const told: string[] = [];
    const auth = {
      grant: 'client_credentials',
      clientId: 'batch',
      clientSecret: machineSecret,
      issuer,
      scopes: ['orders:read'],
    } as const;
    const wishes = { told: (secret: string) => void told.push(secret) };
    const { imported } = await importByWishes({ url, auth }, { name: 'orders' }, wishes, 30_000);
    await imported.close();
    expect(told).toEqual([expect.stringMatching(/^ey/)]);
  });

  test('with a wrong secret is refused, and no error shows the secret', async () => {
    const { url, issuer } = await authorizedServer(open);
    const secret = 'wrong-secret-0123456789';
    const failing = importMcpTools({
      url,
      auth: { grant: 'client_credentials', clientId: 'batch', clientSecret: secret, issuer },
    });
    await failing.then(
      () => expect.unreachable(),
      (error: Error) => {
        for (let one: unknown = error; one instanceof Error; one = one.cause)
          expect(`${one.message} ${one.stack}`).not.toContain(secret);
      },
    );
  });
});

/** A server that asks for a token, and its authorization server, whose answers a test writes. */
async function scripted(
  answer: (sent: string, authorization: string) => [number, string],
  tokenPath = '/token',
) {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    const { url = '', headers } = request;
    const base = `http://${headers.host}`;
    asked.push(url);
    if (url.startsWith('/.well-known/oauth-protected-resource'))
      return response.end(
        JSON.stringify({ resource: `${base}/mcp`, authorization_servers: [base] }),
      );
    if (url.startsWith('/.well-known/'))
      return response.end(
        JSON.stringify({
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: base + tokenPath,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
        }),
      );
    const isForm = headers['content-type']?.includes('urlencoded') === true;
    if (url !== tokenPath || !isForm)
      return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    let sent = '';
    for await (const chunk of request) sent += chunk;
    const [status, body] = answer(sent, headers.authorization ?? '');
    return response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(() => server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${issuer}/mcp`, issuer, asked };
}

/** All that is told of a failure. */
async function toldOf(failing: Promise<unknown>): Promise<string> {
  const told: string[] = [];
  await failing.then(
    () => expect.unreachable(),
    (error: unknown) => {
      for (let one = error; one instanceof Error; one = one.cause)
        told.push(`${one.message} ${one.stack} ${JSON.stringify({ ...one, cause: undefined })}`);
    },
  );
  return told.join(' ');
}

describe('no error shows', () => {
  const refused = (why: string): [number, string] => [
    400,
    JSON.stringify({ error: 'invalid_client', error_description: why }),
  ];
  const program = { clientId: 'batch', clientSecret: 'the-secret', issuer: '' };

  test('a secret that the authorization server repeats from a header', async () => {
    const { url, issuer } = await scripted((_sent, basic) =>
      refused(`${basic} ${Buffer.from(basic.slice(6), 'base64')}`),
    );
    const auth = { grant: 'client_credentials', ...program, issuer } as const;
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('[redacted]');
    expect(told).not.toContain('the-secret');
    expect(told).not.toContain(Buffer.from('batch:the-secret').toString('base64'));
  });

  test('a secret that a server repeats whose endpoint gives tokens as well', async () => {
    const { url, issuer } = await scripted(
      (_sent, basic) => refused(`${Buffer.from(basic.slice(6), 'base64')}`),
      '/mcp',
    );
    const auth = { grant: 'client_credentials', ...program, issuer } as const;
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('[redacted]');
    expect(told).not.toContain('the-secret');
  });

  test('an assertion that the authorization server repeats', async () => {
    let assertion: string | null = null;
    const { url, issuer } = await scripted((sent) => {
      assertion = new URLSearchParams(sent).get('client_assertion');
      return refused(`no: ${assertion}`);
    });
    const auth = { grant: 'private_key_jwt', clientId: 'a', privateKey: pem, issuer } as const;
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('[redacted]');
    expect(assertion).toMatch(/^ey/);
    expect(told).not.toContain(assertion);
  });

  test('the ID token of a person that the identity provider repeats', async () => {
    const { url, issuer } = await scripted((sent) =>
      refused(`no: ${new URLSearchParams(sent).get('subject_token')}`),
    );
    const idp = { idpUrl: issuer, idpClientId: 'a', idToken: 'the-id-token' };
    const auth = { grant: 'enterprise', ...program, ...idp, issuer } as const;
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('[redacted]');
    expect(told).not.toContain('the-id-token');
  });

  test.each([
    [
      'that no header can carry',
      JSON.stringify({ access_token: 'a-token\n', token_type: 'Bearer' }),
    ],
    ['in an answer that is no JSON', '{"access_token":"a-token"x}'],
  ])('a token %s', async (_what, body) => {
    const { url, issuer } = await scripted(() => [200, body]);
    const auth = { grant: 'client_credentials', ...program, issuer } as const;
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('printable ASCII');
    expect(told).not.toContain('a-token');
  });

  test('a code in an address that is none', async () => {
    const { url } = await authorizedServer(open);
    const { auth } = personWith({ authorize: () => 'http://[?code=the-code' });
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('`auth.authorize`');
    expect(told).not.toContain('the-code');
  });

  test.each([
    ['no JSON', '{"redirectUrl":"http://127.0.0.1:9/callback","tokens":the-token}'],
    [
      'a token that no header can carry',
      '{"redirectUrl":"a","tokens":{"access_token":"the-token\\n"}}',
    ],
    ['a client without an id', '{"redirectUrl":"a","client":{"client_secret":"the-token"}}'],
  ])('a stored login that is %s, and nobody logs in with it', async (_what, value) => {
    const { url } = await authorizedServer(open);
    const store = memoryStore();
    open.defer(() => store.close());
    const kept = Object.assign(Object.create(store) as typeof store, {
      apply: async (...given: Parameters<typeof store.apply>) => {
        const done = await store.apply(...given);
        return { ...done, results: [[{ value, version: 1 }]] };
      },
    });
    const { auth, asked } = personWith({ store: kept as never });
    const told = await toldOf(importMcpTools({ url, auth }));
    expect(told).toContain('`auth.store`');
    expect(told).not.toContain('the-token');
    expect(asked).toEqual([]);
  });
});

test('a provider without a code is told so', async () => {
  const { url, issuer } = await scripted(() => [400, '{}']);
  const provider = {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl] },
    clientInformation: () => ({ client_id: 'a', issuer }),
    tokens: () => undefined,
    saveTokens() {},
    redirectToAuthorization() {},
    saveCodeVerifier() {},
    codeVerifier: () => 'a',
  };
  for (const answer of [() => undefined, () => ({ code: '' }), () => ({ code: 5 })])
    await expect(
      importMcpTools({ url, auth: { provider, answer: answer as never } }),
    ).rejects.toThrow('`auth.answer`');
});

test('the secret of a client goes to no authorization server but its own', async () => {
  const secrets: string[] = [];
  const { url, asked } = await scripted((_sent, authorization) => {
    secrets.push(authorization);
    return [400, '{}'];
  });
  const { auth } = personWith({
    clientSecret: 'the-secret',
    issuer: 'https://login.example.com',
    authorize: (address) => `${redirectUrl}?code=a&state=${address.searchParams.get('state')}`,
  });
  await expect(importMcpTools({ url, auth })).rejects.toThrow();
  expect(secrets).toEqual([]);
  expect(asked).not.toContain('/register');
});

test('a new secret of the host counts, and not the one that was stored with the login', async () => {
  const basics: string[] = [];
  const { url, issuer } = await scripted((sent, basic) => {
    basics.push(Buffer.from(basic.slice(6), 'base64').toString());
    return sent.includes('authorization_code')
      ? [200, JSON.stringify({ access_token: 'a', refresh_token: 'b', token_type: 'Bearer' })]
      : [400, JSON.stringify({ error: 'invalid_grant' })];
  });
  const store = memoryStore();
  open.defer(() => store.close());
  for (const clientSecret of ['old', 'new']) {
    const { auth } = personWith({
      store,
      issuer,
      clientSecret,
      authorize: (address) => `${redirectUrl}?code=a&state=${address.searchParams.get('state')}`,
    });
    // The server takes no token at all.
    await expect(importMcpTools({ url, auth })).rejects.toThrow();
  }
  expect(basics[0]).toBe('app:old');
  expect(basics.filter((basic) => basic === 'app:new').length).toBeGreaterThan(0);
  expect(basics.lastIndexOf('app:old')).toBeLessThan(basics.indexOf('app:new'));
});

test('without `auth`, a server that asks for a token cannot be imported', async () => {
  const { url } = await authorizedServer(open);
  await expect(importMcpTools({ url })).rejects.toThrow(/401|Unauthorized|Authentication/i);
});

const address = 'https://tools.example.com/mcp';
const person = { grant: 'authorization_code', redirectUrl, authorize: () => '' };
const complete = { grant: 'client_credentials', clientId: 'a', clientSecret: 'b', issuer: address };
test.each([
  ['nothing', null, 'auth'],
  ['an unknown grant', { grant: 'password' }, 'client_credentials'],
  ['a secret without a client', { ...complete, clientId: undefined }, 'auth.clientId'],
  ['a grant without its issuer', { ...complete, issuer: undefined }, 'auth.issuer'],
  ['a misspelt member', { ...complete, isuer: address }, 'isuer'],
  [
    'a key that is none',
    { grant: 'private_key_jwt', clientId: 'a', privateKey: 'x', issuer: address },
    'auth.privateKey',
  ],
  [
    'a secret that any authorization server could ask for',
    { ...person, clientId: 'a', clientSecret: 'b' },
    'auth.issuer',
  ],
  ['a secret of no client', { ...person, clientSecret: 'b', issuer: address }, 'auth.clientId'],
  ['a scope with a blank', { ...complete, scopes: ['a b'] }, 'auth.scopes'],
  ['a person without `authorize`', { grant: 'authorization_code', redirectUrl }, 'auth.authorize'],
  [
    'a provider without `answer`',
    { provider: { tokens() {}, redirectToAuthorization() {} } },
    'auth.answer',
  ],
])('%s is refused where it is written', async (_what, auth, named) => {
  const failing = importMcpTools({ url: address, auth: auth as never });
  await failing.then(
    () => expect.unreachable(),
    (error: unknown) => {
      expect(isMisuseError(error) && error.code).toBe('invalid_option');
      expect(String(error)).toContain(named);
    },
  );
});

test('`auth` and a header with a token exclude each other', async () => {
  const headers = { Authorization: 'Bearer the-token' };
  const failing = importMcpTools({ url: address, headers, auth: complete as never });
  const told = await toldOf(failing);
  expect(told).toContain('expected `auth` or a header `Authorization`');
  expect(told).not.toContain('the-token');
});

test('a server that asks for more after each login gets one login for a call, and the old client stays', async () => {
  const clients: string[] = [];
  const renewed: string[] = [];
  let asking = 0;
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}`;
    let sent = '';
    for await (const chunk of request) sent += String(chunk);
    const say = (value: object, status = 200, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(value));
    const path = request.url ?? '';
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return say({ resource: `${base}/mcp`, authorization_servers: [base] });
    if (path.startsWith('/.well-known/'))
      return say({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        registration_endpoint: `${base}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      });
    if (path === '/register') {
      clients.push(`client-${clients.length}`);
      return say({ ...JSON.parse(sent), client_id: clients.at(-1) }, 201);
    }
    if (path === '/token') {
      const form = new URLSearchParams(sent);
      if (form.get('grant_type') === 'refresh_token') renewed.push(form.get('client_id') ?? '');
      const token = `${form.get('client_id')}-${form.get('grant_type')}`;
      return say({ access_token: token, token_type: 'Bearer', refresh_token: `of-${token}` });
    }
    const { id, method } = (sent === '' ? {} : JSON.parse(sent)) as Record<string, unknown>;
    const token = request.headers.authorization;
    if (token === undefined) return say({}, 401, { 'www-authenticate': 'Bearer scope="a"' });
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (id === undefined) return response.writeHead(202).end();
    const tools = [{ name: 'greedy', inputSchema: { type: 'object' } }];
    const answers: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      },
      'tools/list': { tools },
    };
    if (method !== 'tools/call')
      return say({ jsonrpc: '2.0', id, result: answers[String(method)] ?? {} });
    if (sent.includes('"old"'))
      return token.endsWith('refresh_token')
        ? say({ jsonrpc: '2.0', id, result: { content: [] } })
        : say({}, 401, { 'www-authenticate': 'Bearer error="invalid_token"' });
    const challenge = `Bearer error="insufficient_scope", scope="s${++asking}"`;
    return say({}, 403, { 'www-authenticate': challenge });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.defer(() => server.close());
  const logins: string[] = [];
  const { port } = server.address() as AddressInfo;
  const session = await importing(new URL(`http://127.0.0.1:${port}/mcp`), {
    grant: 'authorization_code',
    redirectUrl,
    authorize(address) {
      logins.push(address.searchParams.get('client_id') ?? '');
      return `${redirectUrl}?code=x&state=${address.searchParams.get('state')}`;
    },
  });
  const { error } = await session.call('greedy', {});
  expect(error?.message).toBe(
    'The server asks for another login right after one. For one call, a person logs in once.',
  );
  expect(logins).toEqual(['client-0', 'client-1']);
  // The last client was registered for a login that nobody has ended.
  expect(clients).toHaveLength(3);
  expect((await session.call('greedy', { old: 'old' })).error).toBeUndefined();
  expect(renewed).toEqual(['client-1']);
});
