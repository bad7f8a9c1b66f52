/** Tokens of agents that act for a person (`act`, RFC 8693): they become the chain of the session. */
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HostToolRegistry as CoreRegistry } from '../../../../src/core.ts';
import {
  type Actor,
  defineTool,
  HostToolRegistry,
  type RegistryOptions,
  type Rule,
} from '../../../../src/index.ts';
import { scopes } from '../../../../src/parts/scopes/part.ts';
import {
  createMcpHandler,
  jwtVerifier,
  type McpCaller,
  type McpHandler,
  type McpSource,
} from '../../../../src/surfaces/mcp/index.ts';
import { startIssuer } from './issuer.ts';
import { answerOf, type Era, eras, initialize, opened, post } from './kit.ts';

const open = opened();
afterEach(() => open.close());

const audience = 'http://127.0.0.1/mcp';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
/** As an issuer writes it: the present actor outside, the one before it inside. */
const act = (...agents: string[]): object | undefined =>
  agents.reduce<object | undefined>(
    (before, sub) => ({ sub, ...(before === undefined ? {} : { act: before }) }),
    undefined,
  );

function ordersRegistry(options: RegistryOptions = {}): HostToolRegistry {
  const registry = new HostToolRegistry(options);
  for (const name of ['read', 'write', 'form'])
    registry.register(
      defineTool({
        name,
        description: 'A tool.',
        parameters: z.object({}),
        ...(name === 'write' ? { scopes: ['orders:write'] } : {}),
        ...(name === 'form'
          ? { requires: [{ fact: 'client.capabilities.elicitation.form', equals: true }] }
          : {}),
        handler: () => `${name} done`,
      }),
    );
  open.defer(() => registry.close());
  return registry;
}

interface World {
  readonly handler: McpHandler;
  readonly actors: Actor[];
  token(claims?: Record<string, unknown>): Promise<string>;
  call(era: Era, token: string, name: string): Promise<{ status: number; text: string }>;
}

async function world(
  registry: HostToolRegistry = ordersRegistry(),
  source: McpSource = ({ principal = '', scopes: own = [] }) =>
    registry.createSession({ sessionId: `of ${principal}`, principal, scopes: own }),
): Promise<World> {
  const issuer = await startIssuer(open, audience);
  const handler = createMcpHandler(source, {
    authorization: {
      authorizationServers: [issuer.url],
      verify: jwtVerifier({ issuer: issuer.url, audience }),
    },
    onError: () => {},
  });
  open.defer(() => handler.close());
  const actors: Actor[] = [];
  registry.events.on('tool:pre', ({ actor }) => actors.push(actor));
  return {
    handler,
    actors,
    token: (claims = {}) => issuer.token({ scope: 'orders:write', ...claims }),
    async call(era, token, name) {
      const more =
        era === 'legacy'
          ? { 'mcp-session-id': await initialize(handler, bearer(token), undefined, forms) }
          : modernHeaders(name);
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: params(era, name) };
      const response = await handler.fetch(post(body, { ...bearer(token), ...more }));
      if (response.status !== 200) return { status: response.status, text: await response.text() };
      return { status: 200, text: JSON.stringify(await answerOf(response)) };
    },
  };
}

const forms = { elicitation: { form: {} } };
const modernHeaders = (name: string) => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
});
const params = (era: Era, name: string) => ({
  name,
  arguments: {},
  ...(era === 'modern' && {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': forms,
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    },
  }),
});

