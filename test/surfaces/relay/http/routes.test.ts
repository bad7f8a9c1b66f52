/** The answers of the relay's routes, with fakes for everything behind them. */
import { describe, expect, test } from 'vitest';
import { keys, type SessionDocument } from '../../../../src/surfaces/relay/ports/documents.ts';
import { relayError } from '../../../../src/surfaces/relay/relay-error.ts';
import { beforeOp, on } from '../watched-store.ts';
import { base, frontKit, type Kit, type Made, registration, success } from './app-kit.ts';

async function started(options: Parameters<typeof frontKit>[0] = {}): Promise<Kit & Made> {
  const kit = frontKit(options);
  return { ...kit, ...(await kit.create()) };
}

async function documentOf(kit: Kit & Made): Promise<SessionDocument> {
  const [stored] = await on(kit.store).get(kit.code, [keys.session]);
  return JSON.parse(stored!.value) as SessionDocument;
}

describe('creating a session', () => {
  test('returns a code, two tokens and the expiry', async () => {
    const { ask, clock } = frontKit({ ttlSeconds: 600 });
    const { status, body } = await ask('POST', '', { body: {} });
    expect(status).toBe(201);
    expect(body).toEqual({
      code: expect.stringMatching(/^[A-Z2-7]{8}$/),
      sessionToken: expect.stringMatching(/^[\w-]{43}$/),
      agentToken: expect.stringMatching(/^[\w-]{43}$/),
      ttl: 600,
      expiresAt: new Date(clock.now + 600_000).toISOString(),
    });
  });

  test('stores only hashes of the tokens', async () => {
    const kit = await started();
    const text = JSON.stringify(await documentOf(kit));
    expect(text).not.toContain(kit.sessionToken);
    expect(text).not.toContain(kit.agentToken);
  });

  test('chooses another code if the first one is taken', async () => {
    const taken: string[] = [];
    const kit = frontKit();
    const front = frontKit({
      store: beforeOp(kit.host, 'open', async (_, code) => {
        taken.push(code);
        if (taken.length < 3) await on(kit.host).create(code, 'k', '', Date.now() + 10_000);
      }),
    });
    expect((await front.ask('POST', '', { body: {} })).body.code).toBe(taken[2]);
  });

  test.each([
    [{ ttl: 5 }, 400, 'invalid_request'],
    [[], 400, 'invalid_request'],
    ['{', 400, 'invalid_json'],
    ['', 400, 'invalid_json'],
  ])('refuses the body %j', async (body, status, error) => {
    expect(await frontKit().ask('POST', '', { body })).toMatchObject({
      status,
      body: { error, code: error },
    });
  });

  test('needs the host key if one is set', async () => {
    const { ask } = frontKit({ hostKey: 'a-key-of-the-host' });
    expect(await ask('POST', '', { body: {} })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized' },
    });
    expect(await ask('POST', '', { body: {}, token: 'another' })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    });
    expect((await ask('POST', '', { body: {}, token: 'a-key-of-the-host' })).status).toBe(201);
  });
});

