/** Nodes over one store: what their own registries keep is in it as well. */
import { afterEach, describe, expect, test } from 'vitest';
import { memoryStore } from '../../../src/index.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/index.ts';
import type { RelaySessionOptions } from '../../../src/surfaces/relay/options.ts';
import { connectRelay } from '../../../src/surfaces/relay-client/index.ts';
import { askOf, base } from './http/app-kit.ts';

const hostKey = 'host-key-of-forty-characters-or-so-000000';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Two nodes, and an application that is connected to the first one. */
async function nodes(session: RelaySessionOptions) {
  const store = memoryStore();
  const make = (): Relay => {
    const relay = createRelay({ store, hostKey, session });
    closers.push(() => relay.close());
    return relay;
  };
  const [one, other] = [make(), make()];
  const made = await askOf(one.fetch, 'POST', base, { token: hostKey, body: {} });
  const { code, sessionToken, agentToken } = made.body as Record<string, string>;
  const connection = await connectRelay({
    url: 'http://relay.test',
    code: code as string,
    token: sessionToken as string,
    transport: 'sse',
    fetch: (url, init) => one.fetch(new Request(url, init)),
    tools: [
      { name: 'act', description: 'A', parameters: { type: 'object' }, handler: () => 'ran' },
    ],
  });
  closers.push(() => connection.close());
  const call = async (relay: Relay, requestId: string) => {
    const body = { tool: 'act', args: {}, requestId };
    const token = agentToken as string;
    return (await askOf(relay.fetch, 'POST', `${base}/${code}/request`, { token, body })).body;
  };
  return { one, other, code, agentToken, call };
}

describe('two nodes over one store', () => {
  test('count the quotas of a session together', async () => {
    const quotas = [{ id: 'calls', tools: 'act', max: 2, per: 'hour', by: 'registry' }] as const;
    const { one, other, call } = await nodes({ quotas });
    expect((await call(one, 'a')).result).toMatchObject({ success: true });
    expect((await call(other, 'b')).result).toMatchObject({ success: true });
    for (const relay of [one, other])
      expect((await call(relay, `c-${relay === one}`)).result).toMatchObject({
        success: false,
        error: { code: 'policy_denied', reason: expect.stringContaining('quota') },
      });
  });

  test('answer what was suspended at the other one', async () => {
    const { one, other, code, agentToken, call } = await nodes({
      approvalMode: 'suspend',
      approvals: { secret: 'a secret of thirty-two characters!' },
      rules: [{ effect: 'ask', tools: 'act' }],
    });
    const { result } = await call(one, 'a');
    expect(result).toMatchObject({ error: { code: 'approval_pending' } });
    const polled = await askOf(one.fetch, 'GET', `${base}/${code}/events?mode=poll&after=0`, {
      token: agentToken as string,
    });
    const events = polled.body.events as { event: string; data: { approvalId: string } }[];
    const { approvalId } = events.find(({ event }) => event === 'approval-required')?.data ?? {};
    const answered = await askOf(other.fetch, 'POST', `${base}/${code}/approvals/${approvalId}`, {
      token: hostKey,
      body: { decision: 'allow_once' },
    });
    expect([answered.status, answered.body.approvalId]).toEqual([200, approvalId]);
    await expect
      .poll(async () => (await call(other, 'a')).result)
      .toMatchObject({ success: true, output: 'ran' });
  });
});
