/** Which clients have access to a session, and what other clients can learn about it. */
import { describe, expect, test } from 'vitest';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import {
  hashOf,
  isCode,
  logName,
  newCode,
  newToken,
  sameHash,
} from '../../../../src/surfaces/relay/secrets.ts';
import { beforeOp, on } from '../watched-store.ts';
import { brokenStore, frontKit, registration, type Told } from './app-kit.ts';

const shown = ({ status, headers, text }: Told) => ({ status, headers: [...headers], text });

describe('codes and tokens', () => {
  test('codes are eight characters of Base32, and each one is new', () => {
    const codes = Array.from({ length: 2_000 }, newCode);
    expect(codes.every(isCode)).toBe(true);
    expect(new Set(codes).size).toBe(2_000);
    expect(new Set(codes.join('')).size).toBe(32);
  });

  test('tokens have 256 bits', () => {
    expect(Buffer.from(newToken(), 'base64url')).toHaveLength(32);
  });

  test('a log name does not reveal the code', () => {
    expect(logName('AAAAAAAA')).toMatch(/^[0-9a-f]{6}$/);
  });

  test('hashes of different lengths are different', () => {
    expect(sameHash('ab', 'ab')).toBe(true);
    expect(sameHash('ab', 'abc')).toBe(false);
    expect(sameHash('ab', 'ac')).toBe(false);
  });
});

describe('an invalid code', () => {
  test.each([
    'ABCDEFG',
    'ABCDEFGHI',
    'abcdefgh',
    'ABCDEF01',
    'ABCDEFG%20',
    '%ff',
    '..',
    'ABCDEFG%2F',
    '__proto__',
    'ÄBCDEFGH',
  ])('%s is refused before the store is asked', async (code) => {
    const { ask, store } = frontKit({ store: brokenStore() });
    expect(store).toBeDefined();
    expect(await ask('GET', `/${code}/metadata`)).toMatchObject({
      ...(code === '..'
        ? { status: 404 }
        : {
            status: 400,
            body: {
              error: 'invalid_session_code',
              message: 'Session code must be 8-character Base32 format',
            },
          }),
    });
  });
});

describe('a token', () => {
  test('is required', async () => {
    const { ask, create } = frontKit();
    const { code } = await create();
    const told = await ask('GET', `/${code}/metadata`);
    expect(told).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', code: 'unauthorized' },
    });
    expect(told.headers.get('www-authenticate')).toBe('Bearer');
    // The answer is the same for a code that does not exist.
    expect(shown(await ask('GET', '/AAAAAAAA/metadata'))).toEqual(shown(told));
  });

  test.each([
    'Basic abc',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    'bearer',
    `Bearer ${'x'.repeat(201)}`,
    'Token abc',
    '',
  ])('is not read from the header %j', async (header) => {
    const { ask, create } = frontKit();
    const { code } = await create();
    expect(
      (await ask('GET', `/${code}/metadata`, { headers: { Authorization: header } })).status,
    ).toBe(401);
  });

  test.each(['bearer', 'BEARER', 'Bearer'])('is read with the scheme %s', async (scheme) => {
    const { ask, create } = frontKit();
    const { code, agentToken } = await create();
    expect(
      (
        await ask('GET', `/${code}/metadata`, {
          headers: { Authorization: `${scheme} ${agentToken}` },
        })
      ).status,
    ).toBe(200);
  });

  test('that is wrong gets the same answer as an unknown code, byte for byte', async () => {
    const { ask, create } = frontKit();
    const { code, agentToken } = await create();
    const other = await create();
    const unknown = await ask('GET', '/AAAAAAAA/metadata', { token: agentToken });
    expect(unknown).toMatchObject({
      status: 404,
      body: {
        error: 'session_not_found',
        message: 'Session not found or expired',
        code: 'session_not_found',
      },
    });
    for (const token of [other.agentToken, 'wrong', '0'.repeat(64), 'x'.repeat(200)])
      expect(shown(await ask('GET', `/${code}/metadata`, { token }))).toEqual(shown(unknown));
  });

  test('that is wrong costs as many reads of the store as a right one', async () => {
    const kit = frontKit();
    const { code, agentToken } = await kit.create();
    const count = async (path: string, token: string): Promise<number> => {
      let reads = 0;
      const { ask } = frontKit({
        store: beforeOp(kit.host, 'get', () => void reads++),
      });
      await ask('GET', path, { token });
      return reads;
    };
    expect([
      await count(`/${code}/requests/r-1`, agentToken),
      await count(`/${code}/requests/r-1`, 'wrong'),
      await count('/AAAAAAAA/requests/r-1', agentToken),
    ]).toEqual([1, 1, 1]);
  });

  test('of the other side is answered with 403', async () => {
    const { ask, create } = frontKit();
    const { code, agentToken, sessionToken } = await create();
    for (const [method, path, token] of [
      ['POST', 'register-tools', agentToken],
      ['POST', 'update-tools', agentToken],
      ['POST', 'response', agentToken],
      ['GET', 'stream', agentToken],
      ['DELETE', '', agentToken],
      ['POST', 'request', sessionToken],
      ['GET', 'events', sessionToken],
      ['GET', 'requests/r-1', sessionToken],
      ['POST', 'mcp', sessionToken],
    ] as const)
      expect(
        await ask(method, `/${code}/${path}`, {
          token,
          ...(method === 'POST' ? { body: {} } : {}),
        }),
      ).toMatchObject({
        status: 403,
        body: { error: 'wrong_side' },
      });
  });

  test('of an expired session learns that for a while; other tokens learn nothing', async () => {
    const { ask, create, clock } = frontKit({ ttlSeconds: 60 });
    const { code, agentToken } = await create();
    clock.now += 59_999;
    expect((await ask('GET', `/${code}/metadata`, { token: agentToken })).status).toBe(200);
    clock.now += 1;
    expect(await ask('GET', `/${code}/metadata`, { token: agentToken })).toMatchObject({
      status: 410,
      body: { error: 'session_expired', message: 'Session has expired' },
    });
    expect(await ask('GET', `/${code}/metadata`, { token: 'wrong' })).toMatchObject({
      status: 404,
    });
    expect((await ask('GET', `/${code}/metadata`)).status).toBe(401);
    clock.now += 600_000;
    expect(await ask('GET', `/${code}/metadata`, { token: agentToken })).toMatchObject({
      status: 404,
    });
  });

  test('is checked before the body is read', async () => {
    const { ask, create } = frontKit();
    const { code } = await create();
    expect(
      (await ask('POST', `/${code}/register-tools`, { token: 'wrong', body: '{' })).status,
    ).toBe(404);
    expect(
      (
        await ask('POST', `/${code}/register-tools`, {
          body: '{',
          headers: { 'Content-Type': 'text/plain' },
        })
      ).status,
    ).toBe(401);
  });
});

