/**
 * One session on two nodes, under whatever comes: calls, answers, connections that come, go and are
 * cut, polls, changes of tools, a deaf bus, a store that goes and a clock that jumps. Held against
 * a ledger: every call that was accepted ends exactly once, and nothing runs twice that must not.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ToolContext } from '../../../src/index.ts';
import type { OpenStream, StreamEvent } from '../../../src/surfaces/relay/events/ports.ts';
import { keys, type SessionDocument } from '../../../src/surfaces/relay/ports/documents.ts';
import { type Node, relayed, relayWorld, type World } from './relay-world.ts';
import { on, type WatchedStore, watchedStore } from './watched-store.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const leaseMs = 100;
const heartbeatMs = 300;
const timeoutMs = 1_500;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** What is known of calls, from outside. */
interface Call {
  readonly id: string;
  readonly idempotent: boolean;
  /** Of each client that began it, in order. */
  readonly executions: string[];
  readonly ends: unknown[];
}

/** A running application: it begins each call once, however often it is asked. */
interface Client {
  readonly name: string;
  readonly seen: Set<string>;
  readonly open: string[];
  place: number | undefined;
  stream: OpenStream | undefined;
  /** Events that the next connection's sink takes before it refuses. */
  room: number;
}

interface Real {
  readonly ports: WatchedStore;
  readonly world: World;
  readonly nodes: readonly Node[];
  readonly clients: readonly Client[];
  readonly calls: Map<string, Call>;
  /** Reasons of the changes that were made, and those that an agent with its place was told. */
  readonly changes: string[];
  readonly told: string[];
  readonly agent: { place: number; stream: OpenStream | undefined };
  session: SessionDocument;
  skew: number;
}

async function setUp(): Promise<Real> {
  const ports = watchedStore();
  const world = relayWorld(ports.store);
  const real: Real = {
    ports,
    world,
    nodes: [],
    clients: ['one', 'two'].map((name) => ({
      name,
      seen: new Set(),
      open: [],
      place: undefined,
      stream: undefined,
      room: Number.POSITIVE_INFINITY,
    })),
    calls: new Map(),
    changes: [],
    told: [],
    agent: { place: 0, stream: undefined },
    session: await world.session(undefined, 86_400_000),
    skew: 0,
  };
  const options = {
    leaseMs,
    heartbeatMs,
    requestTimeoutMs: timeoutMs,
    now: () => Date.now() + real.skew,
  };
  return Object.assign(real, { nodes: [world.node(options), world.node(options)] });
}

const begin = ({ calls }: Real, client: Client, { event, id, data }: StreamEvent): void => {
  if (id !== undefined) client.place = id;
  if (event !== 'tool-request') return;
  const requestId = data.requestId as string;
  const call = calls.get(requestId) as Call;
  if (client.seen.has(requestId)) return;
  client.seen.add(requestId);
  client.open.push(requestId);
  call.executions.push(client.name);
};

type Step = (real: Real) => Promise<void>;

const submit =
  (node: number, idempotent: boolean): Step =>
  async ({ nodes, session, calls }) => {
    const call: Call = { id: `c${calls.size}`, idempotent, executions: [], ends: [] };
    calls.set(call.id, call);
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new DOMException('late', 'TimeoutError')),
      timeoutMs,
    );
    const context = {
      idempotencyKey: call.id,
      toolName: 'act',
      signal: controller.signal,
    } as unknown as ToolContext;
    void (nodes[node] as Node).calls
      .run(session.code, {}, context, idempotent)
      .catch((error: unknown) => ({ error }))
      .then((end) => {
        clearTimeout(timer);
        call.ends.push(end);
      });
  };

