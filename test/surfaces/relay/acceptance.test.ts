/**
 * What a client of any make, and a host, can hold a relay to: over its one function, with a clock
 * that is given.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HostToolRegistry } from '../../../src/core.ts';
import { jsonSchemas } from '../../../src/parts/json-schema/part.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/create-relay.ts';
import type { RelayOptions } from '../../../src/surfaces/relay/options.ts';
import { type Ask, askOf, base, type Made, registration, type Told } from './http/app-kit.ts';

const open: Relay[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((relay) => relay.close()));
});

const hostKey = 'a-key-of-the-host-that-is-long-enough';

/** A relay with one session, and a clock of its own. */
async function world(options: RelayOptions = {}) {
  const clock = { now: Date.UTC(2026, 0, 1) };
  const relay = createRelay({ hostKey, now: () => clock.now, heartbeatMs: 50, ...options });
  open.push(relay);
  const ask = (method: string, path: string, what?: Ask): Promise<Told> =>
    askOf(relay.fetch, method, `${base}${path}`, what);
  const made = (await ask('POST', '', { token: hostKey, body: {} })).body as unknown as Made;
  const { code, agentToken, sessionToken } = made;
  return {
    clock,
    close: () => relay.close(),
    ask,
    agent: (method: string, path: string, body?: unknown) =>
      ask(method, `/${code}/${path}`, { token: agentToken, body }),
    application: (method: string, path: string, body?: unknown) =>
      ask(method, `/${code}/${path}`, { token: sessionToken, body }),
    host: (path: string, body: unknown) =>
      ask('POST', `/${code}/${path}`, { token: hostKey, body }),
  };
}

const suspending = {
  session: {
    rules: [{ effect: 'ask' }],
    approvalMode: 'suspend',
    approvals: { secret: 'x'.repeat(40), ttlMs: 60_000 },
  },
} satisfies RelayOptions;

/** Calls what needs a person, and waits until that is told. */
async function suspended(
  { application, agent }: Awaited<ReturnType<typeof world>>,
  requestId: string,
): Promise<string> {
  await application('POST', 'register-tools', registration('add'));
  expect((await agent('POST', 'request', { requestId, tool: 'add' })).body).toMatchObject({
    result: { error: { code: 'approval_pending' } },
  });
  return vi.waitFor(async () => {
    const { events } = (await agent('GET', 'events?mode=poll&after=0')).body;
    const { data } = events.find(
      (one: { event: string; data: { requestId: string } }) =>
        one.event === 'approval-required' && one.data.requestId === requestId,
    );
    return data.approvalId as string;
  });
}

describe('changes of tools while no client listens', () => {
  const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);
  const updatesOf = async ({
    application,
  }: Awaited<ReturnType<typeof world>>): Promise<[string[], string[], string[]][]> => {
    const { events } = (await application('GET', 'stream?mode=poll')).body;
    return events.map(
      ({
        data: { updates },
      }: {
        data: { updates: { added: never[]; removed: string[]; modified: never[] } };
      }) => [names(updates.added), updates.removed, names(updates.modified)],
    );
  };

  test('are delivered later as they happened, even for tools that are gone by then', async () => {
    const all = await world();
    await all.application('POST', 'register-tools', registration('a', 'b'));
    await all.application('POST', 'update-tools', {
      added: registration('c').availableTools,
      removed: ['a'],
      reason: 'one',
    });
    await all.application('POST', 'update-tools', { removed: ['c'], reason: 'two' });
    expect(await updatesOf(all)).toEqual([
      [['a', 'b'], [], []],
      [['c'], ['a'], []],
      [[], ['c'], []],
    ]);
  });

  test('show the last definition of a tool that was removed and added again', async () => {
    const all = await world();
    await all.application('POST', 'register-tools', registration('a', 'b'));
    await all.application('POST', 'update-tools', { removed: ['a'], reason: 'one' });
    const [again] = registration('a').availableTools;
    await all.application('POST', 'update-tools', {
      added: [{ ...again, description: 'Another.' }],
      reason: 'two',
    });
    const { events } = (await all.application('GET', 'stream?mode=poll')).body;
    expect(
      events.map(
        ({ data }: { data: { updates: { added: { description: string }[] } } }) =>
          data.updates.added[0]?.description,
      ),
    ).toEqual(['Another.', undefined, 'Another.']);
    expect((await all.agent('GET', 'metadata')).body.toolCount).toBe(2);
  });
});

