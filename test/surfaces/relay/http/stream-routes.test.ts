/** The route of the streams: what ends a poll, and what it leaves behind. */
import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { SessionExchange } from '../../../../src/surfaces/relay/http/node-parts.ts';
import { streamRoutes } from '../../../../src/surfaces/relay/http/stream-routes.ts';
import { frontKit } from './app-kit.ts';

/** Starts polls that last until their signal aborts. */
async function started() {
  const kit = frontKit();
  const { code } = await kit.create();
  const begun: AbortSignal[] = [];
  const { events } = streamRoutes({
    ...kit.parts,
    respond: {
      ...kit.parts.respond,
      poll: (_streams, _request, _waitMs, signal) => {
        begun.push(signal);
        return new Promise((resolve) => {
          const end = (): void => resolve(Response.json({ events: [] }));
          if (signal.aborted) end();
          else signal.addEventListener('abort', end);
        });
      },
    },
  });
  const poll = () => {
    const client = new AbortController();
    const request = new Request('http://relay.test/?mode=poll', { signal: client.signal });
    const exchange = {
      request,
      document: { code, expiresAt: kit.clock.now + 60_000 },
      side: 'agent',
    } as unknown as SessionExchange;
    return { request, client, ended: events(exchange) };
  };
  return { ...kit, poll, begun };
}

describe('a poll', () => {
  test('ends when its client goes away', async () => {
    const { poll, begun } = await started();
    const [one, other] = [poll(), poll()];
    await expect.poll(() => begun.length).toBe(2);
    one.client.abort();
    expect((await one.ended).status).toBe(200);
    expect(begun.map(({ aborted }) => aborted)).toEqual([true, false]);
    other.client.abort();
    await other.ended;
  });

  test('ends when the node shuts down, even if it starts later', async () => {
    const { poll, begun, draining } = await started();
    const { ended } = poll();
    await expect.poll(() => begun.length).toBe(1);
    draining.abort();
    expect((await ended).status).toBe(200);
    expect((await poll().ended).status).toBe(200);
  });

  test('leaves no listener on its request, and none on the signal of the node', async () => {
    const { poll, begun, draining } = await started();
    const ofNode = () => getEventListeners(draining.signal, 'abort').length;
    const before = ofNode();
    const polls = Array.from({ length: 20 }, poll);
    await expect.poll(() => begun.length).toBe(20);
    expect(polls.map(({ request }) => getEventListeners(request.signal, 'abort').length)).toEqual(
      polls.map(() => 1),
    );
    expect(ofNode()).toBe(before);
    for (const { client } of polls) client.abort();
    await Promise.all(polls.map(({ ended }) => ended));
    expect(polls.map(({ request }) => getEventListeners(request.signal, 'abort').length)).toEqual(
      polls.map(() => 0),
    );
  });
});