describe('changing tools', () => {
  test('writes the tools, then the revision, then notifies both sides and all nodes', async () => {
    const kit = await started();
    const { ask, code, sessionToken: token } = kit;
    const { status, body } = await ask('POST', `/${code}/register-tools`, {
      token,
      body: { sessionCode: code, ...registration('add', 'host_tool') },
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      registeredTools: ['add'],
      failedTools: [{ toolName: 'host_tool', error: expect.any(String), recoverable: false }],
      sessionConfiguration: {
        toolCount: 1,
        capabilities: [],
        environment: {},
        constraints: {},
      },
      toolsRevision: 1,
    });
    expect((await documentOf(kit)).toolsRevision).toBe(1);
    for (const side of ['application', 'agent']) {
      const { entries } = await on(kit.store).read(code, side, 0, 10);
      expect(entries.map(({ value }) => JSON.parse(value))).toEqual([
        {
          kind: 'tools',
          added: ['add'],
          removed: [],
          modified: [],
          reason: 'plugin-registration',
          at: kit.clock.now,
        },
      ]);
    }
    expect(kit.wakes).toEqual([`${code} log:application`, `${code} log:agent`, `${code} tools`]);
  });

  test('notifies no one if the tools are the same', async () => {
    const { ask, code, sessionToken: token, wakes } = await started();
    await ask('POST', `/${code}/register-tools`, { token, body: registration('add') });
    wakes.length = 0;
    expect(
      (await ask('POST', `/${code}/register-tools`, { token, body: registration('add') })).body
        .toolsRevision,
    ).toBe(1);
    expect(wakes).toEqual([]);
  });

  test('keeps all of several simultaneous updates', async () => {
    const kit = await started({ limits: { updatesPerMinute: 100 } });
    const { ask, code, sessionToken: token, store } = kit;
    await ask('POST', `/${code}/register-tools`, { token, body: registration('first') });
    const add = (name: string) =>
      ask('POST', `/${code}/update-tools`, {
        token,
        body: { added: registration(name).availableTools, reason: 'more' },
      });
    const told = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => add(`tool_${letter}`)),
    );
    expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    const [tools] = await on(store).get(code, [keys.tools]);
    expect(JSON.parse(tools!.value)).toMatchObject({ revision: 7 });
    expect((await documentOf(kit)).toolsRevision).toBe(7);
    expect(told.map(({ body }) => body.toolsRevision).sort()).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test('announces a change that an earlier node did not, even if nothing else changes', async () => {
    const kit = await started();
    const { ask, code, sessionToken: token, store } = kit;
    await ask('POST', `/${code}/register-tools`, { token, body: registration('add') });
    await on(store).set(
      code,
      keys.session,
      JSON.stringify({ ...(await documentOf(kit)), toolsRevision: 0 }),
    );
    await ask('POST', `/${code}/register-tools`, { token, body: registration('add') });
    expect((await documentOf(kit)).toolsRevision).toBe(1);
  });

  test.each([
    ['update-tools', { added: [], reason: 'x' }, 400, 'validation_error'],
    ['update-tools', { removed: ['add'], reason: 'x' }, 409, 'no_tools_registered'],
    ['register-tools', { ...registration() }, 422, 'registration_failed'],
    ['register-tools', { ...registration('host_tool') }, 422, 'registration_failed'],
    [
      'register-tools',
      registration(...Array.from({ length: 1_001 }, (_, index) => `tool_${index}`)),
      413,
      'too_many_tools',
    ],
  ])('%s refuses %#', async (route, body, status, error) => {
    const { ask, code, sessionToken: token } = await started();
    expect(await ask('POST', `/${code}/${route}`, { token, body })).toMatchObject({
      status,
      body: { error },
    });
  });
});