describe.each(eras)('a token with `act`, in the %s era', (era) => {
  test('gives the session its agents, the first one first', async () => {
    const { call, token, actors } = await world();
    const answer = await call(era, await token({ act: act('planner', 'researcher') }), 'read');
    expect(answer.text).toContain('read done');
    await call(era, await token(), 'read');
    expect(actors).toEqual([
      {
        principal: 'ann',
        chain: [
          { agent: 'planner', sessionId: 'of ann/planner' },
          { agent: 'researcher', sessionId: 'of ann/planner/researcher' },
        ],
      },
      { principal: 'ann', chain: [] },
    ]);
  });

  test('meets rules about who acts, and those of the session that it acts for', async () => {
    const registry = ordersRegistry({
      rules: [
        { id: 'deep', effect: 'deny', tools: 'write', actor: { depth: { gte: 2 } } },
        { id: 'robot', effect: 'deny', tools: 'read', actor: { agent: 'robot' } },
      ],
    });
    const { call, token } = await world(registry);
    const one = await token({ act: act('planner') });
    const two = await token({ act: act('robot', 'planner') });
    expect((await call(era, one, 'write')).text).toContain('write done');
    expect((await call(era, two, 'write')).text).toContain('policy_denied');
    expect((await call(era, one, 'read')).text).toContain('read done');
    expect((await call(era, two, 'read')).text).toContain('policy_denied');
  });

  test('has the scopes of the token, and what its client declares', async () => {
    const { call, token } = await world();
    expect((await call(era, await token({ act: act('planner') }), 'form')).text).toContain(
      'form done',
    );
    const few = await token({ act: act('planner'), scope: 'orders:read' });
    expect((await call(era, few, 'write')).status).toBe(403);
  });

  test('is refused beyond `maxDelegationDepth`, and where no part knows agents', async () => {
    const registry = ordersRegistry({ maxDelegationDepth: 1 });
    const { call, token, actors, handler } = await world(registry);
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: params(era, 'read') };
    const initialized = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      },
    };
    const first = (one: McpHandler, given: string) =>
      era === 'legacy'
        ? one.fetch(post(initialized, bearer(given)))
        : one.fetch(post(body, { ...bearer(given), ...modernHeaders('read') }));
    expect((await call(era, await token({ act: act('a') }), 'read')).status).toBe(200);
    const refused = await first(handler, await token({ act: act('a', 'b') }));
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('may not act here');
    expect(actors.length).toBe(1);
    const bare = new CoreRegistry({ parts: [scopes()] }) as unknown as HostToolRegistry;
    open.defer(() => bare.close());
    const other = await world(bare);
    expect((await first(other.handler, await other.token({ act: act('a') }))).status).toBe(403);
    expect((await first(other.handler, await other.token())).status).toBe(200);
  });

  test('narrows a session that all clients share, and leaves it open', async () => {
    const registry = ordersRegistry({
      rules: [{ effect: 'deny', tools: 'read', actor: { depth: { gte: 1 } } }],
    });
    const shared = registry.createSession({ sessionId: 'shared', principal: 'all' });
    const { call, token, actors, handler } = await world(registry, shared);
    expect((await call(era, await token({ act: act('planner') }), 'read')).text).toContain(
      'policy_denied',
    );
    expect((await call(era, await token({ act: act('planner') }), 'write')).text).toContain(
      'write done',
    );
    expect((await call(era, await token(), 'read')).text).toContain('read done');
    expect(actors.at(-2)?.chain.map(({ agent }) => agent)).toEqual(['planner']);
    await handler.close();
    expect((await shared.call('read', {})).success).toBe(true);
  });

  // In the other era, the client is asked by a stream, which nobody answers here.
  test.runIf(era === 'modern')(
    'never may do more than the person, whatever the rules',
    async () => {
      const rule = fc.record({
        effect: fc.constantFrom('allow', 'ask', 'deny'),
        tools: fc.constantFrom('read', '*'),
        actor: fc.option(
          fc.constantFrom({ depth: 0 }, { depth: { gte: 1 } }, { agent: 'a' }, { agent: 'b' }),
          { nil: undefined },
        ),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(rule, { maxLength: 4 }),
          fc.constantFrom('allow', 'deny'),
          fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }),
          async (rules, fallback, agents) => {
            const registry = ordersRegistry({
              rules: rules.map(({ actor, ...one }) => ({
                ...one,
                ...(actor && { actor }),
              })) as Rule[],
              default: fallback as 'allow' | 'deny',
            });
            const { call, token } = await world(registry);
            const isAllowed = async (given: object | undefined) =>
              (await call(era, await token({ act: given }), 'read')).text.includes('read done');
            const own = await isAllowed(undefined);
            const acting = await isAllowed(act(...agents));
            expect(own || !acting).toBe(true);
            await open.close();
          },
        ),
        { numRuns: 25 },
      );
    },
  );
});

test.each([
  ['a text', 'planner'],
  ['a list', [{ sub: 'planner' }]],
  ['null', null],
  ['an actor without a name', {}],
  ['an empty name', { sub: '' }],
  ['a name that is no text', { sub: 7 }],
  ['a name that is too long', { sub: 'a'.repeat(257) }],
  ['an issuer that is no text', { sub: 'planner', iss: 7 }],
  ['an issuer with a fragment', { sub: 'b', iss: 'https://other.example#a' }],
  ['something else inside', { sub: 'planner', act: 'researcher' }],
  ['too many', act(...Array.from({ length: 65 }, (_, at) => `a${at}`))],
])('a token is refused whose `act` is malformed: %s', async (_what, given) => {
  const { handler, token, actors } = await world();
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('modern', 'read') };
  const headers = { ...bearer(await token({ act: given })), ...modernHeaders('read') };
  const answer = await handler.fetch(post(body, headers));
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  expect(actors).toEqual([]);
});

