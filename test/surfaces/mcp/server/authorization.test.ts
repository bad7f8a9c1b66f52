/** The handler as a resource server: metadata, challenges, tokens and scopes, in both eras. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  defineTool,
  HostToolRegistry,
  isMisuseError,
  type RegistryOptions,
} from '../../../../src/index.ts';
import {
  createMcpHandler,
  jwtVerifier,
  type McpAuthorization,
  type McpCaller,
  type McpHandler,
  type McpSource,
} from '../../../../src/surfaces/mcp/index.ts';
import { startIssuer } from './issuer.ts';
import { answerOf, eras, initialize, initializeParams, jsonHeaders, opened, post } from './kit.ts';

const open = opened();
afterEach(() => open.close());

const ran: string[] = [];
function ordersRegistry(options: RegistryOptions = {}): HostToolRegistry {
  ran.length = 0;
  const registry = new HostToolRegistry(options);
  registry.registerAll([
    defineTool({
      name: 'read_order',
      description: 'Reads an order.',
      parameters: z.object({}),
      scopes: ['orders:read'],
      handler: () => {
        ran.push('read');
        return 'an order';
      },
    }),
    defineTool({
      name: 'write_order',
      description: 'Writes an order.',
      parameters: z.object({}),
      scopes: ['orders:read', 'orders:write'],
      handler: () => {
        ran.push('write');
        return 'written';
      },
    }),
  ]);
  open.defer(() => registry.close());
  return registry;
}

/** Tokens are the principal and the scopes, such as `ann orders:read`, in base64url. */
const tokenFor = (principal: string, ...scopes: string[]): string =>
  Buffer.from(JSON.stringify({ principal, scopes })).toString('base64url');
const verify: McpAuthorization['verify'] = (token) => {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as never;
  } catch {
    return undefined;
  }
};
const authorization = {
  authorizationServers: ['https://login.example.com'],
  scopes: [{ name: 'orders:read', description: 'Read orders.' }],
  verify,
} satisfies McpAuthorization;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const ofCaller =
  (registry: HostToolRegistry): McpSource =>
  ({ principal = '', scopes }) =>
    registry.createSession({ sessionId: principal, principal, ...(scopes && { scopes }) });

function handlerOf(
  options: Partial<McpAuthorization> = {},
  registry = ordersRegistry(),
  source = ofCaller(registry),
): McpHandler {
  const handler = createMcpHandler(source, { authorization: { ...authorization, ...options } });
  open.defer(() => handler.close());
  return handler;
}

const get = (path: string, init: RequestInit = {}) =>
  new Request(`http://127.0.0.1:7000${path}`, init);
const at = 'http://127.0.0.1/.well-known/oauth-protected-resource/mcp';
const initializeBody = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams };

describe('the metadata of the resource', () => {
  test('says where tokens come from, by the address that was asked', async () => {
    const handler = handlerOf();
    const whole = await handler.fetch(get('/.well-known/oauth-protected-resource/mcp'));
    expect(whole.status).toBe(200);
    expect(await whole.json()).toEqual({
      resource: 'http://127.0.0.1:7000/mcp',
      authorization_servers: ['https://login.example.com'],
      scopes_supported: ['orders:read'],
      bearer_methods_supported: ['header'],
      resource_name: 'host-tools',
    });
    const bare = await handler.fetch(get('/.well-known/oauth-protected-resource'));
    expect(await bare.json()).toMatchObject({ resource: 'http://127.0.0.1:7000' });
  });

  test('is that of the resource that the host names, at its path and no other', async () => {
    const handler = handlerOf({ resource: 'https://tools.example.com/a/mcp', scopes: undefined });
    for (const path of ['', '/a/mcp']) {
      const found = await handler.fetch(get(`/.well-known/oauth-protected-resource${path}`));
      const metadata = await found.json();
      expect(metadata).toMatchObject({ resource: 'https://tools.example.com/a/mcp' });
      expect(metadata).not.toHaveProperty('scopes_supported');
    }
    for (const path of ['/mcp', '/a', '/a/mcp/b'])
      expect(
        (await handler.fetch(get(`/.well-known/oauth-protected-resource${path}`))).status,
      ).toBe(404);
  });

  test('needs no token, and only GET reads it', async () => {
    const handler = handlerOf();
    const posted = await handler.fetch(
      get('/.well-known/oauth-protected-resource', { method: 'POST', body: '{}' }),
    );
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('is not given to a foreign Host', async () => {
    const handler = handlerOf();
    const asked = new Request('http://evil.example/.well-known/oauth-protected-resource', {
      headers: { host: 'evil.example' },
    });
    expect((await handler.fetch(asked)).status).toBe(403);
  });
});

describe('a request without a valid token', () => {
  test('is 401, and the challenge leads to the metadata', async () => {
    const handler = handlerOf();
    const answer = await handler.fetch(post(initializeBody));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${at}", scope="orders:read"`,
    );
  });

  test.each([
    ['another scheme', 'Basic YW5uOmE='],
    ['no token', 'Bearer '],
    ['two tokens', `Bearer ${tokenFor('ann')} ${tokenFor('ann')}`],
    ['a token that nobody issued', 'Bearer nonsense'],
    ['an endless token', `Bearer ${'a'.repeat(20_000)}`],
    ['no principal', bearer(Buffer.from('{"scopes":[]}').toString('base64url')).authorization],
    ['no scopes', bearer(Buffer.from('{"principal":"a"}').toString('base64url')).authorization],
  ])('%s: the challenge says that the token is not valid', async (_what, header) => {
    const answer = await handlerOf().fetch(post(initializeBody, { authorization: header }));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('a token in the address or the body counts for nothing', async () => {
    const token = tokenFor('ann', 'orders:read');
    const handler = handlerOf();
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1/mcp?access_token=${token}`, {
        method: 'POST',
        headers: jsonHeaders,
        body: JSON.stringify({ ...initializeBody, access_token: token }),
      }),
    );
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).not.toContain(token);
  });

  test('if `verify` fails, nobody gets in, and the host hears why', async () => {
    const heard: unknown[] = [];
    const registry = ordersRegistry();
    const handler = createMcpHandler(ofCaller(registry), {
      authorization: {
        ...authorization,
        verify: () => {
          throw new Error('the database is gone');
        },
      },
      onError: (error) => heard.push(error),
    });
    open.defer(() => handler.close());
    const answer = await handler.fetch(post(initializeBody, bearer(tokenFor('ann'))));
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain('database');
    expect(String(heard[0])).toContain('the database is gone');
  });
});

test.each([
  ['a token that nobody issued', 'Bearer nonsense', '`authorization.verify` knows no such token'],
  ['another scheme', 'Basic YW5uOmE=', 'expected `Authorization: Bearer` with a token'],
])('%s: the host hears why, and no word of the token', async (_what, header, why) => {
  const heard: unknown[] = [];
  const handler = createMcpHandler(ofCaller(ordersRegistry()), {
    authorization,
    onError: (error) => heard.push(error),
  });
  open.defer(() => handler.close());
  await handler.fetch(post(initializeBody, { authorization: header }));
  expect(heard.map(String)).toEqual([expect.stringContaining(why)]);
  expect(String(heard[0])).not.toContain(header.split(' ')[1]);
  // Whoever sends no token asks where to get one.
  await handler.fetch(post(initializeBody));
  expect(heard).toHaveLength(1);
});

test.each(['a b', 'é', '', 'x'.repeat(257)])(
  'the scope `%s` lets a person in, but counts for nothing',
  async (scope) => {
    const seen: unknown[] = [];
    const registry = ordersRegistry();
    const handler = handlerOf({}, registry, (caller) => {
      seen.push(caller.scopes);
      return (ofCaller(registry) as (caller: McpCaller) => never)(caller);
    });
    await initialize(handler, bearer(tokenFor('ann', scope, 'orders:read')));
    expect(seen).toEqual([['orders:read']]);
  },
);

test('null is no verdict, and the host hears what was expected', async () => {
  const heard: unknown[] = [];
  const handler = createMcpHandler(ofCaller(ordersRegistry()), {
    authorization: { ...authorization, verify: () => null as never },
    onError: (error) => heard.push(error),
  });
  open.defer(() => handler.close());
  expect((await handler.fetch(post(initializeBody, bearer('a')))).status).toBe(401);
  expect(String(heard[0])).toContain('expected undefined or { principal, scopes }');
});

test('more scopes than anybody has are no verdict', async () => {
  const handler = handlerOf({
    verify: () => ({ principal: 'ann', scopes: new Array<string>(100_000).fill('a') }),
  });
  expect((await handler.fetch(post(initializeBody, bearer('a')))).status).toBe(401);
});

test('a Host with a port that does not exist is challenged like any other', async () => {
  const headers = { host: 'localhost:99999', 'content-type': 'application/json' };
  const answer = await handlerOf().fetch(get('/mcp', { method: 'POST', body: '{}', headers }));
  expect(answer.status).toBe(401);
});

test('requests of one MCP session that come at once have only the facts that all of them have', async () => {
  const registry = new HostToolRegistry();
  open.defer(() => registry.close());
  const called: string[] = [];
  registry.register(
    defineTool({
      name: 'ship',
      description: 'Ships an order.',
      parameters: z.object({ by: z.string() }),
      requires: [{ fact: 'scope.ship', equals: true }],
      handler: ({ by }) => {
        called.push(by);
        return 'shipped';
      },
    }),
  );
  const handler = handlerOf({}, registry);
  const [weak, strong] = [tokenFor('ann'), tokenFor('ann', 'ship')];
  const session = { 'mcp-session-id': await initialize(handler, bearer(weak)) };
  const ship = async (by: string, token: string, id: number) =>
    (
      await handler.fetch(
        post(
          { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ship', arguments: { by } } },
          { ...session, ...bearer(token) },
        ),
      )
    ).text();
  // The second one comes at each of the moments between the first one's arrival and its call.
  for (let turns = 0; turns < 40; turns++) {
    const first = ship('the weak token', weak, 2 * turns);
    for (let turn = 0; turn < turns; turn++) await null;
    await Promise.all([first, ship('the strong token', strong, 2 * turns + 1)]);
  }
  expect(called).not.toContain('the weak token');
});

test('a call that is approved elsewhere has the scopes of its request, in a session that others share', async () => {
  const registry = new HostToolRegistry({ approvals: { secret: 'x'.repeat(32) } });
  open.defer(() => registry.close());
  const did: string[] = [];
  registry.register(
    defineTool({
      name: 'ship',
      description: 'Ships an order.',
      parameters: z.object({}),
      scopes: ['ship'],
      requiresApproval: true,
      handler: () => void did.push('ship'),
    }),
  );
  const shared = registry.createSession({
    sessionId: 'shared',
    principal: 'ann',
    approvalMode: 'suspend',
  });
  const handler = createMcpHandler(shared, { authorization });
  open.defer(() => handler.close());
  const token = tokenFor('ann', 'ship');
  const headers = { ...bearer(token), 'mcp-session-id': await initialize(handler, bearer(token)) };
  const params = { name: 'ship', arguments: {} };
  const call = post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
  expect(await (await handler.fetch(call)).text()).toContain('approval_pending');
  const [{ id } = { id: '' }] = await shared.approvals.pending();
  const answer = { decision: 'allow_once', by: 'user:bob' } as const;
  expect((await registry.approvals.answer(id, answer)).error).toBeUndefined();
  expect(did).toEqual(['ship']);
});

describe.each(eras)('scopes, in the %s era', (era) => {
  const params = (name: string) => ({
    name,
    arguments: {},
    ...(era === 'modern' && {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      },
    }),
  });
  const headersFor = async (handler: McpHandler, token: string, name: string) => ({
    ...bearer(token),
    ...(era === 'legacy'
      ? { 'mcp-session-id': await initialize(handler, bearer(token)) }
      : {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
        }),
  });
  const body = (name: string, id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: params(name),
  });

  test('a call whose token lacks one is 403, is named what it needs, runs nothing, and is recorded', async () => {
    const registry = ordersRegistry();
    const denied: unknown[] = [];
    registry.events.on('policy:check', ({ toolName, effect, reason, surface }) =>
      denied.push({ toolName, effect, reason, surface }),
    );
    const handler = handlerOf({}, registry);
    const token = tokenFor('ann', 'orders:read', 'other');
    const headers = await headersFor(handler, token, 'write_order');
    const answer = await handler.fetch(post(body('write_order', 7), headers));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", resource_metadata="${at}", ` +
        'scope="orders:read orders:write"',
    );
    expect(await answer.json()).toMatchObject({ id: 7, error: { message: expect.any(String) } });
    expect(ran).toEqual([]);
    expect(denied).toEqual([
      { toolName: 'write_order', effect: 'deny', reason: 'scope_missing', surface: 'mcp' },
    ]);
  });

  test('a call with all of them runs', async () => {
    const handler = handlerOf();
    const token = tokenFor('ann', 'orders:read', 'orders:write');
    const headers = await headersFor(handler, token, 'write_order');
    const answer = await answerOf(await handler.fetch(post(body('write_order', 7), headers)));
    expect(answer).toMatchObject({ result: { content: [{ text: 'written' }] } });
  });

  test('they count per request, and not per session: more, and fewer', async () => {
    const handler = handlerOf();
    const few = tokenFor('ann', 'orders:read');
    const all = tokenFor('ann', 'orders:read', 'orders:write');
    const opened = await headersFor(handler, few, 'write_order');
    const status = async (token: string, id: number) => {
      const response = await handler.fetch(
        post(body('write_order', id), { ...opened, ...bearer(token) }),
      );
      await response.text();
      return response.status;
    };
    expect(await status(few, 1)).toBe(403);
    expect(await status(all, 2)).toBe(200);
    expect(await status(few, 3)).toBe(403);
    expect(ran).toEqual(['write']);
  });

  test('rules see those of the request as facts', async () => {
    const registry = ordersRegistry({
      rules: [{ effect: 'deny', tools: 'read_order', facts: { 'scope.guest': { equals: true } } }],
    });
    const handler = handlerOf({}, registry);
    const opened = await headersFor(handler, tokenFor('ann', 'orders:read'), 'read_order');
    const text = async (...scopes: string[]) =>
      (
        await handler.fetch(
          post(body('read_order', 1), { ...opened, ...bearer(tokenFor('ann', ...scopes)) }),
        )
      ).text();
    expect(await text('orders:read')).toContain('an order');
    expect(await text('orders:read', 'guest')).not.toContain('an order');
    expect(await text('orders:read')).toContain('an order');
  });

  test('of a shared session, each request has its own', async () => {
    const registry = ordersRegistry();
    const session = registry.createSession({ sessionId: 's' });
    const handler = handlerOf({}, registry, session as never);
    const headers = await headersFor(handler, tokenFor('ann', 'orders:read'), 'read_order');
    const answer = await answerOf(await handler.fetch(post(body('read_order', 1), headers)));
    expect(answer).toMatchObject({ result: { content: [{ text: 'an order' }] } });
    // Without a request, the session has none.
    expect((await session.call('read_order', {})).error?.reason).toBe('scope_missing');
  });

  test('a tool that the session does not show stays unknown: its scopes are not told', async () => {
    const registry = ordersRegistry({ rules: [{ effect: 'deny', tools: 'write_order' }] });
    const handler = handlerOf({}, registry);
    const headers = await headersFor(handler, tokenFor('ann'), 'write_order');
    const answer = await handler.fetch(post(body('write_order', 1), headers));
    expect(answer.status).toBe(200);
    expect(await answer.text()).not.toContain('orders:write');
  });
});

test('the function that makes sessions gets what the token says', async () => {
  const registry = ordersRegistry();
  const callers: McpCaller[] = [];
  const handler = handlerOf(
    {
      verify: () => ({
        principal: 'ann',
        scopes: ['a'],
        clientId: 'app',
        claims: { org: 'acme' },
      }),
    },
    registry,
    (caller) => {
      callers.push(caller);
      return registry.createSession({ sessionId: 's', principal: 'ann' });
    },
  );
  await initialize(handler, bearer('t'));
  expect(callers).toMatchObject([
    { principal: 'ann', scopes: ['a'], clientId: 'app', claims: { org: 'acme' }, era: 'legacy' },
  ]);
});

test('an MCP session belongs to the principal of its token', async () => {
  const handler = handlerOf();
  const id = await initialize(handler, bearer(tokenFor('ann', 'orders:read')));
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const answer = await handler.fetch(
    post(body, { ...bearer(tokenFor('bob', 'orders:read')), 'mcp-session-id': id }),
  );
  expect(answer.status).toBe(404);
});

test.each([
  ['both ways at once', { authenticate: () => 'ann', authorization }],
  ['no server', { authorization: { ...authorization, authorizationServers: [] } }],
  ['a server that is no URL', { authorization: { ...authorization, authorizationServers: ['x'] } }],
  ['a resource with a fragment', { authorization: { ...authorization, resource: 'https://a/#b' } }],
  ['a scope with a blank', { authorization: { ...authorization, scopes: [{ name: 'a b' }] } }],
  ['a scope with a quote', { authorization: { ...authorization, scopes: [{ name: 'a"b' }] } }],
  ['no verify', { authorization: { authorizationServers: ['https://a.example'] } }],
  ['a misspelt member', { authorization: { ...authorization, resourse: 'https://a.example' } }],
])('%s is refused where it is written', (_what, options) => {
  const registry = ordersRegistry();
  try {
    createMcpHandler(ofCaller(registry), options as never);
    expect.unreachable();
  } catch (error) {
    expect(isMisuseError(error) && error.code).toBe('invalid_option');
    expect(String(error)).toContain('authorization');
  }
});

describe('jwtVerifier', () => {
  const audience = 'http://127.0.0.1/mcp';
  const setUp = async (options: object = {}) => {
    const issuer = await startIssuer(open, audience);
    const check = jwtVerifier({ issuer: issuer.url, audience, ...options });
    return { issuer, check: async (token: string) => check(token, post({})) };
  };

  test('finds the keys by the metadata of the issuer, once', async () => {
    const { issuer, check } = await setUp();
    expect(await check(await issuer.token({ client_id: 'app', org: 'acme' }))).toMatchObject({
      principal: 'ann',
      scopes: ['orders:read'],
      clientId: 'app',
      claims: { org: 'acme' },
    });
    await check(await issuer.token());
    expect(issuer.asked).toEqual(['/.well-known/oauth-authorization-server', '/jwks']);
  });

  test.each([
    ['another audience', { aud: 'https://other.example' }, '"aud"'],
    ['another issuer', { iss: 'https://other.example' }, '"iss"'],
    ['no expiry', { exp: undefined }, '"exp"'],
    ['an ID token', { at_hash: 'x' }, 'it is not an access token'],
    ['nobody', { sub: undefined }, 'neither `sub` nor `client_id`'],
  ])('the host hears why a token does not hold: %s', async (_what, claims, why) => {
    const issuer = await startIssuer(open, audience);
    const heard: unknown[] = [];
    const verify = jwtVerifier({ issuer: issuer.url, audience });
    const handler = createMcpHandler(ofCaller(ordersRegistry()), {
      authorization: { ...authorization, verify },
      onError: (error) => heard.push(error),
    });
    open.defer(() => handler.close());
    const answer = await handler.fetch(post(initializeBody, bearer(await issuer.token(claims))));
    expect(answer.status).toBe(401);
    expect(heard.map(String)).toEqual([expect.stringContaining(why)]);
    expect(await answer.text()).not.toContain(why);
  });

  test.each([
    ['another audience', { aud: 'https://other.example' }],
    ['no audience', { aud: undefined }],
    ['another issuer', { iss: 'https://other.example' }],
    ['no expiry', { exp: undefined }],
    ['an expiry long ago', { exp: 1_000 }],
    ['not valid yet', { nbf: Math.floor(Date.now() / 1_000) + 3_600 }],
    ['nobody', { sub: undefined }],
  ])('%s: the token is refused', async (_what, claims) => {
    const { issuer, check } = await setUp();
    expect(await check(await issuer.token(claims))).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['an ID token', { at_hash: 'x' }, {}],
    ['an ID token of Keycloak', { typ: 'ID' }, { typ: 'JWT' }],
    ['an ID token of Amazon Cognito', { token_use: 'id' }, {}],
    ['a refresh token of Keycloak', { typ: 'Refresh' }, { typ: 'JWT' }],
    ['a logout token', { events: {} }, { typ: 'logout+jwt' }],
    ['a DPoP proof', {}, { typ: 'dpop+jwt' }],
  ])('%s is no access token', async (_what, claims, header) => {
    const { issuer, check } = await setUp();
    expect(await check(await issuer.token({ ...claims }, { ...header }))).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['RFC 9068', {}, { typ: 'at+jwt' }],
    ['RFC 9068, with the long name', {}, { typ: 'application/at+jwt' }],
    ['Keycloak', { typ: 'Bearer', azp: 'app' }, { typ: 'JWT' }],
    ['Amazon Cognito', { token_use: 'access' }, {}],
  ])('an access token as %s writes it is taken', async (_what, claims, header) => {
    const { issuer, check } = await setUp();
    expect(await check(await issuer.token({ ...claims }, { ...header }))).toBeDefined();
  });

  test('with `typ`, only tokens of that type are taken', async () => {
    const { issuer, check } = await setUp({ typ: 'at+jwt' });
    expect(await check(await issuer.token({}, { typ: 'at+jwt' }))).toBeDefined();
    expect(await check(await issuer.token({}, { typ: 'JWT' }))).toBeUndefined();
    expect(await check(await issuer.token())).toBeUndefined();
  });

  test('keys that have moved are found by the metadata again, at most every ten minutes', async () => {
    const { issuer, check } = await setUp();
    await check(await issuer.token());
    const found = () => issuer.asked.filter((path) => path.startsWith('/.well-known')).length;
    await issuer.rotate();
    issuer.documents.set('/keys', issuer.documents.get('/jwks'));
    issuer.documents.delete('/jwks');
    issuer.documents.set('/.well-known/oauth-authorization-server', {
      issuer: issuer.url,
      jwks_uri: `${issuer.url}/keys`,
    });
    const token = await issuer.token();
    const unknown = await issuer.token({}, { kid: 'nobody' });
    expect([await check(token), found()]).toEqual([undefined, 1]);
    const now = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 601_000);
    try {
      const later = await issuer.token();
      expect(await check(later)).toBeDefined();
      expect(found()).toBe(2);
      for (let turn = 0; turn < 3; turn++) expect(await check(unknown)).toBeUndefined();
      expect(found()).toBe(2);
    } finally {
      clock.mockRestore();
    }
  });

  test('clocks may differ by a minute, or by what the host says', async () => {
    const exp = Math.floor(Date.now() / 1_000) - 30;
    const { issuer, check } = await setUp();
    expect(await check(await issuer.token({ exp }))).toBeDefined();
    const strict = await setUp({ clockToleranceMs: 0 });
    expect(await strict.check(await strict.issuer.token({ exp }))).toBeUndefined();
  });

  test('`scp` may hold the scopes, and a token for a program has its client as the principal', async () => {
    const { issuer, check } = await setUp();
    const claims = { sub: undefined, client_id: 'batch', scope: undefined, scp: ['a', 'b'] };
    expect(await check(await issuer.token(claims))).toMatchObject({
      principal: 'batch',
      scopes: ['a', 'b'],
    });
  });

  test('a signature by the public key as a secret, or none at all, is refused', async () => {
    const { issuer, check } = await setUp();
    const [, payload] = (await issuer.token()).split('.');
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { createHmac } = await import('node:crypto');
    const key = JSON.stringify(issuer.documents.get('/jwks'));
    const head = encode({ alg: 'HS256', kid: 'key-0' });
    const mac = createHmac('sha256', key).update(`${head}.${payload}`).digest('base64url');
    expect(await check(`${head}.${payload}.${mac}`)).toBeUndefined();
    expect(await check(`${encode({ alg: 'none' })}.${payload}.`)).toBeUndefined();
  });

  test.each<[string, object, object]>([
    ['a key in its header', { jwk: true }, {}],
    ['an address of keys in its header', { jku: '/evil' }, {}],
    ['an address of a certificate in its header', { x5u: '/evil' }, {}],
    ['a key id that is a path', { kid: '../evil' }, {}],
    ['a key id that is an address', { kid: 'http://127.0.0.1/evil' }, {}],
    ['a key id that all objects have', { kid: '__proto__' }, {}],
    ['the audience in an object', {}, { aud: { 0: audience } }],
    ['the audience with a slash', {}, { aud: `${audience}/` }],
    ['the origin as the audience', {}, { aud: 'http://127.0.0.1' }],
    ['the issuer in a list', {}, { iss: ['http://127.0.0.1'] }],
    ['an expiry that is a text', {}, { exp: '9999999999' }],
    ['a principal that is an object', {}, { sub: { name: 'ann' } }],
    ['a bond to a key', {}, { cnf: { jkt: 'a-thumbprint' } }],
  ])('a token with %s is refused, and nothing else is fetched', async (_what, header, claims) => {
    const { issuer, check } = await setUp();
    const { exportJWK, generateKeyPair, SignJWT } = await import('jose');
    const evil = await generateKeyPair('ES256', { extractable: true });
    issuer.documents.set('/evil', { keys: [await exportJWK(evil.publicKey)] });
    const isOfThief = Object.keys(header).length > 0;
    const head = Object.entries(header).map(([name, value]) => [
      name,
      name === 'jwk' ? undefined : value === '/evil' ? `${issuer.url}/evil` : value,
    ]);
    const protectedHeader = {
      alg: 'ES256',
      kid: 'key-0',
      ...Object.fromEntries(head),
      ...('jwk' in header && { jwk: await exportJWK(evil.publicKey) }),
    };
    const exp = Math.floor(Date.now() / 1_000) + 600;
    const token = isOfThief
      ? await new SignJWT({ iss: issuer.url, aud: audience, sub: 'ann', exp })
          .setProtectedHeader(protectedHeader)
          .sign(evil.privateKey)
      : await issuer.token(claims as Record<string, unknown>);
    expect(await check(token)).toBeUndefined();
    expect(issuer.asked).toEqual(['/.well-known/oauth-authorization-server', '/jwks']);
  });

  test('a new key is fetched, but not again for each token with an unknown key', async () => {
    const { issuer, check } = await setUp();
    await check(await issuer.token());
    const fetched = () => issuer.asked.filter((path) => path === '/jwks').length;
    const unknown = await issuer.token({}, { kid: 'nobody' });
    for (let turn = 0; turn < 5; turn++) expect(await check(unknown)).toBeUndefined();
    expect(fetched()).toBe(1);
  });

  test('while the keys cannot be fetched, a token is refused, and later it is taken', async () => {
    const { issuer, check } = await setUp();
    const keys = issuer.documents.get('/jwks');
    issuer.documents.set('/jwks', 'not JSON');
    await expect(check(await issuer.token())).rejects.toThrow();
    issuer.documents.set('/jwks', { keys: Array(300).fill({ pad: 'x'.repeat(1_000) }) });
    await expect(check(await issuer.token())).rejects.toThrow('too_large');
    issuer.documents.set('/jwks', keys);
    expect(await check(await issuer.token())).toBeDefined();
  });

  test('metadata of another issuer brings no keys', async () => {
    const { issuer, check } = await setUp();
    issuer.documents.set('/.well-known/oauth-authorization-server', {
      issuer: 'https://evil.example',
      jwks_uri: `${issuer.url}/jwks`,
    });
    await expect(check(await issuer.token())).rejects.toThrow('cannot be found');
  });

  test.each([
    ['issuer', { issuer: 'http://login.example.com' }],
    ['audience', { audience: [] }],
    ['jwksUrl', { jwksUrl: 'ftp://a.example/jwks' }],
    ['clockToleranceMs', { clockToleranceMs: -1 }],
  ])('a wrong `%s` is refused where it is written', (name, options) => {
    expect(() =>
      jwtVerifier({ issuer: 'https://login.example.com', audience: 'a', ...options }),
    ).toThrow(`\`${name}\``);
  });
});
