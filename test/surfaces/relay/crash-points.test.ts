/**
 * A node that dies after each single thing that it writes: what the other one makes of what is
 * left.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../src/extend.ts';
import { memoryStore } from '../../../src/index.ts';
import { createRelay, type Relay } from '../../../src/surfaces/relay/index.ts';
import { connectRelay } from '../../../src/surfaces/relay-client/index.ts';
import { askOf, base, type Told } from './http/app-kit.ts';

const closers: (() => unknown)[] = [];
// Leases run out by a clock of the test's own: a busy machine must not make one run out.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await passing(Promise.resolve(close()));
});

/** Lets time pass until it is settled. */
async function passing<T>(work: Promise<T>): Promise<T> {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  work.then(note, note);
  while (!settled) await vi.advanceTimersByTimeAsync(10);
  return work;
}

/** How a node's last operation goes: refused, or carried out without a word. */
type Last = 'refused' | 'unanswered';

/** A store for one node: gone for it after so many operations. */
function until(store: Store, operations: number, last: Last) {
  let left = operations;
  const gone = (): never => {
    throw new Error('gone');
  };
  const mortal = new Proxy(store, {
    get(target, name) {
      const operation: unknown = Reflect.get(target, name);
      if (typeof operation !== 'function') return operation;
      return async (...given: unknown[]) => {
        left -= 1;
        if (left < -1 || (left === -1 && last === 'refused')) return gone();
        const answer: unknown = await operation.apply(target, given);
        return left >= 0 ? answer : gone();
      };
    },
  });
  return mortal;
}

const parameters = { type: 'object' };
const settings = {
  leaseMs: 200,
  requestTimeoutMs: 2_000,
  heartbeatMs: 1_000,
  limits: { updatesPerMinute: 1_000 },
};

async function world(operations: number, last: Last) {
  const store = memoryStore();
  const survivor = createRelay({ ...settings, store });
  const doomed = until(store, operations, last);
  const node = createRelay({ ...settings, store: doomed });
  closers.push(() => Promise.all([survivor.close(), node.close()]));
  const send = (
    relay: Relay,
    method: string,
    path: string,
    token?: string,
    body?: object,
  ): Promise<Told> => passing(askOf(relay.fetch, method, `${base}${path}`, { token, body }));
  const { body } = await send(survivor, 'POST', '', undefined, {});
  const session = body as {
    readonly code: string;
    readonly sessionToken: string;
    readonly agentToken: string;
  };
  const runs: string[] = [];
  const tool = (name: string) => ({
    name,
    description: name,
    parameters,
    handler: (_: object, { requestId }: { requestId: string }) => runs.push(requestId),
  });
  const connect = async (relay: Relay) => {
    const connecting = connectRelay({
      url: 'http://relay.test',
      code: session.code,
      token: session.sessionToken,
      transport: 'sse',
      fetch: (url, init) => relay.fetch(new Request(url, init)),
      tools: [tool('first')],
    });
    const connection = await passing(connecting);
    closers.push(() => connection.close());
    return connection;
  };
  /** What agents have been told, by a stream from the beginning. */
  const told = async (): Promise<readonly { readonly event: string; readonly data: object }[]> => {
    const { body } = await send(
      survivor,
      'GET',
      `/${session.code}/events?mode=poll&after=0`,
      session.agentToken,
    );
    return body.events;
  };
  return { survivor, node, send, session, runs, connect, told };
}

const points = (['refused', 'unanswered'] as const).flatMap((last) =>
  Array.from({ length: 24 }, (_, operations) => ({ last, operations })),
);

describe('a node that dies', () => {
  test.each(points)(
    'during a request, after $operations operations, with the next one $last, loses nothing',
    async ({ operations, last }) => {
      const { survivor, node, send, session, runs, connect, told } = await world(operations, last);
      await connect(survivor);
      const request = { requestId: 'r', tool: 'first', args: {} };
      const asked = await send(
        node,
        'POST',
        `/${session.code}/request`,
        session.agentToken,
        request,
      );
      expect([200, 503]).toContain(asked.status);
      const { body } = await send(
        survivor,
        'POST',
        `/${session.code}/request`,
        session.agentToken,
        request,
      );
      expect(runs).toEqual(['r']);
      expect(body.result).toMatchObject({ success: true, output: 1 });
      if (asked.status === 200) expect(asked.body).toEqual(body);
      const lastResult = async (): Promise<object | undefined> =>
        (await told()).filter(({ event }) => event === 'tool-result').at(-1)?.data;
      for (let round = 0; round < 100 && (await lastResult()) === undefined; round++)
        await vi.advanceTimersByTimeAsync(50);
      expect(await lastResult()).toEqual(body);
    },
  );

  test.each(points)(
    'during an update, after $operations operations, with the next one $last, loses nothing',
    async ({ operations, last }) => {
      const { survivor, node, send, session, connect, told } = await world(operations, last);
      await connect(survivor);
      const update = {
        added: [{ name: 'second', description: 'second', parameters }],
        removed: ['first'],
        reason: 'news',
      };
      const updated = await send(
        node,
        'POST',
        `/${session.code}/update-tools`,
        session.sessionToken,
        update,
      );
      expect([200, 503]).toContain(updated.status);
      if (updated.status === 503)
        expect(
          (
            await send(
              survivor,
              'POST',
              `/${session.code}/update-tools`,
              session.sessionToken,
              update,
            )
          ).status,
        ).toBe(200);
      // Whoever follows the notices knows what there is.
      const known = new Set<string>();
      for (const { event, data } of await told()) {
        const { updates, resync } = data as unknown as {
          readonly updates: {
            readonly added: readonly { name: string }[];
            readonly removed: readonly string[];
          };
          readonly resync?: true;
        };
        if (event !== 'tool-availability-update') continue;
        if (resync) known.clear();
        for (const name of updates.removed) known.delete(name);
        for (const { name } of updates.added) known.add(name);
      }
      expect([...known]).toEqual(['second']);
      const { body } = await send(survivor, 'GET', `/${session.code}/metadata`, session.agentToken);
      expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['second']);
    },
  );
});
