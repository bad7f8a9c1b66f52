/** The host extends a session: how far, for whom, and beside what ends it at the same time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../src/surfaces/relay/memory/store.ts';
import { frontKit, type Kit, type Made } from './app-kit.ts';

const hostKey = 'a-key-of-the-host';
const second = 1_000;

async function started(options: Parameters<typeof frontKit>[0] = {}): Promise<Kit & Made> {
  const kit = frontKit({ hostKey, ttlSeconds: 60, maxTtlSeconds: 300, ...options });
  const { body } = await kit.ask('POST', '', { token: hostKey, body: {} });
  return { ...kit, ...(body as unknown as Made) };
}

const extend = (
  { ask, code }: Kit & Made,
  ttlSeconds: unknown,
  token: string | undefined = hostKey,
) => ask('POST', `/${code}/extend`, { token, body: { ttlSeconds } });

const iso = (at: number): string => new Date(at).toISOString();

describe('extending a session', () => {
  test('moves its end, counted from now', async () => {
    const kit = await started();
    kit.clock.now += 30 * second;
    const { status, body } = await extend(kit, 100);
    expect([status, body]).toEqual([
      200,
      { code: kit.code, ttl: 100, expiresAt: iso(kit.clock.now + 100 * second) },
    ]);
    kit.clock.now += 99 * second;
    expect((await kit.ask('GET', `/${kit.code}/metadata`, { token: kit.agentToken })).status).toBe(
      200,
    );
    kit.clock.now += second;
    expect((await kit.ask('GET', `/${kit.code}/metadata`, { token: kit.agentToken })).status).toBe(
      410,
    );
  });

  test('goes no further than `maxTtlSeconds` after its creation, however often it is done', async () => {
    const kit = await started();
    const created = kit.clock.now;
    for (let round = 0; round < 5; round++) {
      const { status, body } = await extend(kit, 290);
      expect([status, Date.parse(body.expiresAt as string)]).toEqual([
        200,
        Math.min(kit.clock.now + 290 * second, created + 300 * second),
      ]);
      kit.clock.now += 50 * second;
    }
    expect((await extend(kit, 290)).body.ttl).toBe(50);
    kit.clock.now += 50 * second;
    expect(await extend(kit, 290)).toMatchObject({
      status: 410,
      body: { error: 'session_expired' },
    });
  });

  test('never makes its life shorter', async () => {
    const kit = await started();
    const { expiresAt } = (await extend(kit, 200)).body;
    expect((await extend(kit, 1)).body.expiresAt).toBe(expiresAt);
  });

  test('is possible for a day, or for `ttlSeconds` if that is more, unless the host says otherwise', async () => {
    const usual = await started({ maxTtlSeconds: undefined });
    expect((await extend(usual, 2_000_000)).body.ttl).toBe(86_400);
    const long = await started({ ttlSeconds: 100_000, maxTtlSeconds: undefined });
    expect((await extend(long, 2_000_000)).body.ttl).toBe(100_000);
  });

  test.each([undefined, null, 0, 0.5, -1, '60', 2_000_001, 1e300, true, [60], {}])(
    'needs a number of seconds, which %j is not',
    async (ttlSeconds) => {
      const kit = await started();
      expect(await extend(kit, ttlSeconds)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', message: expect.stringContaining('1 to 2000000') },
      });
    },
  );

  test('refuses what it does not know', async () => {
    const kit = await started();
    const body = { ttlSeconds: 60, code: 'ABCDEFGH' };
    expect((await kit.ask('POST', `/${kit.code}/extend`, { token: hostKey, body })).status).toBe(
      400,
    );
  });

  test('is for the host alone', async () => {
    const kit = await started();
    for (const token of [kit.sessionToken, kit.agentToken, 'another'])
      expect(await extend(kit, 60, token)).toMatchObject({
        status: 403,
        body: { error: 'forbidden' },
      });
    expect(
      (await kit.ask('POST', `/${kit.code}/extend`, { body: { ttlSeconds: 60 } })).status,
    ).toBe(401);
  });

  test('is no route where the host has no key', async () => {
    const kit = frontKit();
    const made = { ...kit, ...(await kit.create()) };
    for (const token of [made.sessionToken, made.agentToken, hostKey])
      expect(await extend(made, 60, token)).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
  });

  test('does not find a session that is not there', async () => {
    const kit = await started();
    expect(await extend({ ...kit, code: 'AAAAAAAA' }, 60)).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });
});

describe('beside what ends the session', () => {
  test('a session that expires while the store is asked stays over', async () => {
    const clock = { now: 1_000_000 };
    const inner = memoryStore({ now: () => clock.now });
    const kit = await started({
      now: () => clock.now,
      store: {
        ...inner,
        async extend(code, end) {
          clock.now += 60 * second;
          return inner.extend(code, end);
        },
      },
    });
    expect(await extend(kit, 200)).toMatchObject({ status: 410 });
    expect((await kit.ask('GET', `/${kit.code}/metadata`, { token: kit.agentToken })).status).toBe(
      410,
    );
  });

  test('a session that is deleted while it is extended stays deleted', async () => {
    const inner = memoryStore();
    const kit = await started({
      now: Date.now,
      store: {
        ...inner,
        async extend(code, end) {
          const extended = await inner.extend(code, end);
          await inner.drop(code);
          return extended;
        },
      },
    });
    expect(await extend(kit, 200)).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });

  test('of many that extend at once the longest counts, in the document and in the store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
        async (wanted) => {
          const ends: number[] = [];
          const inner = memoryStore();
          const kit = await started({
            now: Date.now,
            store: {
              ...inner,
              async extend(code, end) {
                ends.push(end);
                return inner.extend(code, end);
              },
            },
          });
          const answers = await Promise.all(wanted.map((one) => extend(kit, one)));
          const last = Math.max(...answers.map(({ body }) => Date.parse(body.expiresAt as string)));
          const after = await extend(kit, 1);
          expect(Date.parse(after.body.expiresAt as string)).toBe(last);
          // The store keeps a session for ten minutes after its end, so that its clients hear of
          // it.
          for (const end of ends) expect(end - 600_000).toBeLessThanOrEqual(last);
        },
      ),
      { numRuns: 50 },
    );
  });
});