describe('an approval', () => {
  test('that is not answered in time ends its request', async () => {
    const all = await world(suspending);
    const approvalId = await suspended(all, 'r-1');
    all.clock.now += 59_999;
    expect((await all.agent('GET', 'requests/r-1')).body).toEqual({
      requestId: 'r-1',
      status: 'queued',
    });
    all.clock.now += 1;
    const ended = {
      requestId: 'r-1',
      status: 'done',
      result: {
        success: false,
        error: { code: 'approval_timeout' },
        metadata: { callId: 'r-1', toolName: 'add', status: 'rejected' },
      },
    };
    expect((await all.agent('GET', 'requests/r-1')).body).toMatchObject(ended);
    expect(
      (await all.agent('POST', 'request', { requestId: 'r-1', tool: 'add' })).body,
    ).toMatchObject({ result: ended.result });
    expect(await all.host(`approvals/${approvalId}`, { decision: 'allow_once' })).toMatchObject({
      status: 404,
      body: { error: 'approval_not_found' },
    });
    const { events } = (await all.agent('GET', 'events?mode=poll&after=0')).body;
    expect(events.filter(({ event }: { event: string }) => event === 'tool-result')).toMatchObject([
      { data: { requestId: 'r-1', result: ended.result } },
    ]);
  });

  test('that is not answered in time ends its request even if no client asks for it', async () => {
    const all = await world({
      ...suspending,
      leaseMs: 20,
      session: { ...suspending.session, approvals: { secret: 'x'.repeat(40), ttlMs: 40 } },
    });
    await suspended(all, 'r-1');
    all.clock.now += 40;
    await vi.waitFor(async () => {
      const { events } = (await all.agent('GET', 'events?mode=poll&after=0')).body;
      expect(events.map(({ event }: { event: string }) => event)).toContain('tool-result');
    });
  });

  test('with arguments that are too large for the session is refused, and the call keeps waiting', async () => {
    const all = await world({
      session: {
        rules: [{ effect: 'ask' }],
        approver: () => new Promise(() => {}),
        limits: { maxInputBytes: 50 },
      },
    });
    await all.application('POST', 'register-tools', registration('add'));
    const asked = all.agent('POST', 'request', { requestId: 'r-1', tool: 'add', wait: false });
    const approvalId = await vi.waitFor(async () => {
      const { events } = (await all.agent('GET', 'events?mode=poll&after=0')).body;
      return events.find(({ event }: { event: string }) => event === 'approval-required').data
        .approvalId as string;
    });
    const decide = (body: object) => all.host(`approvals/${approvalId}`, body);
    const large = { a: 'x'.repeat(100) };
    expect(await decide({ decision: 'allow_once', input: large })).toMatchObject({
      status: 400,
      body: { error: 'invalid_decision' },
    });
    expect(await decide({ decision: 'reject_once' })).toMatchObject({
      status: 200,
      body: { approvalId, requestId: 'r-1' },
    });
    expect(await asked).toMatchObject({
      body: { result: { error: { code: 'approval_denied', reason: 'rejected' } } },
    });
  });

  test('is answered where the registry keeps no approvals', async () => {
    const registry = new HostToolRegistry({ default: 'ask', parts: [jsonSchemas()] });
    const all = await world({ session: { registry, approver: () => new Promise(() => {}) } });
    await all.application('POST', 'register-tools', registration('add'));
    const asked = all.agent('POST', 'request', { requestId: 'r-1', tool: 'add', wait: false });
    const approvalId = await vi.waitFor(async () => {
      const { events } = (await all.agent('GET', 'events?mode=poll&after=0')).body;
      return events.find(({ event }: { event: string }) => event === 'approval-required').data
        .approvalId as string;
    });
    expect(await all.host('approvals/another', { decision: 'allow_once' })).toMatchObject({
      status: 404,
    });
    expect(await all.host(`approvals/${approvalId}`, { decision: 'reject_once' })).toMatchObject({
      status: 200,
      body: { approvalId, requestId: 'r-1' },
    });
    expect(await asked).toMatchObject({
      body: { result: { error: { code: 'approval_denied', reason: 'rejected' } } },
    });
  });

  test('with arguments that are nested too deeply is refused, and does not use up a suspended approval', async () => {
    const all = await world(suspending);
    const approvalId = await suspended(all, 'r-1');
    const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`) as object;
    expect(
      await all.host(`approvals/${approvalId}`, { decision: 'allow_once', input: deep }),
    ).toMatchObject({
      status: 400,
      body: { error: 'invalid_decision' },
    });
    expect(await all.host(`approvals/${approvalId}`, { decision: 'reject_once' })).toMatchObject({
      status: 200,
      body: { approvalId },
    });
  });

  test.each([
    ['as a decision', { decision: 'reject_once', by: 'ann', message: 'Not now.' }],
    [
      'as a whole answer in place of the decision',
      { decision: { decision: 'reject_once', by: 'ann', message: 'Not now.' } },
    ],
  ])('can be answered %s', async (_, body) => {
    const all = await world(suspending);
    const approvalId = await suspended(all, 'r-1');
    expect(await all.host(`approvals/${approvalId}`, body)).toMatchObject({
      status: 200,
      body: { approvalId, requestId: 'r-1' },
    });
    await vi.waitFor(async () =>
      expect((await all.agent('GET', 'requests/r-1')).body).toMatchObject({
        status: 'done',
        result: { error: { code: 'approval_denied' } },
      }),
    );
  });

  test.each([
    {},
    { decision: 'allow' },
    { decision: 'yes' },
    { decision: null },
    { decision: ['allow_once'] },
    { decision: { decision: 'yes' } },
    { decision: { decision: 'allow_once' }, by: 'ann' },
    { decision: { decision: { decision: 'allow_once' } } },
  ])('is not answered by %j, and keeps waiting', async (body) => {
    const all = await world(suspending);
    const approvalId = await suspended(all, 'r-1');
    expect((await all.host(`approvals/${approvalId}`, body)).status).toBe(400);
    expect((await all.host(`approvals/${approvalId}`, { decision: 'reject_once' })).status).toBe(
      200,
    );
  });
});

describe('a request', () => {
  test('is queued until an application gets it, and runs until it is answered', async () => {
    const { agent, application } = await world({ leaseMs: 5_000 });
    await application('POST', 'register-tools', registration('add'));
    const status = async (): Promise<unknown> => (await agent('GET', 'requests/r-1')).body.status;
    expect(
      await agent('POST', 'request', { requestId: 'r-1', tool: 'add', wait: false }),
    ).toMatchObject({ status: 202, body: { status: 'queued' } });
    await vi.waitFor(async () => expect(await status()).toBe('queued'));
    await vi.waitFor(async () => {
      const { events } = (await application('GET', 'stream?mode=poll')).body;
      expect(events.map(({ event }: { event: string }) => event)).toContain('tool-request');
    });
    expect(await status()).toBe('running');
    expect((await application('POST', 'response', { requestId: 'r-1', result: 3 })).status).toBe(
      200,
    );
    await vi.waitFor(async () => expect(await status()).toBe('done'));
  });
});

describe('a relay that closes', () => {
  test('waits for the answer of an application that it has disconnected', async () => {
    const { agent, application, close } = await world({ leaseMs: 300 });
    await application('POST', 'register-tools', registration('add'));
    const asked = agent('POST', 'request', { requestId: 'r-1', tool: 'add' });
    await vi.waitFor(async () => {
      const { events } = (await application('GET', 'stream?mode=poll')).body;
      expect(events.map(({ event }: { event: string }) => event)).toContain('tool-request');
    });
    const closing = close();
    // Far longer than an application may be away while the relay is there.
    await new Promise((resolve) => setTimeout(resolve, 900));
    expect((await application('POST', 'response', { requestId: 'r-1', result: 3 })).status).toBe(
      200,
    );
    expect((await asked).body).toMatchObject({ result: { success: true, output: 3 } });
    await closing;
  });
});

describe('a limit', () => {
  test('counts a minute by the injected clock', async () => {
    const { clock, agent } = await world({ limits: { requestsPerMinute: 2 } });
    const call = async (): Promise<number> =>
      (await agent('POST', 'request', { tool: 'nothing' })).status;
    expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
    clock.now += 59_999;
    expect(await call()).toBe(429);
    clock.now += 1;
    expect([await call(), await call(), await call()]).toEqual([200, 200, 429]);
  });
});

describe("the host's session options", () => {
  test.each([
    ['suspended approvals without a secret', { approvalMode: 'suspend' }, 'secret'],
    ['an unknown profile', { profile: 'none' }, 'profile'],
    ['an invalid policy', { policies: [() => undefined] }, 'policies[0]'],
    ['an invalid hook', { hooks: [5] }, 'hook'],
    ['an invalid approver', { approver: 'ann' }, 'approver'],
    ['invalid facts', { facts: 5 }, 'facts'],
    ['unknown limits', { limits: { calls: 1 } }, 'limits'],
  ])('with %s are refused when the relay is created', (_, session, said) => {
    expect(() => createRelay({ session } as never)).toThrow(said);
  });
});
