/** The host extends a session: how far, and what happens if the session ends at the same time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import { memoryStore } from '../../../../src/index.ts';
import { beforeOp, on } from '../watched-store.ts';
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
  test('moves its end to a time counted from now', async () => {
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

  test('never moves the end beyond `maxTtlSeconds` after the creation', async () => {
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

  test('never makes the session shorter', async () => {
    const kit = await started();
    const { expiresAt } = (await extend(kit, 200)).body;
    expect((await extend(kit, 1)).body.expiresAt).toBe(expiresAt);
  });

  test('is limited to a day by default, or to `ttlSeconds` if that is longer', async () => {
    const usual = await started({ maxTtlSeconds: undefined });
    expect((await extend(usual, 2_000_000)).body.ttl).toBe(86_400);
    const long = await started({ ttlSeconds: 100_000, maxTtlSeconds: undefined });
    expect((await extend(long, 2_000_000)).body.ttl).toBe(100_000);
  });

  test.each([undefined, null, 0, 0.5, -1, '60', 2_000_001, 1e300, true, [60], {}])(
    'refuses %j, which is not a valid number of seconds',
    async (ttlSeconds) => {
      const kit = await started();
      expect(await extend(kit, ttlSeconds)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', message: expect.stringContaining('1 to 2000000') },
      });
    },
  );

  test('refuses unknown members', async () => {
    const kit = await started();
    const body = { ttlSeconds: 60, code: 'ABCDEFGH' };
    expect((await kit.ask('POST', `/${kit.code}/extend`, { token: hostKey, body })).status).toBe(
      400,
    );
  });

  test('is only for the host', async () => {
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

  test('has no route if the host has no key', async () => {
    const kit = frontKit();
    const made = { ...kit, ...(await kit.create()) };
    for (const token of [made.sessionToken, made.agentToken, hostKey])
      expect(await extend(made, 60, token)).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
  });

  test('does not find an unknown session', async () => {
    const kit = await started();
    expect(await extend({ ...kit, code: 'AAAAAAAA' }, 60)).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });
});

describe('extending a session while it ends', () => {
  test('a session that expires during the request stays expired', async () => {
    const clock = { now: 1_000_000 };
    const inner = memoryStore({ now: () => clock.now });
    const kit = await started({
      now: () => clock.now,
      store: beforeOp(inner, 'extend', () => {
        clock.now += 60 * second;
      }),
    });
    expect(await extend(kit, 200)).toMatchObject({ status: 410 });
    expect((await kit.ask('GET', `/${kit.code}/metadata`, { token: kit.agentToken })).status).toBe(
      410,
    );
  });

  test('a session that is deleted during the request stays deleted', async () => {
    const inner = memoryStore();
    const kit = await started({
      now: Date.now,
      store: {
        ...inner,
        async apply({ session }: { session: string }, ops: readonly Store.Operation[]) {
          const applied = await inner.apply({ session }, ops);
          if (ops.some(({ op }) => op === 'extend')) await on(inner).drop(session);
          return applied;
        },
      } as Store,
    });
    expect(await extend(kit, 200)).toMatchObject({
      status: 404,
      body: { error: 'session_not_found' },
    });
  });

  test('the longest of many simultaneous extensions counts, in the document and in the store', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
        async (wanted) => {
          const ends: number[] = [];
          const inner = memoryStore();
          const kit = await started({
            now: Date.now,
            store: beforeOp(inner, 'extend', ({ expiresAt }) => void ends.push(expiresAt)),
          });
          const answers = await Promise.all(wanted.map((one) => extend(kit, one)));
          const last = Math.max(...answers.map(({ body }) => Date.parse(body.expiresAt as string)));
          const after = await extend(kit, 1);
          expect(Date.parse(after.body.expiresAt as string)).toBe(last);
          // The store keeps a session for ten minutes after its end, so that its clients learn
          // that it has expired.
          for (const end of ends) expect(end - 600_000).toBeLessThanOrEqual(last);
        },
      ),
      { numRuns: 50 },
    );
  });
});