describe('metadata', () => {
  test('is the same for both sides, and stays the same while nothing changes', async () => {
    const { ask, code, sessionToken, agentToken } = await started();
    const first = await ask('GET', `/${code}/metadata`, { token: agentToken });
    expect(first).toMatchObject({
      status: 200,
      body: { apiVersion: '2.0.0', sessionId: code, toolCount: 0 },
    });
    expect([...first.headers]).toEqual(
      expect.arrayContaining([
        ['api-version', '2.0.0'],
        ['session-id', code],
        ['cache-control', 'no-store'],
      ]),
    );
    const again = await ask('GET', `/${code}/metadata`, {
      token: sessionToken,
      headers: { 'If-None-Match': first.headers.get('etag')! },
    });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect(await ask('HEAD', `/${code}/metadata`, { token: sessionToken })).toMatchObject({
      status: 200,
      text: '',
    });
  });

  test('shows the connection and the counts of calls, which its ETag does not cover', async () => {
    const kit = await started();
    const { ask, code, sessionToken, agentToken: token, store, calls, live } = kit;
    await ask('POST', `/${code}/register-tools`, {
      token: sessionToken,
      body: {
        ...registration('draw'),
        constraints: { maxRows: 5 },
        environment: { version: '3', mood: 1 },
      },
    });
    const read = async (headers = {}) => ask('GET', `/${code}/metadata`, { token, headers });
    const first = await read();
    expect(first.body).toMatchObject({
      connected: false,
      constraints: { maxRows: 5 },
      environment: { version: '3', mood: 1 },
    });
    await on(store).lease(code, keys.applicationLease, 'page', 60_000);
    calls.usage.mockResolvedValue(new Map([['draw', 3]]));
    const second = await read();
    expect(second.body.connected).toBe(true);
    const etag = first.headers.get('etag') ?? '';
    expect(second.headers.get('etag')).toBe(etag);
    calls.usage.mockClear();
    expect((await read({ 'If-None-Match': etag })).status).toBe(304);
    expect(calls.usage).not.toHaveBeenCalled();
    // None of these requests has opened a session.
    expect(live.get).not.toHaveBeenCalled();
    expect(live.describe).toHaveBeenCalledTimes(1);
  });

  test('never shows a declaration of a wrong type, because its registration is refused', async () => {
    const { ask, code, sessionToken: token } = await started();
    const told = await ask('POST', `/${code}/register-tools`, {
      token,
      body: { ...registration('draw'), capabilities: [{ type: 'storage', permissions: [1] }] },
    });
    expect(told).toMatchObject({
      status: 400,
      body: { error: 'validation_error', path: 'capabilities[0].permissions[0]' },
    });
  });

  test('is given in an existing version', async () => {
    const { ask, code, agentToken: token } = await started();
    expect(
      (await ask('GET', `/${code}/metadata`, { token, headers: { 'Accept-Version': '1.0.0' } }))
        .body.apiVersion,
    ).toBe('1.0.0');
    expect(
      await ask('GET', `/${code}/metadata`, { token, headers: { 'Accept-Version': '9' } }),
    ).toMatchObject({
      status: 406,
      body: { error: 'version_not_acceptable' },
    });
  });
});

describe('streams', () => {
  test.each([
    ['stream', {}, '', { side: 'application' }],
    ['stream', {}, '?after=0&client=tab-1', { side: 'application', after: 0, client: 'tab-1' }],
    ['stream', { 'Last-Event-ID': '7' }, '?after=3', { side: 'application', after: 7 }],
    ['stream', { 'Last-Event-ID': '' }, '', { side: 'application' }],
    [
      'events',
      {},
      '?mode=poll&after=9007199254740991',
      { side: 'agent', after: 9_007_199_254_740_991 },
    ],
  ])('%s with %j%s', async (route, headers, query, wanted) => {
    const { ask, code, sessionToken, agentToken, opened, clock } = await started();
    const token = route === 'stream' ? sessionToken : agentToken;
    expect((await ask('GET', `/${code}/${route}${query}`, { token, headers })).status).toBe(200);
    expect(opened).toEqual([{ code, expiresAt: clock.now + 3_600_000, ...wanted }]);
  });

  test('have their own headers for caches', async () => {
    const { ask, code, agentToken: token } = await started();
    expect((await ask('GET', `/${code}/events`, { token })).headers.get('cache-control')).toBe(
      'no-cache, no-transform',
    );
  });

  test.each([
    ['?after=-1', {}, 'invalid_last_event_id'],
    ['?after=1.5', {}, 'invalid_last_event_id'],
    ['?after=1e3', {}, 'invalid_last_event_id'],
    ['?after=9007199254740992', {}, 'invalid_last_event_id'],
    ['?after=99999999999999999999999', {}, 'invalid_last_event_id'],
    ['', { 'Last-Event-ID': 'abc' }, 'invalid_last_event_id'],
    ['', { 'Last-Event-ID': ' ' }, undefined],
    ['?client=a%20b', {}, 'invalid_client'],
    [`?client=${'x'.repeat(129)}`, {}, 'invalid_client'],
    ['?mode=push', {}, 'invalid_request'],
  ])('refuse %s %j', async (query, headers, error) => {
    const { ask, code, sessionToken: token } = await started();
    const told = await ask('GET', `/${code}/stream${query}`, { token, headers });
    expect(told).toMatchObject(
      error === undefined ? { status: 200 } : { status: 400, body: { error } },
    );
  });
});