const connect =
  (node: number, who: number, hasPlace: boolean, room: number): Step =>
  async (real) => {
    const client = real.clients[who] as Client;
    client.stream?.close();
    client.stream = undefined;
    let left = room;
    const { code, expiresAt } = real.session;
    const after = hasPlace ? client.place : undefined;
    const request = {
      code,
      expiresAt,
      side: 'application',
      client: client.name,
      ...(after === undefined ? {} : { after }),
    } as const;
    client.stream = await (real.nodes[node] as Node).streams
      .open(request, {
        send(event) {
          if (left-- <= 0) return false;
          begin(real, client, event);
          return true;
        },
        end() {},
      })
      .catch(() => undefined);
  };

const poll =
  (node: number, who: number, hasPlace: boolean, isHeard: boolean): Step =>
  async (real) => {
    const client = real.clients[who] as Client;
    const { code, expiresAt } = real.session;
    const after = hasPlace ? client.place : undefined;
    const request = {
      code,
      expiresAt,
      side: 'application',
      client: client.name,
      ...(after === undefined ? {} : { after }),
    } as const;
    const polled = (real.nodes[node] as Node).streams
      .poll(request, 50, new AbortController().signal)
      .catch(() => []);
    await pass(60);
    for (const event of await polled) if (isHeard) begin(real, client, event);
  };

const listenAsAgent =
  (node: number, room: number): Step =>
  async (real) => {
    const { agent, told, session } = real;
    agent.stream?.close();
    let left = room;
    agent.stream = await (real.nodes[node] as Node).streams
      .open(
        { code: session.code, expiresAt: session.expiresAt, side: 'agent', after: agent.place },
        {
          send({ id, event, data }) {
            if (left-- <= 0) return false;
            if (id !== undefined) agent.place = id;
            if (event === 'tool-availability-update') told.push(data.reason as string);
            return true;
          },
          end() {},
        },
      )
      .catch(() => undefined);
  };

const cut =
  (who: number): Step =>
  async ({ clients }) =>
    clients[who]?.stream?.close();

const answer =
  (node: number, who: number): Step =>
  async ({ nodes, clients, session }) => {
    const client = clients[who] as Client;
    const id = client.open.shift();
    if (id === undefined) return;
    // An answer that cannot be stored is sent again.
    await (nodes[node] as Node).calls
      .answer(session.code, id, { result: `${id} ${client.name}` })
      .catch(() => client.open.unshift(id));
  };

const change: Step = async (real) => {
  if (real.ports.away) return;
  const reason = `change ${real.changes.length}`;
  real.session = await real.world.tools(
    real.session,
    [relayed(`t${real.changes.length % 3}`)],
    reason,
  );
  real.changes.push(reason);
};

const step: fc.Arbitrary<{ readonly shown: string; readonly run: Step }> = (() => {
  const two = fc.nat(1);
  const some = fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(3));
  const named = <A extends readonly unknown[]>(
    name: string,
    make: (...given: A) => Step,
    ...arbitraries: { [K in keyof A]: fc.Arbitrary<A[K]> }
  ) =>
    fc.tuple(...(arbitraries as unknown as fc.Arbitrary<unknown>[])).map((given) => ({
      shown: `${name}(${given.join()})`,
      run: make(...(given as unknown as A)),
    }));
  const set =
    (run: (real: Real) => void): Step =>
    async (real) =>
      run(real);
  return fc.oneof(
    { weight: 4, arbitrary: named('submit', submit, two, fc.boolean()) },
    { weight: 4, arbitrary: named('connect', connect, two, two, fc.boolean(), some) },
    { weight: 2, arbitrary: named('poll', poll, two, two, fc.boolean(), fc.boolean()) },
    { weight: 2, arbitrary: named('agent', listenAsAgent, two, some) },
    { weight: 1, arbitrary: named('cut', cut, two) },
    { weight: 4, arbitrary: named('answer', answer, two, two) },
    { weight: 2, arbitrary: named('change', () => change) },
    {
      weight: 4,
      arbitrary: named(
        'pass',
        (ms: number) => () => pass(ms).then(() => {}),
        fc.integer({ min: 0, max: 350 }),
      ),
    },
    {
      weight: 1,
      arbitrary: named(
        'deaf',
        (deaf: boolean) => set(({ ports }) => Object.assign(ports, { deaf })),
        fc.boolean(),
      ),
    },
    {
      weight: 1,
      arbitrary: named(
        'away',
        (away: boolean) => set(({ ports }) => Object.assign(ports, { away })),
        fc.boolean(),
      ),
    },
    {
      weight: 1,
      arbitrary: named(
        'jump',
        (hours: number) => set((real) => Object.assign(real, { skew: hours * 3_600_000 })),
        fc.integer({ min: -1, max: 1 }),
      ),
    },
  );
})();

