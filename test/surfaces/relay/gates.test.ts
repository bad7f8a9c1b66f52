/**
 * No way around the gates: whatever is sent to whichever route, with whichever token, the
 * application sees a call only after the core has let it pass.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, test } from 'vitest';
import { type AnyEvent, deny } from '../../../src/index.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/create-relay.ts';
import { routes } from '../../../src/surfaces/relay/http/route-table.ts';
import type { RelaySessionOptions } from '../../../src/surfaces/relay/options.ts';
import { type Ask, askOf, base, type Made, type Told } from './http/app-kit.ts';

const hostKey = 'a-key-of-the-host-that-is-long-enough';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const parameters = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};
const args = { path: '/etc' };

async function world(session: RelaySessionOptions) {
  const relay: Relay = createRelay({
    hostKey,
    heartbeatMs: 20,
    leaseMs: 100,
    limits: { requestsPerMinute: 1_000, responsesPerMinute: 1_000, updatesPerMinute: 1_000 },
    session,
  });
  open.push(relay);
  const ask = (method: string, path: string, what?: Ask): Promise<Told> =>
    askOf(relay.fetch, method, `${base}${path}`, what);
  const made = (await ask('POST', '', { token: hostKey, body: {} })).body as unknown as Made;
  const events: AnyEvent[] = [];
  relay.registry.events.on('*', (event) => void events.push(event));
  const { code, agentToken, sessionToken } = made;
  const registered = await ask('POST', `/${code}/register-tools`, {
    token: sessionToken,
    body: {
      pluginType: 'custom',
      pluginVersion: '1',
      availableTools: [{ name: 'wipe', description: 'Wipes.', parameters }],
    },
  });
  expect(registered.status).toBe(201);
  return {
    relay,
    ask,
    code,
    agentToken,
    sessionToken,
    events,
    /** What an application is given that comes now. */
    given: async () => {
      const polled = (
        await ask('GET', `/${code}/stream?mode=poll&after=0`, { token: sessionToken })
      ).body as { events: { event: string }[] };
      return polled.events.filter(({ event }) => event === 'tool-request');
    },
    async mcp(pin?: string) {
      const client = new Client({ name: 'agent', version: '1' }, {
        capabilities: { elicitation: {} },
        ...(pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }),
      } as never);
      client.setRequestHandler(
        'elicitation/create',
        () => ({ action: 'accept', content: { decision: 'allow_once' } }) as never,
      );
      const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
        relay.fetch(new Request(url, init));
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${base}/${code}/mcp`), {
          fetch: fetch as never,
          requestInit: { headers: { Authorization: `Bearer ${agentToken}` } },
        }),
      );
      open.push(client);
      return client;
    },
  };
}

const gates: readonly (readonly [string, RelaySessionOptions, object, string])[] = [
  ['the schema of the tool', {}, { file: '/etc' }, 'invalid_input'],
  [
    'a rule',
    { rules: [{ effect: 'deny', tools: 'wipe', when: { path: '/etc' } }] },
    args,
    'policy_denied',
  ],
  ['a policy', { policies: [{ id: 'no', check: () => deny('not_now') }] }, args, 'policy_denied'],
  [
    'a hook',
    { hooks: [{ before: () => ({ action: 'deny', reason: 'not_now' }) as never }] },
    args,
    'policy_denied',
  ],
  [
    'an approval that no one can answer',
    { rules: [{ effect: 'ask', tools: 'wipe' }] },
    args,
    'approval_denied',
  ],
  [
    'an approval that a person rejects',
    { rules: [{ effect: 'ask', tools: 'wipe' }], approver: () => 'reject_once' },
    args,
    'approval_denied',
  ],
  [
    'a suspended approval',
    {
      rules: [{ effect: 'ask', tools: 'wipe' }],
      approvalMode: 'suspend',
      approvals: { secret: 'x'.repeat(40) },
    },
    args,
    'approval_pending',
  ],
];

describe.each(gates)('%s', (_, session, input, code) => {
  test('stops calls over REST, waiting or not, and over both eras of MCP; none reaches the application, and each ends once', async () => {
    const all = await world(session);
    for (const wait of [true, false]) {
      const { body } = await all.ask('POST', `/${all.code}/request`, {
        token: all.agentToken,
        body: { tool: 'wipe', args: input, wait },
      });
      expect(body).toMatchObject({ result: { success: false, error: { code } } });
    }
    for (const pin of [undefined, '2026-07-28']) {
      const client = await all.mcp(pin);
      const result = await client.callTool({ name: 'wipe', arguments: { ...input } });
      expect(result._meta?.['host-tools/error']).toMatchObject({ code });
    }
    expect(await all.given()).toEqual([]);
    const calls = all.events
      .filter(({ type }) => type === 'tool:pre')
      .map((event) => (event as { callId: string }).callId);
    expect(calls).toHaveLength(4);
    expect(
      all.events
        .filter(({ type }) => type === 'tool:error')
        .map((event) => (event as { callId: string }).callId),
    ).toEqual(calls);
    expect(all.events.filter(({ type }) => type === 'tool:post')).toEqual([]);
  });
});

test('of all routes with all tokens, only the route for calls reaches the gates', async () => {
  const all = await world({ rules: [{ effect: 'deny', tools: 'wipe' }] });
  const rpc = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'wipe', arguments: args },
  };
  const bodies = [
    {
      requestId: 'r',
      tool: 'wipe',
      args,
      wait: true,
      side: 'agent',
      result: 1,
      decision: 'allow_once',
      reason: 'x',
      availableTools: [],
      added: [],
    },
    { event: 'tool-request', data: { requestId: 'r', tool: 'wipe', args } },
    rpc,
  ];
  const reached = new Set<string>();
  for (const { name, method, path, stream } of routes) {
    // These two end the session or wait for what comes.
    if (name === 'delete' || stream === true) continue;
    const place = path
      .replace('/api/sessions', '')
      .replace(':code', all.code)
      .replace(':requestId', 'r')
      .replace(':approvalId', 'r');
    for (const token of [all.agentToken, all.sessionToken, hostKey, undefined])
      for (const body of method === 'POST' ? bodies : [undefined]) {
        const before = all.events.length;
        await all.ask(method, place, {
          ...(token === undefined ? {} : { token }),
          ...(body === undefined ? {} : { body }),
        });
        if (all.events.slice(before).some(({ type }) => type === 'tool:pre')) reached.add(name);
      }
  }
  expect([...reached]).toEqual(['request']);
  expect(await all.given()).toEqual([]);
  expect(all.events.filter(({ type }) => type === 'tool:post')).toEqual([]);
});

test('in the source, one place sends calls to applications, and only the executor of a session tool runs it', () => {
  const folder = join(import.meta.dirname, '../../../src/surfaces/relay');
  const holding = (pattern: RegExp): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(
        (file) => file.endsWith('.ts') && pattern.test(readFileSync(join(folder, file), 'utf8')),
      )
      .sort();
  // Records of the log that are calls, and documents that hold one.
  expect(holding(/kind: 'call', id/)).toEqual(['calls/call-run.ts']);
  expect(holding(/state: 'open'[,\s]*\}/)).toEqual(['calls/call-run.ts']);
  expect(holding(/calls\.run\(/)).toEqual(['calls/live-sessions.ts']);
  expect(holding(/kind: 'remote' as const,\s+execute: \(input/)).toEqual([
    'tools/relayed-tools.ts',
  ]);
  // Agents' calls go in by these doors of the core.
  expect(holding(/session\.call\(/)).toEqual(['calls/request-run.ts']);
  expect(holding(/\bcreateMcpHandler\b/)).toEqual(['http/mcp-route.ts']);
});