describe('an answer of the application', () => {
  test.each([
    [{ requestId: 'call-1', result: 0 }, { result: 0 }],
    [{ requestId: 'call-1', result: false }, { result: false }],
    [{ requestId: 'call-1', result: '' }, { result: '' }],
    [{ requestId: 'call-1', result: null }, { result: null }],
    [{ id: 'call-1', content: [1] }, { result: [1] }],
    [{ requestId: 'call-1', error: 'It broke.' }, { error: 'It broke.' }],
    [{ requestId: 'call-1', error: { message: 'It broke.' } }, { error: { message: 'It broke.' } }],
    [{ requestId: 'call-1', error: '' }, { error: '' }],
    [{ requestId: 'call-1', result: 5, error: null }, { result: 5 }],
    [{ requestId: 'call-1', result: 5, error: '' }, { result: 5 }],
    [{ requestId: 'call-1', result: null, error: 'It broke.' }, { error: 'It broke.' }],
  ])('%j is read as %j', async (body, taken) => {
    const { ask, code, sessionToken: token, known } = await started();
    expect(await ask('POST', `/${code}/response`, { token, body })).toMatchObject({
      status: 200,
      body: { success: true, requestId: 'call-1' },
    });
    expect(known.get(`${code} call-1`)).toEqual(taken);
  });

  test.each([
    [{ requestId: 'call-1' }, 400, 'missing_result_or_error'],
    [{ requestId: 'call-1', error: null }, 400, 'missing_result_or_error'],
    [{ result: 1 }, 400, 'missing_request_id'],
    [{ requestId: '', result: 1 }, 400, 'missing_request_id'],
    [{ requestId: 7, result: 1 }, 400, 'missing_request_id'],
    [{ requestId: 'another', result: 1 }, 404, 'request_not_found'],
    [{ requestId: 'x'.repeat(2_000), result: 1 }, 404, 'request_not_found'],
  ])('%j is refused', async (body, status, error) => {
    const { ask, code, sessionToken: token } = await started();
    expect(await ask('POST', `/${code}/response`, { token, body })).toMatchObject({
      status,
      body: { error },
    });
  });

  test.each([
    [{ requestId: 'call-1', done: 1 }, { done: 1 }],
    [{ id: 'call-1', done: 0, total: null, message: null }, { done: 0 }],
    [
      { requestId: 'call-1', done: 1.5, total: 3, message: ' a\n\u202eb\u0007 ' },
      { done: 1.5, total: 3, message: 'a b' },
    ],
    [
      { requestId: 'call-1', done: 1, message: 'é'.repeat(2_000) },
      { done: 1, message: expect.stringMatching(/^é{120,128}…?$/) },
    ],
  ])('is preceded by progress: %j', async (body, taken) => {
    const { ask, code, sessionToken: token, calls } = await started();
    expect(await ask('POST', `/${code}/progress`, { token, body })).toMatchObject({
      status: 200,
      body: { success: true, requestId: 'call-1' },
    });
    expect(calls.progress.mock.calls).toEqual([[code, 'call-1', taken]]);
  });

  test.each([
    [{ done: 1 }, 400, 'missing_request_id'],
    [{ requestId: 7, done: 1 }, 400, 'missing_request_id'],
    [{ requestId: 'call-1' }, 400, 'invalid_request'],
    [{ requestId: 'call-1', done: '1' }, 400, 'invalid_request'],
    [{ requestId: 'call-1', done: -1 }, 400, 'invalid_request'],
    ['{"requestId":"call-1","done":1e999}', 400, 'invalid_request'],
    [{ requestId: 'call-1', done: 1, total: [] }, 400, 'invalid_request'],
    [{ requestId: 'call-1', done: 1, message: {} }, 400, 'invalid_request'],
    ['{"__proto__":{"requestId":"call-1","done":1}}', 400, 'missing_request_id'],
    ['{"requestId":"call-1","__proto__":{"done":1}}', 400, 'invalid_request'],
    [[], 400, 'invalid_request'],
    ['{', 400, 'invalid_json'],
    [{ requestId: 'another', done: 1 }, 404, 'request_not_found'],
    [{ requestId: 'x'.repeat(2_000), done: 1 }, 404, 'request_not_found'],
    [{ requestId: 'call-1', done: 1, message: 'x'.repeat(10_000) }, 413, 'payload_too_large'],
    [{ requestId: 'call-1', done: 1, more: Array(2_000).fill(0) }, 413, 'payload_too_large'],
  ])('is not preceded by invalid progress (%#)', async (body, status, error) => {
    const { ask, code, sessionToken: token } = await started();
    expect(await ask('POST', `/${code}/progress`, { token, body })).toMatchObject({
      status,
      body: { error },
    });
  });

  test('may be preceded by progress, only from the application and within its limit', async () => {
    const { ask, code, sessionToken, agentToken } = await started({
      limits: { progressPerMinute: 1 },
    });
    const tell = (token: string) =>
      ask('POST', `/${code}/progress`, { token, body: { requestId: 'call-1', done: 1 } });
    expect((await tell(agentToken)).body).toMatchObject({ error: 'wrong_side' });
    expect((await tell(sessionToken)).status).toBe(200);
    expect(await tell(sessionToken)).toMatchObject({
      status: 429,
      body: { code: 'PROGRESS_RATE_LIMIT' },
    });
  });

  test('may have 4 MB at most', async () => {
    const { ask, code, sessionToken: token } = await started();
    const most = 'x'.repeat(4 * 1_048_576 - 2);
    expect(
      (
        await ask('POST', `/${code}/response`, {
          token,
          body: { requestId: 'call-1', result: most },
        })
      ).status,
    ).toBe(200);
    for (const result of [`${most}x`, 'x'.repeat(5 * 1_048_576)])
      expect(
        await ask('POST', `/${code}/response`, { token, body: { requestId: 'call-1', result } }),
      ).toMatchObject({
        status: 413,
        body: { error: 'payload_too_large' },
      });
  });
});