describe('a ticket', () => {
  test('opens a stream of its side once', async () => {
    const { ask, create, clock, opened } = frontKit();
    const { code, sessionToken, agentToken } = await create();
    const { body, status } = await ask('POST', `/${code}/ticket`, { token: sessionToken });
    expect(status).toBe(200);
    expect(body).toEqual({
      ticket: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: new Date(clock.now + 30_000).toISOString(),
    });
    expect(await ask('GET', `/${code}/events?ticket=${body.ticket}`)).toMatchObject({
      status: 403,
    });
    expect((await ask('GET', `/${code}/stream?ticket=${body.ticket}`)).status).toBe(200);
    expect(opened).toMatchObject([{ side: 'application' }]);
    expect(await ask('GET', `/${code}/stream?ticket=${body.ticket}`)).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
    const { ticket } = (await ask('POST', `/${code}/ticket`, { token: agentToken, body: {} })).body;
    expect((await ask('GET', `/${code}/events?ticket=${ticket}`)).status).toBe(200);
  });

  test('admits only one of several clients that present it', async () => {
    const { ask, create } = frontKit();
    const { code, sessionToken } = await create();
    const { ticket } = (await ask('POST', `/${code}/ticket`, { token: sessionToken })).body;
    const told = await Promise.all(
      Array.from({ length: 8 }, () => ask('GET', `/${code}/stream?ticket=${ticket}`)),
    );
    expect(told.map(({ status }) => status).sort()).toEqual([
      200, 404, 404, 404, 404, 404, 404, 404,
    ]);
  });

  test('is valid for 30 seconds, in its session, and only for streams', async () => {
    const { ask, create, clock } = frontKit();
    const { code, sessionToken } = await create();
    const other = await create();
    const ticketOf = async () =>
      (await ask('POST', `/${code}/ticket`, { token: sessionToken })).body.ticket as string;
    expect((await ask('GET', `/${other.code}/stream?ticket=${await ticketOf()}`)).status).toBe(404);
    expect((await ask('GET', `/${code}/metadata?ticket=${await ticketOf()}`)).status).toBe(401);
    expect((await ask('DELETE', `/${code}?ticket=${await ticketOf()}`)).status).toBe(401);
    const late = await ticketOf();
    clock.now += 30_000;
    expect((await ask('GET', `/${code}/stream?ticket=${late}`)).status).toBe(404);
    for (const bad of ['', 'x', 'x'.repeat(300), '__proto__'])
      expect((await ask('GET', `/${code}/stream?ticket=${bad}`)).status).toBe(404);
  });

  test('is removed from the store once 128 later ones were created, which takes longer than it is valid', async () => {
    const { ask, create, clock, store } = frontKit();
    const { code, sessionToken } = await create();
    const ticketOf = async () => {
      const { status, body } = await ask('POST', `/${code}/ticket`, { token: sessionToken });
      expect(status).toBe(200);
      return body.ticket as string;
    };
    const kept = async (tickets: readonly string[]) =>
      (
        await on(store).get(
          code,
          tickets.map((one) => keys.ticket(hashOf(one))),
        )
      ).map((stored) => stored !== undefined);
    const minute = async () => {
      clock.now += 60_000;
      return Promise.all(Array.from({ length: 60 }, ticketOf));
    };
    const first = await ticketOf();
    const early = [...(await minute()), ...(await minute())];
    expect(await kept([first])).toEqual([true]);
    const late = await minute();
    expect(new Set(await kept([first, ...early.slice(0, 52)]))).toEqual(new Set([false]));
    expect(new Set(await kept([...early.slice(52), ...late]))).toEqual(new Set([true]));
    expect((await ask('GET', `/${code}/stream?ticket=${late.at(-1)}`)).status).toBe(200);
  });

  test('is created however many are asked for at the same time', async () => {
    const { ask, create } = frontKit();
    const { code, sessionToken } = await create();
    const asked = await Promise.all(
      Array.from({ length: 60 }, () => ask('POST', `/${code}/ticket`, { token: sessionToken })),
    );
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('is ignored if there is a token', async () => {
    const { ask, create } = frontKit();
    const { code, sessionToken } = await create();
    const { ticket } = (await ask('POST', `/${code}/ticket`, { token: sessionToken })).body;
    expect((await ask('GET', `/${code}/stream?ticket=${ticket}`, { token: 'wrong' })).status).toBe(
      404,
    );
  });
});

describe('pairing', () => {
  test('exchanges the code for a token of each side, once', async () => {
    const { ask, create } = frontKit({ pairing: true });
    const { code, sessionToken } = await create();
    const { status, body } = await ask('POST', `/${code}/pair`, { body: { side: 'application' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      code,
      side: 'application',
      token: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: expect.any(String),
    });
    for (const token of [body.token, sessionToken])
      expect(
        (await ask('POST', `/${code}/register-tools`, { token, body: registration('add') })).status,
      ).toBe(201);
    expect(await ask('POST', `/${code}/pair`, { body: { side: 'application' } })).toMatchObject({
      status: 409,
      body: { error: 'already_paired' },
    });
    expect((await ask('POST', `/${code}/pair`, { body: { side: 'agent' } })).status).toBe(200);
  });

  test('admits only one of several clients that try at the same time', async () => {
    const { ask, create } = frontKit({ pairing: true });
    const { code } = await create();
    const told = await Promise.all(
      Array.from({ length: 5 }, () => ask('POST', `/${code}/pair`, { body: { side: 'agent' } })),
    );
    expect(told.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });

  test('is off by default', async () => {
    const { ask, create } = frontKit();
    const { code } = await create();
    expect(await ask('POST', `/${code}/pair`, { body: { side: 'agent' } })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    });
  });

  test('reveals nothing about codes that do not exist or have expired', async () => {
    const { ask, create, clock } = frontKit({ pairing: true });
    const { code } = await create();
    clock.now += 3_600_000;
    const expired = await ask('POST', `/${code}/pair`, { body: { side: 'agent' } });
    expect(expired).toMatchObject({ status: 404, body: { error: 'session_not_found' } });
    expect(shown(await ask('POST', '/AAAAAAAA/pair', { body: { side: 'agent' } }))).toEqual(
      shown(expired),
    );
    expect(await ask('POST', `/${code}/pair`, { body: { side: 'both' } })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('is allowed ten times a minute for an address and for a code', async () => {
    const { ask, create } = frontKit({ pairing: true });
    const { code } = await create();
    const pair = (address: string, tried: string) =>
      ask('POST', `/${tried}/pair`, { address, body: { side: 'agent' } });
    const codes = Array.from({ length: 11 }, (_, index) => `AAAAAA${'ABCDEFGHIJKLMNOP'[index]}A`);
    const told = [];
    for (const tried of codes) told.push((await pair('192.0.2.1', tried)).status);
    expect(told).toEqual([...Array(10).fill(404), 429]);
    for (let tries = 0; tries < 10; tries++) await pair(`192.0.2.${tries + 10}`, code);
    expect(await pair('192.0.2.99', code)).toMatchObject({
      status: 429,
      body: { code: 'PAIR_RATE_LIMIT' },
    });
  });
});
