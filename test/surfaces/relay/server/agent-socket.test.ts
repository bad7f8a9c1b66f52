/** An agent does everything over one WebSocket, with a real relay. */
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { defineTool, type JsonObject } from '../../../../src/index.ts';
import { type ServeRelayOptions, serveRelay } from '../../../../src/surfaces/relay/index.ts';
import { connectRelay, type RelayTool } from '../../../../src/surfaces/relay-client/index.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const later = <T>(opened: T, close: (opened: T) => unknown): T => {
  closers.push(() => close(opened));
  return opened;
};

const hostKey = 'a-key-of-the-host';
const soon = <T>(read: () => T) => expect.poll(read, { interval: 5 });

type Data = Readonly<Record<string, unknown>>;

/** Makes a relay with one session, and functions to use it. */
async function relayWith(
  options: Partial<ServeRelayOptions> = {},
  tools: readonly RelayTool[] = [],
) {
  const relay = later(await serveRelay({ port: 0, hostKey, ...options }), (one) => one.close());
  const ask = async (method: string, path: string, token: string, body?: object) => {
    const response = await fetch(`${relay.url}/api/sessions${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as any) };
  };
  const { code, sessionToken, agentToken } = (await ask('POST', '', hostKey, {})).body;
  if (tools.length > 0)
    later(
      await connectRelay({ url: relay.url, code, token: sessionToken, transport: 'sse', tools }),
      (one) => one.close(),
    );
  const at = `/${code}`;
  return {
    relay,
    code: code as string,
    sessionToken: sessionToken as string,
    agentToken: agentToken as string,
    ask: (method: string, path: string, token: string, body?: object) =>
      ask(method, `${at}${path}`, token, body),
    agent: (query = '', token: string | undefined = agentToken) =>
      agentAt(`${relay.url.replace('http', 'ws')}/api/sessions${at}/agent${query}`, token),
  };
}

function agentAt(url: string, token: string | undefined) {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const socket = later(new WebSocket(url, { headers }), (one) => one.terminate());
  const frames: { event: string; id?: number; data: Data }[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  // Frames may wait for the socket to open, each with a listener of its own.
  socket.setMaxListeners(0);
  const refused = new Promise<{ status: number | undefined; body: string }>((resolve) =>
    socket.once('unexpected-response', (_, response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode, body }));
    }),
  );
  const closed = new Promise<[number, string]>((resolve) =>
    socket.once('close', (status, reason) => resolve([status, String(reason)])),
  );
  const send = (text: string | Buffer): void => {
    if (socket.readyState === socket.CONNECTING) socket.once('open', () => socket.send(text));
    else socket.send(text);
  };
  const of = (event: string): readonly Data[] =>
    frames.filter((frame) => frame.event === event).map(({ data }) => data);
  return {
    socket,
    frames,
    refused,
    closed,
    send,
    of,
    say: (event: string, data: unknown) => send(JSON.stringify({ event, data })),
    /** The result of a call. */
    resultOf: (id: string) =>
      of('tool-result').find(({ requestId }) => requestId === id)?.result as JsonObject | undefined,
  };
}

const tool = (
  name: string,
  handler: RelayTool['handler'],
  more: Partial<RelayTool> = {},
): RelayTool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  handler,
  ...more,
});
const echo = tool('echo', (args) => args, {
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
});

const asked = defineTool({
  name: 'asked',
  description: 'Needs a person.',
  parameters: z.object({ nth: z.number() }),
  requiresApproval: true,
  handler: () => 1,
});

describe('a call over the socket of an agent', () => {
  test('runs at the application, and its result is an event that can be replayed', async () => {
    const { agent, ask, agentToken } = await relayWith({}, [echo]);
    const one = agent();
    one.say('request', { requestId: 'r1', tool: 'echo', args: { text: 'a' } });
    await soon(() => one.resultOf('r1')).toMatchObject({ success: true, output: { text: 'a' } });
    expect(one.frames.find(({ event }) => event === 'tool-result')?.id).toEqual(expect.any(Number));
    expect((await ask('GET', '/requests/r1', agentToken)).body).toMatchObject({ status: 'done' });
    const again = agent('?after=0');
    await soon(() => again.resultOf('r1')).toMatchObject({ output: { text: 'a' } });
  });

  test('reports its progress, and whether the application is connected', async () => {
    let go = (): void => {};
    const { agent } = await relayWith({}, [
      tool('slow', async (_args, { progress }) => {
        progress(1, 2, 'half');
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        return 'done';
      }),
    ]);
    const one = agent();
    await soon(() => one.of('application-status')).toMatchObject([{ connected: true }]);
    one.say('request', { requestId: 'r', tool: 'slow' });
    await soon(() => one.of('tool-progress')).toEqual([
      { requestId: 'r', done: 1, total: 2, message: 'half' },
    ]);
    go();
    await soon(() => one.resultOf('r')).toMatchObject({ output: 'done' });
  });

  test('that a check refuses also gets its result as an event', async () => {
    const { agent } = await relayWith({}, [echo]);
    const one = agent();
    one.say('request', { requestId: 'bad', tool: 'echo', args: { text: 5 } });
    one.say('request', { requestId: 'none', tool: 'nothing' });
    await soon(() => one.resultOf('bad')).toMatchObject({ error: { code: 'invalid_input' } });
    await soon(() => one.resultOf('none')).toMatchObject({ success: false });
    expect(one.of('request-refused')).toEqual([]);
  });

  test('with the id of an earlier call is that call, whatever its state', async () => {
    let runs = 0;
    let go = (): void => {};
    const { agent } = await relayWith({}, [
      tool('count', async () => {
        runs += 1;
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        return runs;
      }),
    ]);
    const one = agent();
    for (let times = 0; times < 5; times++) one.say('request', { requestId: 'r', tool: 'count' });
    await soon(() => runs).toBe(1);
    go();
    await soon(() => one.resultOf('r')).toMatchObject({ output: 1 });
    const other = agent();
    await soon(() => other.of('connected')).toHaveLength(1);
    other.say('request', { requestId: 'r', tool: 'count' });
    await soon(() => other.resultOf('r')).toMatchObject({ output: 1 });
    other.say('request', { requestId: 'r', tool: 'count', args: { other: true } });
    await soon(() => other.of('request-refused')).toMatchObject([
      { requestId: 'r', status: 409, error: 'request_id_conflict' },
    ]);
    expect(runs).toBe(1);
  });

  test('continues when its socket is gone, and the next socket gets its result', async () => {
    const go: (() => void)[] = [];
    const { agent } = await relayWith({}, [
      tool('slow', () => new Promise((resolve) => go.push(() => resolve('late')))),
    ]);
    const one = agent();
    one.say('request', { requestId: 'r', tool: 'slow' });
    await soon(() => go.length).toBe(1);
    one.socket.terminate();
    await one.closed;
    go[0]?.();
    const next = agent('?after=0');
    await soon(() => next.resultOf('r')).toMatchObject({ output: 'late' });
  });

  test('waits until the host has answered its approval', async () => {
    const { agent, ask } = await relayWith(
      {
        session: {
          rules: [{ effect: 'ask', tools: 'echo' }],
          approvalMode: 'suspend',
          approvals: { secret: 'thirty-two characters at the least' },
        },
      },
      [echo],
    );
    const one = agent();
    one.say('request', { requestId: 'r', tool: 'echo', args: { text: 'a' } });
    await soon(() => one.of('approval-required')).toMatchObject([{ requestId: 'r' }]);
    const [{ approvalId } = {}] = one.of('approval-required');
    expect(one.resultOf('r')).toBeUndefined();
    const decision = { decision: 'allow_once' };
    expect((await ask('POST', `/approvals/${approvalId}`, hostKey, decision)).status).toBe(200);
    await soon(() => one.resultOf('r')).toMatchObject({ output: { text: 'a' } });
  });
});

describe('a cancellation over the socket', () => {
  test('aborts the handler, and the result says that it was cancelled', async () => {
    let aborted = false;
    const { agent } = await relayWith({}, [
      tool(
        'slow',
        (_args, { signal }) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              aborted = true;
              reject(signal.reason);
            });
          }),
      ),
    ]);
    const one = agent();
    one.say('request', { requestId: 'r', tool: 'slow' });
    await soon(() => one.of('connected')).toHaveLength(1);
    one.say('cancel', { requestId: 'r' });
    await soon(() => one.resultOf('r')).toMatchObject({ error: { code: 'cancelled' } });
    one.say('cancel', { requestId: 'r' });
    one.say('request', { requestId: 'after', tool: 'none' });
    await soon(() => one.resultOf('after')).toBeDefined();
    expect(one.of('cancel-refused')).toEqual([]);
    expect(one.of('tool-result').filter(({ requestId }) => requestId === 'r')).toHaveLength(1);
    // The call may have been cancelled before it was delivered.
    expect([true, false]).toContain(aborted);
  });

  test('that is sent right after its call never misses it', async () => {
    let ran = 0;
    const { agent } = await relayWith({ limits: { requestsPerMinute: 1_000 } }, [
      tool('never', () => {
        ran += 1;
        return new Promise(() => {});
      }),
    ]);
    const one = agent();
    const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
    for (const [index, requestId] of ids.entries()) {
      // The id may also be called `id`, as over HTTP.
      one.say(
        'request',
        index % 2 === 0 ? { requestId, tool: 'never' } : { id: requestId, tool: 'never' },
      );
      one.say('cancel', index % 3 === 0 ? { id: requestId } : { requestId });
    }
    await soon(() => ids.filter((id) => one.resultOf(id) !== undefined).length).toBe(ids.length);
    for (const id of ids) expect(one.resultOf(id)).toMatchObject({ error: { code: 'cancelled' } });
    expect([one.of('cancel-refused'), one.of('request-refused')]).toEqual([[], []]);
    expect(ran).toBeLessThanOrEqual(ids.length);
  });

  test.each([
    [{ requestId: 'never-asked' }, 404, 'request_not_found', 'never-asked'],
    [{ requestId: '__proto__' }, 404, 'request_not_found', '__proto__'],
    [{}, 400, 'missing_request_id', undefined],
    [{ requestId: null }, 400, 'missing_request_id', undefined],
    [{ requestId: 5 }, 400, 'invalid_request_id', undefined],
    [{ requestId: '' }, 400, 'invalid_request_id', ''],
    [{ requestId: 'x'.repeat(500) }, 400, 'invalid_request_id', 'x'.repeat(200)],
  ])('of an unknown call is refused: %j', async (data, status, error, requestId) => {
    const { agent } = await relayWith();
    const one = agent();
    one.say('cancel', data);
    await soon(() => one.of('cancel-refused')).toHaveLength(1);
    const [refusal] = one.of('cancel-refused');
    expect(refusal).toMatchObject({ status, error });
    expect(refusal?.requestId).toBe(requestId);
    expect(refusal?.message).not.toContain('left out');
  });
});

describe('a refusal', () => {
  test.each<[string, unknown, number, string, string | undefined]>([
    ['no data', undefined, 400, 'invalid_request', undefined],
    ['a list', [], 400, 'invalid_request', undefined],
    ['no id', { tool: 'echo' }, 400, 'missing_request_id', undefined],
    ['an id that is none', { requestId: 'a b', tool: 'echo' }, 400, 'invalid_request_id', 'a b'],
    ['no tool', { requestId: 'r' }, 400, 'invalid_request', 'r'],
    [
      'arguments that are none',
      { requestId: 'r', tool: 'echo', args: [] },
      400,
      'invalid_request',
      'r',
    ],
  ])('names the fault: %s', async (_what, data, status, error, requestId) => {
    const { agent, relay } = await relayWith({}, [echo]);
    const one = agent();
    one.say('request', data);
    await soon(() => one.of('request-refused')).toHaveLength(1);
    expect(one.of('request-refused')[0]).toEqual({
      ...(requestId === undefined ? {} : { requestId }),
      status,
      error,
      message: expect.stringMatching(/^Expected (?!.*left out)/),
    });
    expect(relay.relay.metrics().refusals[error]).toBe(1);
  });

  test('of a call over the limit says when to try again; calls over HTTP count as well', async () => {
    const { agent, ask, agentToken } = await relayWith({ limits: { requestsPerMinute: 2 } }, [
      echo,
    ]);
    const call = { tool: 'echo', args: { text: 'a' } };
    await ask('POST', '/request', agentToken, call);
    const one = agent();
    one.say('request', { requestId: 'r1', ...call });
    await soon(() => one.resultOf('r1')).toBeDefined();
    one.say('request', { requestId: 'r2', ...call });
    await soon(() => one.of('request-refused')).toMatchObject([
      { requestId: 'r2', status: 429, error: 'rate_limit_exceeded' },
    ]);
    const { retryAfterMs } = one.of('request-refused')[0] as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect((await ask('POST', '/request', agentToken, call)).status).toBe(429);
  });

  test('of a cancellation over the limit says when to try again', async () => {
    const { agent } = await relayWith({ limits: { readsPerMinute: 1 } });
    const one = agent();
    for (const requestId of ['a', 'b']) one.say('cancel', { requestId });
    await soon(() =>
      one
        .of('cancel-refused')
        .map(({ status }) => status)
        .sort(),
    ).toEqual([404, 429]);
  });

  test('is sent when too many calls wait for an approver, but cancellations still work', async () => {
    const { agent } = await relayWith({
      limits: { requestsPerMinute: 1_000 },
      // The relay waits this long for running calls when it closes.
      requestTimeoutMs: 100,
      session: {
        tools: [asked],
        approver: () => new Promise(() => {}),
        limits: { maxPendingApprovals: 1_000 },
      },
    });
    const one = agent();
    for (let call = 0; call < 260; call++)
      one.say('request', { requestId: `r${call}`, tool: 'asked', args: { nth: call } });
    await soon(() => one.of('request-refused')).toHaveLength(4);
    expect(one.of('request-refused')[0]).toMatchObject({
      status: 429,
      message: expect.stringContaining('wait for their checks'),
      retryAfterMs: 1_000,
    });
    one.say('cancel', { requestId: 'r0' });
    await soon(() => one.resultOf('r0')).toMatchObject({ error: { code: 'cancelled' } });
  });
});

describe('the socket', () => {
  test('admits agents with a token or a ticket', async () => {
    const { agent, ask, sessionToken, agentToken } = await relayWith();
    expect(await agent('', sessionToken).refused).toMatchObject({
      status: 403,
      body: expect.stringContaining('wrong_side'),
    });
    expect(await agent('', 'another').refused).toMatchObject({ status: 404 });
    const bare = agentAt(agent().socket.url, undefined);
    expect(await bare.refused).toMatchObject({ status: 401 });
    const { ticket } = (await ask('POST', '/ticket', agentToken)).body;
    const one = agentAt(`${bare.socket.url}?ticket=${ticket}`, undefined);
    await soon(() => one.of('connected')).toHaveLength(1);
    expect(await agentAt(`${bare.socket.url}?ticket=${ticket}`, undefined).refused).toMatchObject({
      status: 404,
    });
  });

  test('refuses plain HTTP requests', async () => {
    const { ask, agentToken } = await relayWith();
    expect(await ask('GET', '/agent', agentToken)).toMatchObject({
      status: 426,
      body: { error: 'upgrade_required' },
    });
    expect((await ask('POST', '/agent', agentToken, {})).status).toBe(405);
  });

  test('counts as an opened stream', async () => {
    const { agent } = await relayWith({ limits: { streamsPerMinute: 1 } });
    const one = agent();
    await soon(() => one.of('connected')).toHaveLength(1);
    expect(await agent().refused).toMatchObject({ status: 429 });
  });

  test('accepts no frames of an application, and the stream `events` accepts no calls', async () => {
    const { agent, relay, code, agentToken } = await relayWith();
    const one = agent();
    one.say('response', { requestId: 'r', result: 1 });
    one.say('hello', {});
    await soon(() => one.of('error')).toMatchObject([
      { error: 'wrong_side' },
      { error: 'unknown_event', message: expect.stringContaining('`request` or `cancel`') },
    ]);
    const url = `${relay.url.replace('http', 'ws')}/api/sessions/${code}/events`;
    const reader = agentAt(url, agentToken);
    reader.say('request', { requestId: 'r', tool: 'echo' });
    await soon(() => reader.of('error')).toMatchObject([
      { error: 'unknown_event', message: expect.stringContaining('only read') },
    ]);
  });

  test('ends with its session', async () => {
    const { agent, ask, sessionToken } = await relayWith();
    const one = agent();
    await soon(() => one.of('connected')).toHaveLength(1);
    await ask('DELETE', '', sessionToken);
    expect(await one.closed).toEqual([1000, 'session_closed']);
  });
});

describe('hostile frames', () => {
  test.each<[string, (big: number) => string | Buffer]>([
    [
      'of more bytes than a call may have',
      () =>
        JSON.stringify({ event: 'request', data: { requestId: 'r', tool: 'x'.repeat(1_100_000) } }),
    ],
    [
      'of more values',
      () =>
        JSON.stringify({
          event: 'request',
          data: {
            requestId: 'r',
            tool: 'x',
            args: { list: Array.from({ length: 60_000 }, () => 0) },
          },
        }),
    ],
    [
      'that are nested too deep',
      () => `{"event":"request","data":${'['.repeat(500)}${']'.repeat(500)}}`,
    ],
    [
      'a cancellation that is large',
      () => JSON.stringify({ event: 'cancel', data: { requestId: 'r', more: 'x'.repeat(5_000) } }),
    ],
    ['that are no JSON', () => '{"event":"request"'],
    [
      'with a polluted prototype',
      () => '{"__proto__":{"event":"request","data":{"requestId":"r","tool":"echo"}}}',
    ],
  ])('%s are refused, and five of them end the socket', async (_what, make) => {
    const { agent, relay } = await relayWith({}, [echo]);
    const one = agent();
    for (let times = 0; times < 5; times++) one.send(make(times));
    await soon(() => one.of('error')).toHaveLength(5);
    expect(one.of('error')[0]).toMatchObject({ error: 'invalid_frame' });
    expect(await one.closed).toEqual([1008, 'Too many frames that cannot be read.']);
    expect(relay.relay.metrics().requests).toBe(0);
  });

  test('that violate the protocol end the socket', async () => {
    const { agent } = await relayWith();
    const binary = agent();
    binary.send(Buffer.from('{}'));
    expect((await binary.closed)[0]).toBe(1003);
    const huge = agent();
    huge.send('x'.repeat(5_000_000));
    expect((await huge.closed)[0]).toBe(1009);
    const unmasked = agent();
    await soon(() => unmasked.of('connected')).toHaveLength(1);
    // biome-ignore lint/suspicious/noExplicitAny: the raw connection, for a frame without a mask.
    (unmasked.socket as any)._socket.write(Buffer.from([0x81, 0x02, 0x7b, 0x7d]));
    expect((await unmasked.closed)[0]).toBe(1002);
  });

  test('cannot change a prototype: an argument named like one is data', async () => {
    const { agent } = await relayWith({}, [tool('keys', (args) => Object.keys(args))]);
    const one = agent();
    one.send(
      '{"event":"request","data":{"requestId":"r","tool":"keys","args":{"__proto__":{"x":1}}}}',
    );
    await soon(() => one.resultOf('r')).toBeDefined();
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});