test('every call ends once and does not run twice if it must not, and changes are delivered once and in order', async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const real = await setUp();
      const { world, ports, calls, clients, agent, told, changes, nodes } = real;
      try {
        for (const { run } of steps) {
          await run(real);
          await pass(0);
        }
        ports.away = false;
        real.ports.deaf = true;
        // Long enough for a deadline, and for a heartbeat.
        await listenAsAgent(0, Number.POSITIVE_INFINITY)(real);
        await pass(timeoutMs + heartbeatMs * 2);
        for (const { ends, executions, idempotent, id } of calls.values()) {
          expect(ends, id).toHaveLength(1);
          expect(new Set(executions).size, id).toBe(executions.length);
          if (!idempotent) expect(executions.length, id).toBeLessThanOrEqual(1);
          // What it ended with was said by one that began it.
          const [end] = ends;
          if (typeof end !== 'string') continue;
          answered++;
          expect(executions.map((client) => `${id} ${client}`)).toContain(end);
        }
        expect(told).toEqual(changes);
        for (const { stream } of [...clients, agent]) stream?.close();
        await pass(leaseMs * 2);
        expect([real.ports.listening, ...nodes.map(({ streams }) => streams.count)]).toEqual([
          0, 0, 0,
        ]);
        expect(
          await on(world.store).find(real.session.code, keys.applicationLease),
        ).toBeUndefined();
      } finally {
        ports.away = false;
        await world.close();
      }
    }),
    { numRuns: 150 },
  );
  // The runs are worth something.
  expect(answered).toBeGreaterThan(0);
});

test('a session whose application stays connected and answers loses no call, whatever else happens', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(4), fc.nat(1), fc.nat(120)), { maxLength: 25 }),
      async (steps) => {
        const real = await setUp();
        const { world, calls, clients, ports, nodes } = real;
        const [client] = clients as [Client];
        try {
          for (const [what, node, ms] of [...steps, [0, 1, 1], [1, 0, 1]] as const) {
            if (what === 0) await submit(node, false)(real);
            // Cut and reconnected, with its place or afresh, here or there.
            if (what === 1) await connect(node, 0, ms % 2 === 0, Number.POSITIVE_INFINITY)(real);
            if (what === 2) real.ports.deaf = !real.ports.deaf;
            if (what === 3) {
              ports.away = true;
              await pass(ms * 2);
              ports.away = false;
            }
            if (what === 4) await poll(node, 0, true, ms % 2 === 0)(real);
            for (let round = 0; round < 3; round++) {
              await pass(ms / 3);
              while (client.open.length > 0) await answer(1 - node, 0)(real);
            }
          }
          for (let round = 0; round < 40; round++) {
            await pass(heartbeatMs / 4);
            while (client.open.length > 0) await answer(0, 0)(real);
          }
          for (const { ends, executions, id } of calls.values()) {
            expect([ends.length, executions.length <= 1], id).toEqual([1, true]);
            // One that was begun is answered, and one that is answered is never lost.
            if (executions.length > 0) expect(ends, id).toEqual([`${id} one`]);
          }
          expect([...calls.values()].at(-1)?.executions).toEqual(['one']);
          expect(
            nodes.flatMap(({ lines }) => lines).filter((line) => line.startsWith('error')),
          ).toEqual([]);
        } finally {
          await world.close();
        }
      },
    ),
    { numRuns: 60 },
  );
});
