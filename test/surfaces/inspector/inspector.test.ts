import { describe, expect, test } from 'vitest';
import { registryStateOf } from '../../../src/core/registry/state-of.ts';
import type { HostToolRegistry } from '../../../src/index.ts';
import { memoryApprovals } from '../../../src/surfaces/approvals/index.ts';
import { createInspector } from '../../../src/surfaces/inspector/index.ts';
import type { SessionLine } from '../../../src/surfaces/pages/inspector-session-wire.ts';
import type { ToolDetail, ToolListing } from '../../../src/surfaces/pages/inspector-wire.ts';
import { buyTool, detailOf, hostile, inspect, linesOf, makeRegistry, token, told } from './kit.ts';

describe('who is answered', () => {
  test('anyone with the token; others always get the same answer', async () => {
    const { inspector, ask } = inspect(makeRegistry());
    expect((await ask('api/tools?profile=')).status).toBe(200);
    const wrong = [
      '',
      'Bearer',
      'Bearer x',
      `Bearer ${token}x`,
      `Basic ${token}`,
      `bearer ${token}`,
    ];
    const answers = new Set<string>();
    for (const authorization of wrong)
      for (const path of [
        'api/tools?profile=',
        'api/stream',
        'api/nothing',
        `api/tools?token=${token}`,
      ]) {
        const answer = await ask(path, {}, { authorization });
        answers.add(`${answer.status} ${await answer.text()}`);
      }
    expect([...answers]).toEqual([
      '401 {"error":"The token is missing or wrong. Open the address that was printed."}',
    ]);
    await inspector.close();
  });

  test('only requests for a loopback name, and only from its own pages', async () => {
    const { ask } = inspect(makeRegistry());
    const status = async (headers: Record<string, string>, path = 'api/tools?profile=') =>
      (await ask(path, {}, headers)).status;
    expect(await status({ host: 'localhost:4041' })).toBe(200);
    expect(await status({ host: '[::1]:4041' })).toBe(200);
    expect(await status({ origin: 'http://127.0.0.1:4041' })).toBe(200);
    for (const headers of [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1:9999' },
      { origin: 'null' },
    ])
      for (const path of ['', 'api/tools?profile=']) expect(await status(headers, path)).toBe(403);
  });

  test('the page needs no token, holds nothing of the registry, and may load nothing', async () => {
    const { ask } = inspect(makeRegistry());
    const page = await ask('', {}, { authorization: '' });
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-/,
    );
    expect(page.headers.get('cache-control')).toBe('no-store');
    const html = await page.text();
    expect([html.includes(token), html.includes('no-etc')]).toEqual([false, false]);
    expect((await ask('x')).status).toBe(404);
    expect((await ask('', { method: 'POST' })).status).toBe(404);
  });

  test('no one once it is closed', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const stream = await kit.ask('api/stream');
    await kit.inspector.close();
    await kit.inspector.close();
    expect((await kit.ask('')).status).toBe(404);
    await expect(told(stream, () => undefined)).rejects.toThrow('The stream ended');
    expect(
      (await registry.createSession({ sessionId: 's' }).call('read', { path: 'a' })).success,
    ).toBe(true);
  });
});

describe('options', () => {
  test('the token is made if none is given, and has a form', () => {
    const registry = makeRegistry();
    const tokens = [createInspector(registry).token, createInspector(registry).token];
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(() => createInspector(registry, { token: 'short' })).toThrow(
      'createInspector: expected `token` to be at least 32 letters, digits, `-` or `_`, got',
    );
    expect(() => createInspector(registry, { allowCall: true } as never)).toThrow(
      'did you mean `allowCalls`?',
    );
  });

  test('anything but a registry is refused', () => {
    expect(() => createInspector({} as HostToolRegistry)).toThrow('HostToolRegistry');
  });
});

