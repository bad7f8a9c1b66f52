/** A server that answers as OPA's REST API does, over loopback, and ones that do not. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { HostToolRegistry, type ToolResult } from '../../../../src/index.ts';
import { opaPolicy } from '../../../../src/surfaces/policy-engines/opa/index.ts';
import { define } from '../../../core/call/define.ts';
import { askAbout } from '../cedar/kit.ts';

interface Heard {
  readonly request: IncomingMessage;
  readonly body: string;
}

type Respond = (response: ServerResponse, heard: Heard) => void;

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server, what it heard, and the address of a document in it. */
async function serve(
  respond: Respond,
): Promise<{ readonly url: string; readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const one = { request, body };
      heard.push(one);
      respond(response, one);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1/data/tools/allow?metrics=false`, heard };
}

const answer =
  (body: string, status = 200): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  };

test('the document is posted as `input`, with the headers that were given', async () => {
  const { url, heard } = await serve(answer('{"result":true,"decision_id":"7"}'));
  const policy = opaPolicy({ url, headers: { Authorization: 'Bearer s3cret' } });
  const { outcome } = await askAbout(policy, { amount: 5 }, { facts: { tier: 'gold' } });
  expect(outcome).toBe('allowed');
  const [{ request, body }] = heard as [Heard];
  expect([request.method, request.url]).toEqual(['POST', '/v1/data/tools/allow?metrics=false']);
  expect(request.headers).toMatchObject({
    authorization: 'Bearer s3cret',
    'content-type': 'application/json',
  });
  expect(request.headers).not.toHaveProperty('cookie');
  expect(request.headers).not.toHaveProperty('referer');
  expect(JSON.parse(body)).toEqual({
    input: {
      principal: 'ada',
      action: 'call',
      resource: {
        name: 'transfer',
        source: 'host',
        tags: [],
        annotations: { readOnly: false, destructive: false, idempotent: false, openWorld: false },
        fingerprint: expect.stringMatching(/^sha256:/),
      },
      context: {
        input: { amount: 5 },
        facts: { tier: 'gold' },
        surface: '',
        sessionId: 'chat-1',
        attributes: {},
      },
    },
  });
});

test('what else the session has is not sent', async () => {
  const { url, heard } = await serve(answer('{"result":true}'));
  await askAbout(opaPolicy({ url }), {}, {
    environment: { TOKEN: 's3cret-1' },
    metadata: { note: 's3cret-2' },
    services: { key: 's3cret-3' },
    cwd: '/s3cret-4',
  } as never);
  expect(heard).not.toEqual([]);
  for (const { body } of heard) expect(body).not.toContain('s3cret');
});

test.each<[string, string, string]>([
  ['what it allows', '{"result":{"effect":"allow"}}', 'allowed'],
  ['what it denies', '{"result":{"effect":"deny","reason":"too_much"}}', 'too_much'],
  ['a document that is undefined', '{}', 'opa_undefined'],
  [
    'a document that is undefined, with a warning',
    '{"warning":{"code":"api_usage_warning"}}',
    'opa_undefined',
  ],
])('the answer decides: %s', async (_, body, outcome) => {
  const { url } = await serve(answer(body));
  expect((await askAbout(opaPolicy({ url }))).outcome).toBe(outcome);
});

describe('a server without an answer denies the call; the log has no query and headers', () => {
  const huge = `{"result":true,"x":"${'x'.repeat(70_000)}"}`;
  test.each<[string, Respond, string]>([
    ['an error of OPA', answer('{"code":"internal_error","result":true}', 500), 'the status 500'],
    ['an unknown address', answer('{"result":true}', 404), 'the status 404'],
    ['another success', answer('{"result":true}', 201), 'the status 201'],
    ['no content', (response) => response.writeHead(204).end(), 'the status 204'],
    ['an empty body', answer(''), 'its answer is not a JSON object'],
    ['half of a body', answer('{"result":tr'), 'its answer is not a JSON object'],
    ['a page', answer('<html>Log in</html>'), 'its answer is not a JSON object'],
    ['a list', answer('[{"result":true}]'), 'its answer is not a JSON object'],
    ['a bare answer', answer('true'), 'its answer is not a JSON object'],
    [
      'a body that is not UTF-8',
      (response) => response.end(Buffer.from('7b22726573756c74223a22ff227d', 'hex')),
      'gave no decision',
    ],
    ['a body that is too large', answer(huge), 'larger than 65536 bytes'],
    ['one that does not end', (response) => pour(response), 'larger than 65536 bytes'],
    [
      'one that is cut off',
      (response) => {
        response.writeHead(200, { 'content-length': '99' });
        response.write('{"result":true}');
        response.destroy();
      },
      'gave no decision',
    ],
    [
      'a connection that is closed',
      (response) => response.destroy(),
      'gave no decision: fetch failed (',
    ],
  ])('%s', async (_, respond, told) => {
    const { url } = await serve(respond);
    const policy = opaPolicy({ url: `${url}&token=s3cret`, headers: { 'X-Key': 's3cret' } });
    const { result, logged } = await askAbout(policy, {}, {}, {}, 'allow');
    expect(result.error).toMatchObject({
      code: 'policy_error',
      reason: 'opa_error',
      ruleId: 'opa',
    });
    expect(logged).toHaveLength(1);
    expect(logged[0]?.message).toContain(told);
    expect(logged[0]?.message).toMatch(
      /^OPA at http:\/\/127\.0\.0\.1:\d+\/v1\/data\/tools\/allow gave/,
    );
    expect(String(logged[0]?.stack)).not.toContain('s3cret');
  });

  test('one that is not there', async () => {
    const { outcome, logged } = await askAbout(opaPolicy({ url: 'http://127.0.0.1:1/v1/data' }));
    expect(outcome).toBe('opa_error');
    expect(logged[0]?.message).toContain('fetch failed (');
  });

  test.each([301, 302, 303, 307, 308])('a redirect, which is not followed: %i', async (status) => {
    const elsewhere = await serve(answer('{"result":true}'));
    const { url } = await serve((response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    const { outcome, logged } = await askAbout(opaPolicy({ url, headers: { 'X-Key': 's3cret' } }));
    expect(outcome).toBe('opa_error');
    expect(logged[0]?.message).toContain('it redirects, which is not followed');
    expect(elsewhere.heard).toEqual([]);
  });

  test('a redirect that a `fetch` of the host has followed', async () => {
    const elsewhere = await serve(answer('{"result":true}'));
    const { url } = await serve((response) =>
      response.writeHead(307, { location: elsewhere.url }).end(),
    );
    const careless = opaPolicy({
      url,
      fetch: (to, init) => fetch(to, { ...init, redirect: 'follow' }),
    });
    expect((await askAbout(careless)).outcome).toBe('opa_error');
  });

  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no network');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no network'))],
    ['returns nothing', () => undefined],
    ['returns no response', async () => ({ status: 200, json: async () => ({ result: true }) })],
  ])('a `fetch` that %s', async (_, fetch) => {
    const policy = opaPolicy({ url: 'http://127.0.0.1:1/', fetch: fetch as never });
    expect((await askAbout(policy)).outcome).toBe('opa_error');
  });

  function pour(response: ServerResponse): void {
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  }
});

describe('time', () => {
  /** Resolves when the other side has closed the connection. */
  function hanging(): {
    readonly respond: Respond;
    readonly isAsked: () => boolean;
    readonly closed: Promise<void>;
  } {
    let told = (): void => {};
    let asked = false;
    const closed = new Promise<void>((resolve) => {
      told = resolve;
    });
    const respond: Respond = (response) => {
      asked = true;
      response.once('close', told);
    };
    return { respond, isAsked: () => asked, closed };
  }

  /** Calls until the server was asked in time: a busy machine may need longer to send a request. */
  async function callInTime(url: string, isAsked: () => boolean) {
    for (let limit = 50; ; limit *= 4) {
      const called = await callWith(url, limit);
      expect(called.result.error).toMatchObject({ code: 'policy_error', reason: 'policy_timeout' });
      if (isAsked()) return called;
    }
  }

  async function callWith(
    url: string,
    policyTimeoutMs: number,
    signal?: AbortSignal,
  ): Promise<{ readonly result: ToolResult; readonly messages: readonly string[] }> {
    const messages: string[] = [];
    const registry = new HostToolRegistry({
      policies: [opaPolicy({ url })],
      policyTimeoutMs,
      logger: {
        warn: () => {},
        error: (data) => void messages.push((data as { err: Error }).err.message),
      },
    });
    registry.register(define('transfer'));
    const session = registry.createSession({ sessionId: 's' });
    const result = await session.call('transfer', {}, { signal });
    return { result, messages };
  }

  test('a server that exceeds policyTimeoutMs denies, and its request is aborted', async () => {
    const { respond, isAsked, closed } = hanging();
    const { url } = await serve(respond);
    const { messages } = await callInTime(url, isAsked);
    await closed;
    expect(messages).toEqual([expect.stringContaining('gave no decision: ')]);
  });

  test('also one that begins to answer, and never ends', async () => {
    const { respond, isAsked, closed } = hanging();
    const { url } = await serve((response, heard) => {
      respond(response, heard);
      response.writeHead(200).write('{"result":');
    });
    await callInTime(url, isAsked);
    await closed;
  });

  test('a call that is cancelled aborts the request, and nothing is logged', async () => {
    const { respond, closed } = hanging();
    const cancel = new AbortController();
    const { url } = await serve((response, heard) => {
      respond(response, heard);
      cancel.abort();
    });
    const { result, messages } = await callWith(url, 60_000, cancel.signal);
    expect(result.error?.code).toBe('cancelled');
    await closed;
    expect(messages).toEqual([]);
  });
});
