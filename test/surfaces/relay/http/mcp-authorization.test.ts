/** Access tokens of a real authorization server at the MCP endpoint of a relay. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../../src/index.ts';
import { importMcpTools, jwtVerifier, toNodeListener } from '../../../../src/surfaces/mcp/index.ts';
import { createRelay, type RelayCaller } from '../../../../src/surfaces/relay/index.ts';
import { startAuthorizationServer } from '../../mcp/oidc-server.ts';
import { opened } from '../../mcp/server/kit.ts';
import type { Made } from './app-kit.ts';

const open = opened();
afterEach(() => open.close());

const clientSecret = 'a-secret-of-the-batch-job';
const batch = {
  client_id: 'batch',
  client_secret: clientSecret,
  redirect_uris: [],
  response_types: [],
  grant_types: ['client_credentials'],
  token_endpoint_auth_method: 'client_secret_basic',
};

const orders = (['read', 'write'] as const).map((name) =>
  defineTool({
    name,
    description: 'An order.',
    parameters: z.object({}),
    scopes: [`orders:${name}`],
    handler: () => `did ${name}`,
  }),
);

async function world(admit: (caller: RelayCaller) => boolean) {
  const { issuer } = await startAuthorizationServer(open, ['orders:read', 'orders:write'], [batch]);
  const server = createServer((request, response) => void listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const relay = createRelay({
    session: { tools: orders },
    authorization: {
      resource: origin,
      authorizationServers: [issuer],
      scopes: [{ name: 'orders:read' }],
      verify: jwtVerifier({ issuer, audience: origin }),
      admit,
    },
  });
  const listener = toNodeListener({ fetch: (request) => relay.fetch(request) });
  open.defer(async () => {
    await relay.close();
    server.closeAllConnections();
    server.close();
  });
  const ask = (path: string, token?: string, body?: unknown) =>
    fetch(origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const made = (await (await ask('/api/sessions', undefined, {})).json()) as Made;
  const mcp = `/api/sessions/${made.code}/mcp`;
  const tokenFor = async (resource: string, scope: string): Promise<string> => {
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`batch:${clientSecret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope, resource }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  return { issuer, origin, made, mcp, ask, tokenFor };
}

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

test('an import finds out how to get a token, and a further one for a tool that needs more', async () => {
  const admitted: RelayCaller[] = [];
  const { issuer, origin, mcp, made } = await world((caller) => {
    admitted.push(caller);
    return caller.principal === 'batch';
  });
  const auth = {
    grant: 'client_credentials',
    clientId: 'batch',
    clientSecret,
    issuer,
    scopes: ['orders:read'],
  } as const;
  const imported = await importMcpTools({ url: origin + mcp, auth }, { name: 'relay' });
  open.defer(() => imported.close());
  const registry = new HostToolRegistry();
  open.defer(() => registry.close());
  registry.registerAll(imported.tools);
  const session = registry.createSession({ sessionId: 's' });
  expect((await session.call('read', {})).output).toEqual([{ type: 'text', text: 'did read' }]);
  // The challenge names what this call needs, so the client gets a token with more.
  expect((await session.call('write', {})).success).toBe(true);
  expect(admitted.at(-1)?.scopes).toEqual(['orders:read', 'orders:write']);
  expect(admitted[0]).toMatchObject({
    code: made.code,
    principal: 'batch',
    scopes: ['orders:read'],
    clientId: 'batch',
  });
});

test('a request without a token is told where to get one', async () => {
  const { issuer, origin, mcp, ask } = await world(() => true);
  const answer = await ask(mcp, undefined, list);
  expect(answer.status).toBe(401);
  const at = `${origin}/.well-known/oauth-protected-resource`;
  expect(answer.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${at}", scope="orders:read"`,
  );
  expect(await (await fetch(at)).json()).toMatchObject({
    resource: origin,
    authorization_servers: [issuer],
    scopes_supported: ['orders:read'],
  });
});

test('a token for another server opens no session', async () => {
  const { mcp, ask, tokenFor } = await world(() => true);
  const answer = await ask(mcp, await tokenFor('https://other.example.com', 'orders:read'), list);
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
});

test.each<[string, (caller: RelayCaller) => unknown]>([
  ['is not admitted', () => false],
  ['is admitted by something else than true', () => 'yes'],
  [
    'could not be judged',
    () => {
      throw new Error('The directory is down.');
    },
  ],
])('a bearer who %s learns no more than for an unknown session', async (_what, admit) => {
  const { origin, mcp, ask, tokenFor } = await world(admit as () => boolean);
  const token = await tokenFor(origin, 'orders:read');
  const answer = await ask(mcp, token, list);
  const unknown = await ask(mcp.replace(/[^/]{8}(?=\/mcp)/, 'ABCDEFGH'), token, list);
  expect([answer.status, await answer.json()]).toEqual([unknown.status, await unknown.json()]);
  expect(answer.status).toBe(404);
});

test('the tokens of the relay still work, and get no scopes from those of others', async () => {
  const { origin, mcp, made, ask, tokenFor } = await world(() => true);
  const token = await tokenFor(origin, 'orders:read orders:write');
  expect((await ask(mcp, token, initialize)).status).toBe(200);
  expect((await ask(mcp, made.agentToken, initialize)).status).toBe(200);
  expect((await ask(mcp, made.sessionToken, initialize)).status).toBe(403);
  const call = { requestId: crypto.randomUUID(), tool: 'write', args: {} };
  const answer = await ask(`/api/sessions/${made.code}/request`, made.agentToken, call);
  expect(JSON.stringify(await answer.json())).toContain('scope_missing');
});

test('an access token opens nothing else of a session', async () => {
  const { origin, made, ask, tokenFor } = await world(() => true);
  const token = await tokenFor(origin, 'orders:read');
  const call = { requestId: crypto.randomUUID(), tool: 'read', args: {} };
  expect((await ask(`/api/sessions/${made.code}/request`, token, call)).status).toBe(401);
});

test.each([
  ['authorization.admit', { resource: 'https://a.example' }],
  ['authorization.resource', { admit: (): boolean => true }],
  [
    'authorization.authorizationServers',
    { resource: 'https://a.example', admit: (): boolean => true },
  ],
])('`%s` is needed', (name, authorization) => {
  const verify = () => undefined;
  const servers = name.endsWith('Servers') ? [] : ['https://login.example.com'];
  const given = { verify, authorizationServers: servers, ...authorization };
  expect(() => createRelay({ authorization: given } as never)).toThrow(name);
});

test('the agents of an access token are the chain of its calls, and the rules of the relay see them', async () => {
  const admitted: RelayCaller[] = [];
  const relay = createRelay({
    session: {
      tools: orders,
      rules: [{ effect: 'deny', tools: 'write', actor: { agent: 'planner' } }],
    },
    authorization: {
      resource: 'http://127.0.0.1',
      authorizationServers: ['https://login.example.com'],
      verify: (token) => ({
        principal: 'ann',
        scopes: ['orders:read', 'orders:write'],
        actors: token.split('.').slice(1),
      }),
      admit: (caller) => admitted.push(caller) > 0,
    },
  });
  open.defer(() => relay.close());
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    relay.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      }),
    );
  const { code } = (await (await post('/api/sessions', {})).json()) as Made;
  const told = async (token: string, name: string): Promise<string> => {
    const authorization = { authorization: `Bearer ${token}` };
    const mcp = `/api/sessions/${code}/mcp`;
    const began = await post(mcp, initialize, authorization);
    expect(began.status).toBe(200);
    const id = began.headers.get('mcp-session-id') ?? '';
    await began.text();
    const body = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: {} } };
    return (await post(mcp, body, { ...authorization, 'mcp-session-id': id })).text();
  };
  expect(await told('t', 'write')).toContain('did write');
  expect(await told('t.robot.planner', 'write')).toContain('policy_denied');
  expect(await told('t.robot.planner', 'read')).toContain('did read');
  expect(await told('t.robot', 'write')).toContain('did write');
  expect(admitted.at(-1)?.actors).toEqual(['robot']);
});