test('an actor of another issuer has its name with that issuer', async () => {
  const { call, token, actors } = await world();
  const given = { sub: 'planner', iss: 'https://other.example' };
  await call('modern', await token({ act: given }), 'read');
  expect(actors[0]?.chain[0]?.agent).toBe('https://other.example#planner');
  // One of the own issuer cannot take that name.
  await call('modern', await token({ act: { sub: 'https://other.example#planner' } }), 'read');
  expect(actors[1]?.chain[0]?.agent).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+#https:\/\/other\.example#planner$/,
  );
});

test('a verifier of the host may say who acts, and a wrong answer lets nobody in', async () => {
  for (const [given, status] of [
    [['planner'], 200],
    [[], 200],
    ['planner', 401],
    [['planner', 7], 401],
    [[''], 401],
  ] as const) {
    const registry = ordersRegistry();
    const callers: McpCaller[] = [];
    const handler = createMcpHandler(
      (caller) => {
        callers.push(caller);
        return registry.createSession({ sessionId: 's', principal: 'ann' });
      },
      {
        authorization: {
          authorizationServers: ['https://login.example.com'],
          verify: () => ({ principal: 'ann', scopes: [], actors: given as never }),
        },
        onError: () => {},
      },
    );
    open.defer(() => handler.close());
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('modern', 'read') };
    const answer = await handler.fetch(post(body, { ...bearer('t'), ...modernHeaders('read') }));
    expect(answer.status).toBe(status);
    await answer.text();
    if (status === 200) expect(callers[0]?.actors).toEqual(given.length === 0 ? undefined : given);
  }
});

test('an MCP session belongs to the agents of its token', async () => {
  const { handler, token } = await world();
  const own = await token({ act: act('planner') });
  const id = await initialize(handler, bearer(own));
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const list = async (given: string) =>
    (await handler.fetch(post(body, { ...bearer(given), 'mcp-session-id': id }))).status;
  expect(await list(own)).toBe(200);
  expect(await list(await token({ act: act('planner') }))).toBe(200);
  expect(await list(await token())).toBe(403);
  expect(await list(await token({ act: act('robot') }))).toBe(403);
});

test('a host that makes the chain itself keeps it', async () => {
  const registry = ordersRegistry();
  const { call, token, actors } = await world(registry, ({ principal = '', actors: agents = [] }) =>
    registry
      .createSession({ sessionId: 's', principal })
      .delegate({ agent: `mcp:${agents.at(-1)}` }),
  );
  await call('legacy', await token({ act: act('planner') }), 'read');
  expect(actors[0]?.chain.map(({ agent }) => agent)).toEqual(['mcp:planner']);
});

test.each(eras)('a suspended call has its agents, and goes on with them: %s', async (era) => {
  const registry: HostToolRegistry = ordersRegistry({
    rules: [{ effect: 'ask', tools: 'read' }],
    approvals: {
      secret: 'x'.repeat(32),
      session({ sessionId, rootSessionId = sessionId, principal, actor }) {
        const root = registry.createSession({
          sessionId: rootSessionId,
          principal,
          approvalMode: 'suspend',
        });
        return (actor?.chain ?? []).reduce((outer, link) => outer.delegate(link), root);
      },
    },
  });
  const { call, token, handler } = await world(registry, ({ principal = '' }) =>
    registry.createSession({ sessionId: `of ${principal}`, principal, approvalMode: 'suspend' }),
  );
  const plain = forms.elicitation;
  Object.assign(forms, { elicitation: undefined });
  await call(era, await token({ act: act('planner') }), 'read');
  Object.assign(forms, { elicitation: plain });
  await handler.close();
  const [asked] = await registry.approvals.pending();
  expect(asked?.actor?.chain).toEqual([{ agent: 'planner', sessionId: 'of ann/planner' }]);
  const done = await registry.approvals.answer(asked?.id ?? '', {
    decision: 'allow_once',
    by: 'bob',
  });
  expect(done).toMatchObject({ success: true, output: 'read done' });
});
