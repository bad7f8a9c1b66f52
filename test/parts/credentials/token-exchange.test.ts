/** `tokenExchange`: a resolver over RFC 8693, against a real server on the loopback. */

import { generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, HostToolRegistry } from '../../../src/index.ts';
import { type TokenExchangeOptions, tokenExchange } from '../../../src/parts/credentials/part.ts';
import { textOf } from './text-of.ts';

interface Asked {
  readonly headers: IncomingMessage['headers'];
  readonly form: Readonly<Record<string, string>>;
}

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A token endpoint. */
async function endpoint(answer: (asked: Asked, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      const one = { headers: request.headers, form };
      asked.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token` };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const subject = 'subject-Canary+/=\r\nof ann';
const issued = 'issued-Canary.1234';
const grant = { access_token: issued, token_type: 'Bearer', expires_in: 60 };

/** Calls a tool that needs a token of the endpoint. */
async function call(tokenUrl: string, more: Partial<TokenExchangeOptions> = {}, timeoutMs = 5_000) {
  const logged: unknown[] = [];
  const log = (...all: unknown[]): void => void logged.push(all);
  const registry = new HostToolRegistry({
    policyTimeoutMs: timeoutMs,
    logger: { warn: log, error: log },
    credentials: tokenExchange({
      tokenUrl,
      clientId: 'agent host',
      ...(more.privateKey === undefined ? { clientSecret: 's3cret:Canary %' } : {}),
      subjectToken: ({ principal }) => `${subject} ${principal}`,
      ...more,
    }),
  });
  let token: string | undefined;
  let expiresAt: number | undefined;
  registry.register(
    defineTool({
      name: 'repos',
      description: 'Lists repositories.',
      parameters: z.object({}),
      credentials: { github: { scopes: ['repo', 'user'], audience: 'https://api.test' } },
      handler: (_input, { credentials }) => {
        ({ token, expiresAt } = credentials.github);
        return credentials.github.headers().Authorization;
      },
    }),
  );
  const session = registry.createSession({ sessionId: 's', principal: 'ann' });
  const result = await session.call('repos', {});
  return { result, token, expiresAt, logged };
}

describe('an exchange', () => {
  test('sends the token of the subject, what is needed, and the secret of the client', async () => {
    const { url, asked } = await endpoint((_asked, response) => json(response, 200, grant));
    const { result, token, expiresAt } = await call(url);
    expect(result.output).toBe('Bearer [redacted]');
    expect(token).toBe(issued);
    expect(expiresAt).toBeGreaterThan(Date.now() + 50_000);
    expect(asked.length).toBe(1);
    expect(asked[0]?.form).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: `${subject} ann`,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'https://api.test',
      scope: 'repo user',
    });
    const basic = Buffer.from(asked[0]?.headers.authorization?.slice(6) ?? '', 'base64').toString();
    expect(basic).toBe('agent+host:s3cret%3ACanary+%25');
  });

  test.each(['rsa', 'ec', 'ed25519'] as const)(
    'signs an assertion with a key of %s',
    async (type) => {
      const pair =
        type === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
          : type === 'ec'
            ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
            : generateKeyPairSync('ed25519');
      const privateKey = String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const { url, asked } = await endpoint((_asked, response) => json(response, 200, grant));
      expect((await call(url, { privateKey, keyId: 'k1' })).token).toBe(issued);
      const { headers, form } = asked[0] as Asked;
      expect(headers.authorization).toBeUndefined();
      const [header, claims, signature] = (form.client_assertion as string).split('.') as [
        string,
        string,
        string,
      ];
      const read = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
      const alg = { rsa: 'RS256', ec: 'ES256', ed25519: 'EdDSA' }[type];
      expect(read(header)).toEqual({ alg, typ: 'JWT', kid: 'k1' });
      expect(read(claims)).toMatchObject({ iss: 'agent host', sub: 'agent host', aud: url });
      expect(
        verify(
          type === 'ed25519' ? null : 'sha256',
          Buffer.from(`${header}.${claims}`),
          { key: pair.publicKey, dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url'),
        ),
      ).toBe(true);
    },
  );
});

describe('what an endpoint answers instead', () => {
  const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'an error of OAuth': (response) =>
      json(response, 400, { error: 'invalid_grant', error_description: subject }),
    'an error with a token as its code': (response) => json(response, 401, { error: issued }),
    'a failure with a token': (response) => void response.writeHead(500).end(issued),
    'a redirect': (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    'another success': (response) => json(response, 201, grant),
    'no JSON': (response) => void response.end(issued),
    'a list': (response) => json(response, 200, [issued]),
    'no token': (response) => json(response, 200, { ...grant, access_token: 1 }),
    'another type': (response) => json(response, 200, { ...grant, token_type: 'N_A' }),
    'a token that has expired': (response) => json(response, 200, { ...grant, expires_in: -1 }),
    'a token with a line end': (response) =>
      json(response, 200, { ...grant, access_token: `${issued}\r\nX: 1` }),
    'far too much': (response) => json(response, 200, { ...grant, more: 'x'.repeat(300_000) }),
    nothing: (response) => void response.destroy(),
  };

  test.each(Object.entries(answers))(
    '%s: the call is refused, and no secret is told',
    async (...[, answer]) => {
      const { url, asked } = await endpoint((_asked, response) => answer(response));
      const { result, logged, token } = await call(url);
      expect(result.error?.reason).toBe('credentials_unavailable');
      expect(token).toBeUndefined();
      expect(asked.length).toBe(1);
      expect(logged.length).toBe(1);
      expect(textOf([result, logged])).not.toContain('Canary');
    },
  );

  test('the log has the status and the code of OAuth', async () => {
    const { url } = await endpoint((_asked, response) =>
      json(response, 400, { error: 'invalid_target' }),
    );
    const { logged } = await call(url);
    expect(textOf(logged)).toContain('answered 400 with `invalid_target`');
  });

  test('nothing in time: the call is refused, and the connection is given up', async () => {
    let isGone = false;
    const { url } = await endpoint((_asked, response) => {
      response.on('close', () => {
        isGone = true;
      });
    });
    const { result } = await call(url, {}, 50);
    expect(result.error?.reason).toBe('credentials_unavailable');
    await expect.poll(() => isGone).toBe(true);
  });
});

describe('options', () => {
  const good: TokenExchangeOptions = {
    tokenUrl: 'https://login.test/token',
    clientId: 'c',
    clientSecret: 's',
    subjectToken: () => 't',
  };
  test.each([
    [{ tokenUrl: 'http://login.test/token' }, '`tokenUrl`'],
    [{ tokenUrl: 'https://u:p@login.test/' }, '`tokenUrl`'],
    [{ clientSecret: undefined }, 'given, or `privateKey`'],
    [{ privateKey: 'x' }, 'and not both'],
    [{ clientSecret: undefined, privateKey: 'Canary' }, 'the PEM of a private key'],
    [{ subjectToken: 'x' as never }, '`subjectToken`'],
    [{ scope: 'x' }, '`scope`'],
  ])('%j is refused', (wrong, message) => {
    expect(() => tokenExchange({ ...good, ...wrong })).toThrow(message);
  });
});