describe('a request of the agent', () => {
  test.each([
    [{ tool: 'add' }, { tool: 'add', wait: true }],
    [
      { requestId: 'a.b:c_1-2', tool: 'add', args: { a: 1 }, wait: true },
      { requestId: 'a.b:c_1-2', tool: 'add', args: { a: 1 }, wait: true },
    ],
    [
      { id: 'r-1', name: 'add', arguments: '{"a":1}' },
      { requestId: 'r-1', tool: 'add', args: { a: 1 }, wait: true },
    ],
    [
      { tool: 'add', args: '[1' },
      { tool: 'add', args: '[1', wait: true },
    ],
    [
      { tool: 'add', args: null, requestId: null, wait: null },
      { tool: 'add', wait: true },
    ],
    ...['', ' \n', 'null', '""'].map((args): [object, object] => [
      { tool: 'add', args },
      { tool: 'add', wait: true },
    ]),
  ])('%j is passed on as %j', async (body, call) => {
    const { ask, code, agentToken: token, requests } = await started();
    const { status, body: told } = await ask('POST', `/${code}/request`, { token, body });
    expect(status).toBe(200);
    expect(told).toEqual({ requestId: expect.any(String), result: success });
    expect(requests.submit).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code }), {
      ...call,
      use: expect.objectContaining({ op: expect.objectContaining({ op: 'count' }) }),
    });
  });

  test('that does not wait is answered with 202 once it is queued', async () => {
    const { ask, code, agentToken: token } = await started();
    const told = await ask('POST', `/${code}/request`, {
      token,
      body: { requestId: 'r-9', tool: 'add', wait: false },
    });
    expect(told).toMatchObject({ status: 202, body: { requestId: 'r-9', status: 'queued' } });
  });

  test.each([
    [{}, 'invalid_request'],
    [{ tool: 5 }, 'invalid_request'],
    [{ tool: '' }, 'invalid_request'],
    [{ tool: 'add', args: [1] }, 'invalid_request'],
    [{ tool: 'add', args: 5 }, 'invalid_request'],
    [{ tool: 'add', wait: 'no' }, 'invalid_request'],
    [{ tool: 'add', requestId: 'a b' }, 'invalid_request_id'],
    [{ tool: 'add', requestId: '' }, 'invalid_request_id'],
    [{ tool: 'add', requestId: 'x'.repeat(129) }, 'invalid_request_id'],
    [{ tool: 'add', requestId: 5 }, 'invalid_request_id'],
  ])('%j is refused', async (body, error) => {
    const { ask, code, agentToken: token } = await started();
    expect(await ask('POST', `/${code}/request`, { token, body })).toMatchObject({
      status: 400,
      body: { error, code: error },
    });
  });

  test('with the id of another call is a conflict', async () => {
    const { ask, code, agentToken: token, requests } = await started();
    requests.submit.mockRejectedValueOnce(relayError(409, 'request_id_conflict', 'Taken.'));
    expect(await ask('POST', `/${code}/request`, { token, body: { tool: 'add' } })).toMatchObject({
      status: 409,
      body: { error: 'request_id_conflict' },
    });
  });

  test('can be looked up', async () => {
    const { ask, code, agentToken: token } = await started();
    expect(await ask('GET', `/${code}/requests/r-1`, { token })).toMatchObject({
      status: 200,
      body: { requestId: 'r-1', status: 'running' },
    });
    for (const id of ['r-2', '%ff', 'a%20b', '..%2f'])
      expect(await ask('GET', `/${code}/requests/${id}`, { token })).toMatchObject({
        status: 404,
        body: { error: 'request_not_found' },
      });
  });

  test('can be cancelled only by the agent, and an invalid id is refused at once', async () => {
    const kit = await started();
    const { ask, code, agentToken: token, sessionToken, requests } = kit;
    expect(await ask('DELETE', `/${code}/requests/r-1`, { token })).toMatchObject({
      status: 200,
      body: { requestId: 'r-1', status: 'done' },
    });
    expect(requests.cancel.mock.calls[0]?.[0].code).toBe(code);
    expect(await ask('DELETE', `/${code}/requests/r-2`, { token })).toMatchObject({
      status: 404,
      body: { error: 'request_not_found' },
    });
    requests.cancel.mockClear();
    for (const id of ['%ff', 'a%20b', '..%2f', 'x'.repeat(129)])
      expect(await ask('DELETE', `/${code}/requests/${id}`, { token })).toMatchObject({
        status: 404,
        body: { error: 'request_not_found' },
      });
    expect(await ask('DELETE', `/${code}/requests/r-1`, { token: sessionToken })).toMatchObject({
      status: 403,
      body: { error: 'wrong_side' },
    });
    const other = await kit.create();
    expect(
      await ask('DELETE', `/${other.code}/requests/r-1`, { token: kit.agentToken }),
    ).toMatchObject({ status: 404, body: { error: 'session_not_found' } });
    expect(requests.cancel).not.toHaveBeenCalled();
  });

  test('counts as a read when it is cancelled', async () => {
    const { ask, code, agentToken: token } = await started({ limits: { readsPerMinute: 2 } });
    const cancel = async () => (await ask('DELETE', `/${code}/requests/r-1`, { token })).body;
    expect(await cancel()).toMatchObject({ status: 'done' });
    expect(await cancel()).toMatchObject({ status: 'done' });
    expect(await cancel()).toMatchObject({ code: 'READ_RATE_LIMIT' });
  });
});