describe('calls', () => {
  test('are shown with verdict, rule and outcome', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({ sessionId: 's1', principal: 'ann' });
    await session.call('read', { path: 'a.txt' });
    await session.call('read', { path: '/etc/passwd' });
    await session.call('write', { path: 'b.txt' });
    expect(await linesOf(kit)).toMatchObject([
      {
        n: 1,
        tool: 'read',
        sessionId: 's1',
        principal: 'ann',
        phase: 'ended',
        status: 'succeeded',
        effect: 'allow',
      },
      {
        n: 2,
        status: 'rejected',
        code: 'policy_denied',
        effect: 'deny',
        ruleId: 'no-etc',
        layer: 'registry',
      },
      { n: 3, status: 'failed', code: 'handler_error', shadowed: true },
    ]);
    const { kept } = await detailOf(kit, 1);
    expect(kept?.stages.map(({ name }) => name)).toEqual(['arrived', 'judged', 'started', 'ended']);
    expect(JSON.parse(kept?.result ?? '')).toEqual({ path: 'a.txt', text: hostile });
    expect(kept?.executor).toBe('inline');
    expect((await detailOf(kit, 3)).kept?.shadow).toEqual([
      { ruleId: 'try', layer: 'registry', wouldBe: 'deny', was: 'allow' },
    ]);
    expect((await kit.ask('api/call?n=99')).status).toBe(404);
    await kit.inspector.close();
  });

  test('are shown without secrets', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({ sessionId: 's1' });
    await session.call('read', { path: 'a.txt', password: 'hunter2-hunter2' });
    expect(JSON.stringify(await detailOf(kit, 1))).not.toContain('hunter2');
    await kit.inspector.close();
  });

  test('that wait for a person say where their arguments came from', async () => {
    const rules = [{ id: 'ask-pay', effect: 'ask', tools: 'pay' }] as const;
    const registry = makeRegistry({ rules });
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's1',
      approver: () => new Promise(() => {}),
    });
    session.said('Pay somebody.');
    void session.call('pay', { to: 'eve' });
    await stateOf(kit, ({ approvals }) => approvals[0]);
    expect((await detailOf(kit, 1)).kept?.origins).toEqual([{ path: 'to', origin: 'unknown' }]);
    await kit.inspector.close();
  });

  test('are shown while they run', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's1',
      approver: () => new Promise(() => {}),
    });
    const stream = await kit.ask('api/stream');
    const asked = session.call('pay', { to: 'bob' });
    const line = await told(stream, (message) =>
      message.type === 'calls'
        ? message.calls.find(({ phase }) => phase === 'approval')
        : undefined,
    );
    expect(line).toMatchObject({ tool: 'pay', effect: 'ask', ruleId: 'ask-pay' });
    await session.close();
    await asked;
    expect((await linesOf(kit))[0]).toMatchObject({ phase: 'ended', code: 'session_closed' });
    await kit.inspector.close();
  });

  test('a page that does not read costs calls nothing; too many pages are refused', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({ sessionId: 's1' });
    const streams = [];
    for (let at = 0; at < 16; at++) streams.push(await kit.ask('api/stream'));
    expect((await kit.ask('api/stream')).status).toBe(503);
    for (let at = 0; at < 2_000; at++) await session.call('read', { path: `${at}` });
    for (const stream of streams) await stream.body?.cancel();
    expect((await linesOf(kit)).length).toBe(500);
    await kit.inspector.close();
  });
});

