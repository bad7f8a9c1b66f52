/** Answers of an application do not read its session from the store each time. */
import { describe, expect, test } from 'vitest';
import { memoryStore } from '../../../../src/index.ts';
import { keys } from '../../../../src/surfaces/relay/ports/documents.ts';
import { on, watchedStore } from '../watched-store.ts';
import { frontKit, type Made, success } from './app-kit.ts';

function world() {
  const clock = { now: Date.now() };
  const now = () => clock.now;
  const watched = watchedStore(memoryStore({ now }));
  const kit = frontKit({ store: watched.store, now });
  const answer = (
    { code, sessionToken }: Made,
    { requestId = 'call-1', token = sessionToken } = {},
  ) => kit.ask('POST', `/${code}/response`, { token, body: { requestId, result: success } });
  const reads = ({ code }: Made): number =>
    watched.operations.filter((operation) => operation === `get session ${code}`).length;
  return { ...kit, clock, answer, reads };
}

describe('an answer', () => {
  test('reads the session only once in a while', async () => {
    const { create, answer, reads } = world();
    const made = await create();
    for (let left = 5; left > 0; left--) expect((await answer(made)).status).toBe(200);
    expect(reads(made)).toBe(1);
  });

  test('with another token is refused', async () => {
    const { create, answer } = world();
    const [made, other] = [await create(), await create()];
    await answer(made);
    const refused = await Promise.all([
      answer(made, { token: other.sessionToken }),
      answer(made, { token: made.agentToken }),
    ]);
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [404, 'session_not_found'],
      [403, 'wrong_side'],
    ]);
  });

  test('with a token that was created later is accepted', async () => {
    const kit = frontKit({ pairing: true });
    const made = await kit.create();
    const path = `/${made.code}`;
    const body = { requestId: 'call-1', result: success };
    await kit.ask('POST', `${path}/response`, { token: made.sessionToken, body });
    const paired = await kit.ask('POST', `${path}/pair`, { body: { side: 'application' } });
    const { status } = await kit.ask('POST', `${path}/response`, {
      token: paired.body.token as string,
      body,
    });
    expect(status).toBe(200);
  });

  test('to a session that another node has deleted is answered with 404', async () => {
    const { create, answer, store, calls } = world();
    const made = await create();
    await answer(made);
    await on(store).drop(made.code);
    calls.answer.mockResolvedValueOnce(false);
    const { status, body } = await answer(made);
    expect([status, body.error]).toEqual([404, 'session_not_found']);
  });

  test('to an unknown call is answered with 404', async () => {
    const { create, answer } = world();
    const { status, body } = await answer(await create(), { requestId: 'none' });
    expect([status, body.error]).toEqual([404, 'request_not_found']);
  });

  test('after the session has expired is answered with 410', async () => {
    const { create, answer, clock, store } = world();
    const made = await create();
    await answer(made);
    const [stored] = await on(store).get(made.code, [keys.session]);
    clock.now = (JSON.parse(stored?.value ?? '') as { expiresAt: number }).expiresAt;
    const { status, body } = await answer(made);
    expect([status, body.error]).toEqual([410, 'session_expired']);
  });
});