describe('an approval', () => {
  const hostKey = 'a-key-of-the-host';

  test('needs the host key', async () => {
    const { ask, requests, ...kit } = frontKit({ hostKey });
    const { code, agentToken } = (await ask('POST', '', { token: hostKey, body: {} }))
      .body as unknown as Made;
    const body = { decision: 'allow_always', by: 'ann', grant: { match: 'tool', uses: 2 } };
    expect(await ask('POST', `/${code}/approvals/a-1`, { token: hostKey, body })).toMatchObject({
      status: 200,
      body: { approvalId: 'a-1', requestId: 'r-1', status: 'running' },
    });
    expect(requests.decide).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code }),
      'a-1',
      body,
    );
    expect(await ask('POST', `/${code}/approvals/a-2`, { token: hostKey, body })).toMatchObject({
      status: 404,
      body: { error: 'approval_not_found' },
    });
    expect(await ask('POST', `/${code}/approvals/a-1`, { token: agentToken, body })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    });
    expect(await ask('POST', `/${code}/approvals/a-1`, { body })).toMatchObject({ status: 401 });
    expect(await ask('POST', '/AAAAAAAA/approvals/a-1', { token: hostKey, body })).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
    kit.clock.now += 3_600_000;
    expect(await ask('POST', `/${code}/approvals/a-1`, { token: hostKey, body })).toMatchObject({
      status: 410,
    });
  });

  test('has no route if the host has no key', async () => {
    const { ask, code, agentToken: token } = await started();
    expect(
      await ask('POST', `/${code}/approvals/a-1`, { token, body: { decision: 'allow_once' } }),
    ).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
  });

  test.each([
    [{}, 'invalid_decision'],
    [{ decision: 'yes' }, 'invalid_decision'],
    [{ decision: ['allow_once'] }, 'invalid_decision'],
    [{ decision: 'allow_once', by: 5 }, 'invalid_request'],
    [{ decision: 'allow_once', input: [] }, 'invalid_request'],
    [{ decision: 'allow_once', force: true }, 'invalid_request'],
    [{ decision: 'allow_always', grant: { uses: 0 } }, 'invalid_request'],
    [{ decision: 'allow_always', grant: { match: 'all' } }, 'invalid_request'],
    [{ decision: 'allow_always', grant: { for: 'ever' } }, 'invalid_request'],
  ])('is not %j', async (body, error) => {
    const { ask, requests } = frontKit({ hostKey });
    const { code } = (await ask('POST', '', { token: hostKey, body: {} })).body as unknown as Made;
    expect(await ask('POST', `/${code}/approvals/a-1`, { token: hostKey, body })).toMatchObject({
      status: 400,
      body: { error },
    });
    expect(requests.decide).not.toHaveBeenCalled();
  });
});