describe('tools', () => {
  test('of a session with discovery: what was found, by which call and which words', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's1',
      discovery: { keep: 'read' },
    });
    const line = (await stateOf(kit, ({ sessions }) => sessions[0])) as SessionLine;
    const listed = () => kit.get<ToolListing>(`tools?session=${line.key}`);
    const before = await listed();
    expect(before.shown.map(({ name }) => name)).toEqual(['read', 'find_tools']);
    expect(before.hidden).toContainEqual({ name: 'write', code: 'not_discovered', unlockedBy: [] });
    await session.call('find_tools', { query: 'Writing some file' }, { callId: 'c7' });
    const { shown, hidden } = await listed();
    expect(shown.map(({ name }) => name)).toEqual(['read', 'find_tools', 'write']);
    expect(shown[2]).toMatchObject({ found: { callId: 'c7', words: ['writing', 'file'] } });
    expect(shown[0]).not.toHaveProperty('found');
    expect(hidden.map(({ name }) => name)).not.toContain('write');
    expect(await kit.get(`tool?session=${line.key}&name=write`)).toMatchObject({
      found: { callId: 'c7', words: ['writing', 'file'] },
    });
    await kit.inspector.close();
  });

  test('of a session: what it shows, and why it hides the rest', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's1',
      profile: 'reader',
      facts: { a: 'secret' },
    });
    const line = await stateOf(kit, ({ sessions }) => sessions[0]);
    expect(line).toMatchObject({ sessionId: 's1', profile: 'reader', open: true, calls: 0 });
    const listing = await kit.get<ToolListing>(`tools?session=${(line as SessionLine).key}`);
    expect(listing).toMatchObject({
      closed: false,
      facts: ['a'],
      shown: [{ name: 'read', executor: 'inline', annotations: ['readOnly'] }],
    });
    expect(listing.hidden).toContainEqual({ name: 'pay', code: 'not_in_profile', unlockedBy: [] });
    expect(listing.hidden).toContainEqual({
      name: 'missing',
      code: 'not_registered',
      unlockedBy: [],
    });
    await session.close();
    expect(await kit.get(`tools?session=${(line as SessionLine).key}`)).toMatchObject({
      closed: true,
      status: 'closed',
    });
    expect((await kit.ask('api/tools?session=99')).status).toBe(404);
    expect((await kit.ask('api/tools?profile=nobody')).status).toBe(404);
    expect((await kit.ask('api/tools')).status).toBe(404);
    await kit.inspector.close();
  });

  test('of a session that was dropped, or began before: the list and the pane agree', async () => {
    const registry = makeRegistry();
    const before = registry.createSession({ sessionId: 'before', profile: 'reader' });
    const kit = inspect(registry);
    const kept = registry.createSession({ sessionId: 'kept' });
    const twins = [1, 2].map(() => registry.createSession({ sessionId: 'twin' }));
    registry.createSession({ sessionId: 'dropped', profile: 'reader' });
    for (const session of [before, kept, ...twins]) await session.call('read', { path: 'a' });
    // What the collector does with objects that no one has any more.
    const { watchers } = registryStateOf(registry).sessions;
    let twin = 0;
    for (const ref of watchers) {
      const id = ref.deref()?.sessionId;
      if (id === 'dropped' || (id === 'twin' && twin++ === 0)) watchers.delete(ref);
    }
    const lines = await stateOf(kit, ({ sessions }) => sessions);
    expect(lines.map(({ sessionId, status, open }) => [sessionId, status, open])).toEqual([
      ['before', 'unseen', true],
      ['dropped', 'dropped', false],
      ['twin', 'open', true],
      ['twin', 'dropped', false],
      ['kept', 'open', true],
    ]);
    for (const { key, status, open } of lines)
      expect(await kit.get(`tools?session=${key}`)).toMatchObject({ status, closed: !open });
    await before.close();
    await kept.close();
    for (const { key, sessionId, status } of lines)
      expect(await kit.get(`tools?session=${key}`)).toMatchObject({
        status: ['before', 'kept'].includes(sessionId) ? 'closed' : status,
      });
    await kit.inspector.close();
  });

  test('in detail: schema, verdict, and what is hidden', async () => {
    const kit = inspect(makeRegistry());
    const tool = await kit.get<ToolDetail>('tool?profile=&name=pay');
    expect(tool).toMatchObject({
      name: 'pay',
      executor: 'inline',
      requiresApproval: true,
      inputSchema: { properties: { to: { type: 'string' } } },
      verdict: { effect: 'ask', ruleId: 'ask-pay', layer: 'registry' },
    });
    expect(await kit.get('tool?profile=&name=deploy')).toMatchObject({
      hiddenBy: 'fact_unmet:build',
    });
    expect((await kit.ask('api/tool?profile=&name=__proto__')).status).toBe(404);
    await kit.inspector.close();
  });

  test('rules are shown with their tests, and quotas with their limits', async () => {
    const registry = makeRegistry({
      // No tool has `cents`, of which the registry warns.
      logger: { warn: () => {}, error: () => {} },
      rules: [
        { id: 'plain', effect: 'ask' },
        {
          id: 'all',
          effect: 'deny',
          principal: 'ann',
          facts: { open: true },
          when: { path: { in: Array.from({ length: 100 }, (_, at) => `/etc/${at}`) } },
        },
      ],
      quotas: [
        { id: 'daily', tools: 'pay', sum: 'cents', max: 900, per: 'day', by: 'principal' },
        { id: 'tries', max: 3, per: { ms: 1_500 }, by: { path: ['to', 'name'] }, over: 'ask' },
      ],
    });
    const kit = inspect(registry);
    const { rules, quotas } = await stateOf(kit, (state) => state);
    expect(rules[0]?.conditions).toBe('');
    expect(rules[1]?.conditions).toMatch(
      /^principal "ann", facts \{"open":true\}, when \{"path":\{"in":\["\/etc\/0".*…/,
    );
    expect(rules[1]?.conditions.length).toBeLessThan(600);
    expect(quotas).toEqual([
      {
        id: 'daily',
        layer: 'registry',
        max: 900,
        per: 'day',
        by: 'each principal',
        sum: 'cents',
        over: 'deny',
        tools: 1,
        toolNames: ['pay'],
      },
      {
        id: 'tries',
        layer: 'registry',
        max: 3,
        per: '1500 ms',
        by: 'each value of to.name',
        over: 'ask',
        tools: 4,
        toolNames: ['read', 'write', 'pay', 'deploy'],
      },
    ]);
    await kit.inspector.close();
  });

  test('rules are shown with their matches', async () => {
    const registry = makeRegistry();
    const kit = inspect(registry);
    const session = registry.createSession({ sessionId: 's1' });
    await session.call('read', { path: '/etc/passwd' });
    await session.call('write', { path: 'x' });
    expect(await stateOf(kit, ({ rules }) => rules)).toMatchObject([
      {
        id: 'no-etc',
        effect: 'deny',
        matched: 1,
        unused: false,
        tools: 1,
        toolNames: ['read'],
        conditions: 'when {"path":{"glob":"/etc/*"}}',
      },
      { id: 'try', shadow: true, matched: 1, wouldChange: 1 },
      { id: 'ask-pay', matched: 0, unused: true, conditions: '' },
    ]);
    await kit.inspector.close();
  });
});

describe('questions', () => {
  test('are shown without tokens, and answered once', async () => {
    const registry = makeRegistry({ approvals: { secret: 'x'.repeat(32) } });
    const kit = inspect(registry);
    const waiting = registry.createSession({
      sessionId: 's1',
      approver: () => new Promise(() => {}),
    });
    const call = waiting.call('pay', { to: 'bob' });
    const asked = await stateOf(kit, ({ approvals }) => approvals[0]);
    expect(asked).toMatchObject({
      tool: 'pay',
      sessionId: 's1',
      input: '{"to":"bob"}',
    });
    const answer = { id: asked.id, decision: 'allow_once', by: 'ann' };
    expect((await kit.post('answer', answer)).status).toBe(200);
    expect((await call).success).toBe(true);
    expect((await kit.post('answer', answer)).status).toBe(409);
    for (const wrong of [
      {},
      { ...answer, decision: 'allow_always' },
      { ...answer, by: ' ' },
      [],
      1,
    ])
      expect((await kit.post('answer', wrong)).status).toBe(400);
    await kit.inspector.close();
  });

  test('of suspended calls too', async () => {
    const registry = makeRegistry({ approvals: { secret: 'x'.repeat(32) } });
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    expect((await session.call('pay', { to: 'bob' })).error?.code).toBe('approval_pending');
    const [asked] = await session.approvals.pending();
    const text = await told(await kit.ask('api/stream'), (message) =>
      message.type === 'state' && message.state.approvals.length > 0
        ? JSON.stringify(message)
        : undefined,
    );
    expect(asked?.token).toBeTypeOf('string');
    expect(text).not.toContain(asked?.token);
    expect(
      (
        await kit.post('answer', {
          id: asked?.id,
          decision: 'reject_once',
          by: 'eve',
          message: 'no',
        })
      ).status,
    ).toBe(200);
    await expect
      .poll(async () => (await linesOf(kit)).at(-1))
      .toMatchObject({ attempt: 2, code: 'approval_denied' });
    await kit.inspector.close();
  });
});

describe('a question whose input is edited', () => {
  const asks = async (allowCalls: boolean) => {
    const registry = makeRegistry({ approvals: { secret: 'x'.repeat(32) } });
    const kit = inspect(registry, { allowCalls });
    const session = registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    const ran: unknown[] = [];
    registry.register(buyTool(ran));
    await session.call('buy', { to: 'bob' });
    const asked = await stateOf(kit, ({ approvals }) => approvals[0]);
    const answer = (input: unknown) =>
      kit.post('answer', { id: asked.id, decision: 'allow_once', by: 'eve', input });
    return { registry, kit, asked, answer, ran };
  };

  test('runs as it was edited, where the page may make calls', async () => {
    const { registry, kit, asked, answer, ran } = await asks(true);
    expect(asked).toMatchObject({ editable: true, summary: 'buy to bob' });
    const { schema = '' } = await kit.get<{ schema?: string }>(`schema?id=${asked.id}`);
    expect(JSON.parse(schema)).toMatchObject({ properties: { to: { type: 'string' } } });
    const wrong = await answer({ to: 5 });
    expect([wrong.status, await wrong.json()]).toEqual([
      409,
      {
        error: expect.stringContaining('does not fit the tool'),
        issues: [{ path: 'to', message: expect.any(String) }],
      },
    ]);
    expect((await answer('{}')).status).toBe(400);
    expect(await (await answer({ to: 'carol' })).json()).toEqual({
      id: asked.id,
      decision: 'allow_once',
      status: 'succeeded',
    });
    expect(ran).toEqual([{ to: 'carol' }]);
    expect(await (await answer({ to: 'carol' })).json()).toMatchObject({ over: true });
    expect(await registry.approvals.pending()).toEqual([]);
    await kit.inspector.close();
  });

  test('is refused elsewhere, and the question stays', async () => {
    const { registry, kit, asked, answer, ran } = await asks(false);
    expect(asked.editable).toBe(false);
    expect(await kit.get(`schema?id=${asked.id}`)).toEqual({});
    const refused = await answer({ to: 'carol' });
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining('allowCalls'),
    ]);
    expect([ran, (await registry.approvals.pending()).length]).toEqual([[], 1]);
    await kit.inspector.close();
  });

  test('has no hidden fields, which an edit would lose', async () => {
    const registry = makeRegistry({
      approvals: { secret: 'x'.repeat(32) },
      rules: [{ effect: 'ask', tools: 'read' }],
    });
    const kit = inspect(registry, { allowCalls: true });
    const session = registry.createSession({
      sessionId: 's1',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    await session.call('read', { path: 'a', password: 's3cret-word' });
    const asked = await stateOf(kit, ({ approvals }) => approvals[0]);
    expect(asked).toMatchObject({ editable: false, summary: 'read a' });
    const body = { id: asked.id, decision: 'allow_once', by: 'eve', input: { path: 'b' } };
    expect((await kit.post('answer', body)).status).toBe(409);
    expect(await registry.approvals.pending()).toHaveLength(1);
    await kit.inspector.close();
  });
});

describe('an answer that is refused says so, and the question stays', () => {
  const suspended = async (registry: HostToolRegistry) => {
    const session = registry.createSession({
      sessionId: 's',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    const result = await session.call('pay', { to: 'bob' });
    return { session, id: (result.success ? undefined : result.approval?.id) ?? '' };
  };
  const answer = { decision: 'allow_once', by: 'Ann' };
  const secret = 'x'.repeat(32);

  test('where the principal answers under four eyes', async () => {
    const registry = makeRegistry({ approvals: { secret, fourEyes: true } });
    const kit = inspect(registry);
    const { id } = await suspended(registry);
    const response = await kit.post('answer', { ...answer, id });
    expect(response.status).toBe(409);
    expect(await response.text()).toContain(
      'someone other than the person for whom the session acts must answer',
    );
    expect((await kit.post('answer', { ...answer, by: 'bob', id })).status).toBe(200);
    await kit.inspector.close();
  });

  test('where the session is not open here and cannot be made', async () => {
    const store = memoryApprovals();
    const asking = makeRegistry({ approvals: { secret, store } });
    const { id, session } = await suspended(asking);
    const kit = inspect(makeRegistry({ approvals: { secret, store } }));
    const response = await kit.post('answer', { ...answer, id });
    expect(response.status).toBe(409);
    expect(await response.text()).toContain('is not open in this process');
    expect(await session.approvals.pending()).toHaveLength(1);
    await kit.inspector.close();
  });
});

describe('a store of approvals', () => {
  const secret = 'x'.repeat(32);

  test('that is away hides nothing else, and the page says so', async () => {
    const away = (): Promise<never> => Promise.reject(new Error('away'));
    const store = { ...memoryApprovals(), apply: away };
    const registry = makeRegistry({ approvals: { secret, store } });
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's',
      approver: () => new Promise(() => {}),
    });
    void session.call('pay', { to: 'bob' });
    const state = await stateOf(kit, (one) => one);
    expect(state).toMatchObject({
      approvalsUnread: true,
      approvals: [{ sessionId: 's', tool: 'pay' }],
      sessions: [{ sessionId: 's' }],
    });
    await kit.inspector.close();
    await session.close();
  });

  test('with megabytes in each question fills the page with a few at a time', async () => {
    const registry = makeRegistry({ approvals: { secret } });
    const kit = inspect(registry);
    const session = registry.createSession({
      sessionId: 's',
      principal: 'ann',
      approvalMode: 'suspend',
    });
    for (let at = 0; at < 5; at++) await session.call('pay', { to: 'x'.repeat(900_000) });
    const { approvals, more } = await stateOf(kit, (one) => one);
    expect([approvals.length, more.approvals]).toEqual([2, 3]);
    await kit.inspector.close();
  });
});

describe('calls from the page', () => {
  const request = { tool: 'read', input: { path: 'a' }, profile: '', principal: '' };

  test('are refused unless they are allowed', async () => {
    const kit = inspect(makeRegistry());
    for (const what of ['run', 'explain']) expect((await kit.post(what, request)).status).toBe(403);
    await kit.inspector.close();
  });

  test('pass all gates, under the profile that is chosen', async () => {
    const kit = inspect(makeRegistry(), { allowCalls: true });
    const run = async (change: object) => (await kit.post('run', { ...request, ...change })).json();
    expect(await run({})).toMatchObject({ success: true, status: 'succeeded' });
    expect(await run({ input: { path: '/etc/x' } })).toMatchObject({ code: 'policy_denied' });
    expect(await run({ tool: 'pay', input: { to: 'x' }, profile: 'reader' })).toMatchObject({
      code: 'tool_not_available',
    });
    expect(await run({ profile: 'nobody' })).toMatchObject({
      error: expect.stringContaining('nobody'),
    });
    expect(
      await (await kit.post('explain', { ...request, input: { path: '/etc/x' } })).json(),
    ).toMatchObject({
      effect: 'deny',
      ruleId: 'no-etc',
    });
    expect((await linesOf(kit))[0]).toMatchObject({ surface: 'inspector', sessionId: 'inspector' });
    await kit.inspector.close();
  });

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['very deep', `${'['.repeat(100_000)}`],
    ['without members', '{}'],
    [
      'members of a prototype',
      '{"__proto__":{"tool":"read","profile":"","principal":"","input":{}}}',
    ],
  ])('a request that is %s is refused', async (_, body) => {
    const kit = inspect(makeRegistry(), { allowCalls: true });
    expect((await kit.ask('api/run', { method: 'POST', body })).status).toBe(400);
    await kit.inspector.close();
  });
});

/** Reads the state until it says what is looked for. */
async function stateOf<T>(
  kit: ReturnType<typeof inspect>,
  find: (
    state: import('../../../src/surfaces/pages/inspector-wire.ts').InspectorState,
  ) => T | undefined,
): Promise<T> {
  return told(await kit.ask('api/stream'), (message) =>
    message.type === 'state' ? find(message.state) : undefined,
  );
}
