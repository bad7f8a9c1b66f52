/**
 * A node that stands still at each single thing that it asks of the store, for as long as others
 * need to take it for dead: what it was doing is still done once, and told alike by all.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { defineTool, memoryStore } from '../../../src/index.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/index.ts';
import { connectRelay } from '../../../src/surfaces/relay-client/index.ts';
import { askOf, base, type Told } from './http/app-kit.ts';

const closers: (() => unknown)[] = [];
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await within(Promise.resolve(close()));
});

/** What comes of it, while time passes. */
async function within<T>(work: Promise<T>): Promise<T> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => {});
  for (let passed = 0; !over && passed < 60_000; passed += 20)
    await vi.advanceTimersByTimeAsync(20);
  if (!over) throw new Error('It does not end.');
  return done;
}

/**
 * What stands still: the one operation, or the node with all that it asks from then on; before it
 * is carried out, or before its answer comes.
 */
const stalls = [
  'the operation, before',
  'the operation, after',
  'the node, before',
  'the node, after',
] as const;
type Stall = (typeof stalls)[number];

const leaseMs = 60;
const stallMs = 10 * leaseMs;

/**
 * A store for a node that stands still at one operation, once. A subscription counts as one, and a
 * message alone does not.
 */
function slow(store: Store, operations: number, stall: Stall) {
  let left = operations;
  let still: Promise<void> = Promise.resolve();
  const pass = async <T>(run: () => Promise<T>): Promise<T> => {
    left -= 1;
    const isIt = left === -1;
    const pause = isIt ? new Promise<void>((resolve) => setTimeout(resolve, stallMs)) : still;
    if (isIt && stall.startsWith('the node')) still = pause;
    if (stall.endsWith('before') || !isIt) await pause;
    const answer = await run();
    if (isIt) await pause;
    await still;
    return answer;
  };
  const slowStore = new Proxy(store, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function') return operation;
      return (...given: unknown[]) => pass(async () => operation.apply(target, given) as unknown);
    },
  });
  return slowStore;
}

const parameters = { type: 'object' } as const;

/**
 * @param othersLook whether the other node looks after requests meanwhile, or only this one itself
 */
async function world(operations: number, stall: Stall, othersLook: boolean) {
  const store = memoryStore();
  const runs: string[] = [];
  const own = defineTool({
    name: 'own',
    description: 'Of the host.',
    parameters,
    handler: (_, { callId }) => runs.push(callId),
  });
  const settings = { requestTimeoutMs: 5_000, heartbeatMs: 1_000, session: { tools: [own] } };
  const steady = createRelay({ ...settings, leaseMs: othersLook ? leaseMs : 30_000, store });
  const slowed = createRelay({ ...settings, leaseMs, store: slow(store, operations, stall) });
  closers.push(() => Promise.all([steady.close(), slowed.close()]));
  const send = (
    relay: Relay,
    method: string,
    path: string,
    token?: string,
    body?: object,
  ): Promise<Told> => askOf(relay.fetch, method, `${base}${path}`, { token, body });
  const { body } = await send(steady, 'POST', '', undefined, {});
  const session = body as {
    readonly code: string;
    readonly sessionToken: string;
    readonly agentToken: string;
  };
  const connect = async (relay: Relay): Promise<void> => {
    const connecting = connectRelay({
      url: 'http://relay.test',
      code: session.code,
      token: session.sessionToken,
      transport: 'sse',
      fetch: (url, init) => relay.fetch(new Request(url, init)),
      tools: [
        {
          name: 'relayed',
          description: 'Of the application.',
          parameters,
          handler: (_, { requestId }) => runs.push(requestId),
        },
      ],
    });
    const connection = await within(connecting);
    closers.push(() => connection.close());
  };
  return { steady, slowed, send, session, runs, connect };
}

const points = stalls.flatMap((stall) =>
  Array.from({ length: 26 }, (_, operations) =>
    [true, false].map((othersLook) => ({
      stall,
      operations,
      at: `${operations}${othersLook ? '' : ', without other nodes that look'}`,
      othersLook,
    })),
  ).flat(),
);

describe.each(['relayed', 'own'])('a request of the tool `%s`', (tool) => {
  test.each(points)(
    'has one result (paused: $stall it takes effect, operation $at)',
    async ({ operations, stall, othersLook }) => {
      const { steady, slowed, send, session, runs, connect } = await world(
        operations,
        stall,
        othersLook,
      );
      await connect(steady);
      const request = { requestId: 'r', tool, args: {} };
      const asked = send(slowed, 'POST', `/${session.code}/request`, session.agentToken, request);
      // Whoever has waited for long enough asks again, another node.
      await vi.advanceTimersByTimeAsync(2 * leaseMs);
      const again = send(steady, 'POST', `/${session.code}/request`, session.agentToken, request);
      const [first, second] = await within(Promise.all([asked, again]));
      const status = await within(
        send(slowed, 'GET', `/${session.code}/requests/r`, session.agentToken),
      );
      expect([first.status, second.status, status.status]).toEqual([200, 200, 200]);
      expect([first.body.result, status.body.result]).toEqual([
        second.body.result,
        second.body.result,
      ]);
      const { success, error } = second.body.result as {
        readonly success: boolean;
        readonly error?: { readonly code: string; readonly reason?: string };
      };
      // The application is there all the time. A tool of the host that its node began may have run,
      // and is not run again.
      if (tool === 'relayed' || success) expect([success, runs]).toEqual([true, ['r']]);
      else
        expect([error, runs.length <= 1]).toMatchObject([
          { code: 'executor_lost', reason: 'node_lost' },
          true,
        ]);
      const told = await within(
        send(steady, 'GET', `/${session.code}/events?mode=poll&after=0`, session.agentToken),
      );
      const results = (
        told.body.events as readonly { readonly event: string; readonly data: object }[]
      ).filter(({ event }) => event === 'tool-result');
      expect(results.at(-1)?.data).toEqual(second.body);
    },
  );
});

describe('an application whose node is paused', () => {
  // Its registration and its stream, the delivery of a call, its answer.
  const points = stalls.flatMap((stall) =>
    Array.from({ length: 40 }, (_, operations) => ({ stall, operations })),
  );

  test.each(points)(
    'gets each call at most once (paused: $stall it takes effect, operation $operations)',
    async ({ operations, stall }) => {
      const { steady, slowed, send, session, runs, connect } = await world(operations, stall, true);
      await connect(slowed);
      const call = async (requestId: string) => {
        const { status, body } = await within(
          send(steady, 'POST', `/${session.code}/request`, session.agentToken, {
            requestId,
            tool: 'relayed',
          }),
        );
        expect(status).toBe(200);
        return body.result as {
          readonly success: boolean;
          readonly error?: { readonly code: string };
        };
      };
      const first = await call('first');
      if (!first.success) expect(first.error).toMatchObject({ code: 'executor_lost' });
      await vi.advanceTimersByTimeAsync(2 * stallMs);
      expect(await call('second')).toMatchObject({ success: true });
      expect([
        runs.filter((id) => id === 'first').length <= 1,
        runs.filter((id) => id === 'second'),
      ]).toEqual([true, ['second']]);
      if (first.success) expect(runs).toEqual(['first', 'second']);
      const status = await within(
        send(slowed, 'GET', `/${session.code}/requests/first`, session.agentToken),
      );
      expect(status.body.result).toEqual(first);
    },
  );
});