describe('deleting', () => {
  test('ends the session for both sides', async () => {
    const { ask, code, sessionToken, agentToken, host, live } = await started();
    const wakes: unknown[] = [];
    await host.listen({ session: code }, (wake) => wakes.push(wake));
    expect(await ask('DELETE', `/${code}`, { token: agentToken })).toMatchObject({
      status: 403,
      body: { error: 'wrong_side' },
    });
    expect(await ask('DELETE', `/${code}`, { token: sessionToken })).toMatchObject({
      status: 204,
      text: '',
    });
    expect(wakes).toEqual(['closed']);
    expect(live.close).toHaveBeenCalledWith(code);
    expect(await ask('DELETE', `/${code}`, { token: sessionToken })).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });
});

describe('the relay', () => {
  test('logs one line per request, without secrets', async () => {
    const { ask, code, agentToken, lines } = await started();
    await ask('GET', `/${code}/requests/r-1?ticket=abc`, { token: agentToken });
    await ask('GET', `/${code}/requests/r-1`, { token: 'wrong-token' });
    expect(lines).toEqual([
      { method: 'POST', route: '/api/sessions', status: 201, ms: expect.any(Number) },
      {
        method: 'GET',
        route: '/api/sessions/:code/requests/:requestId',
        status: 200,
        ms: expect.any(Number),
        session: expect.stringMatching(/^[0-9a-f]{6}$/),
      },
      expect.objectContaining({ status: 404, error: 'session_not_found' }),
    ]);
    for (const secret of [code, agentToken, 'wrong-token', 'abc?'])
      expect(JSON.stringify(lines)).not.toContain(secret);
  });

  test('counts requests by route, error and outcome', async () => {
    const { ask, code, agentToken, parts } = await started();
    await ask('POST', `/${code}/request`, { token: agentToken, body: { tool: 'add' } });
    await ask('POST', `/${code}/request`, { body: { tool: 'add' } });
    await ask('GET', `${base}/nowhere/at/all`);
    expect(parts.counters.snapshot()).toEqual({
      sessionsCreated: 1,
      sessionsDeleted: 0,
      registrations: 0,
      updates: 0,
      requests: 1,
      responses: 0,
      refusals: { unauthorized: 1, not_found: 1 },
      callOutcomes: { succeeded: 1 },
    });
  });
});
