/** What becomes of a request whose node has died, stands still, or cannot reach the store. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Store } from '../../../../src/extend.ts';
import { defineTool, memoryStore, type ToolAnnotations } from '../../../../src/index.ts';
import { keys, type RequestDocument } from '../../../../src/surfaces/relay/ports/documents.ts';
import { listen, type Node, relayed, relayWorld, type World } from '../relay-world.ts';
import { beforeOp, on, watchedStore } from '../watched-store.ts';

/** The settings of a relay that sets none. */
const usual = { leaseMs: 10_000, requestTimeoutMs: 30_000 };
const secondMs = 1_000;

let store: Store;
let world: World;
/** The world of a node that dies: nothing that it asks for is answered from then on. */
let doomed: World;
let dead: boolean;

beforeEach(() => {
  vi.useFakeTimers();
  [store, dead] = [memoryStore(), false];
  const mortal = <T extends object>(port: T): T =>
    new Proxy(port, {
      get(target, name) {
        const operation: unknown = Reflect.get(target, name);
        return typeof operation !== 'function' || name === 'close'
          ? operation
          : (...given: unknown[]) =>
              dead ? new Promise(() => {}) : (operation.apply(target, given) as unknown);
      },
    });
  world = relayWorld(store);
  doomed = relayWorld(mortal(store));
});
afterEach(async () => {
  // What a dead node waits for never comes, so its end needs time that passes.
  vi.useRealTimers();
  await Promise.all([doomed.close(), world.close()]);
});

/** A request that a node has passed on to its application when it dies. */
async function left(): Promise<{
  readonly heir: Node;
  readonly session: Awaited<ReturnType<World['session']>>;
  answer(): Promise<unknown>;
}> {
  const [dying, heir] = [doomed.node(usual), world.node(usual)];
  const session = await world.session([relayed('act')]);
  const application = await listen(heir, session, { client: 'app' });
  await dying.requests.submit(session, { requestId: 'r', tool: 'act', wait: false });
  await vi.advanceTimersByTimeAsync(100);
  expect(application.of('tool-request')).toHaveLength(1);
  dead = true;
  return { heir, session, answer: () => heir.calls.answer(session.code, 'r', { result: 'late' }) };
}

/** What was settled within a second. */
async function withinASecond<T>(work: Promise<T>): Promise<T | 'nothing'> {
  const late = new Promise<'nothing'>((resolve) => setTimeout(() => resolve('nothing'), secondMs));
  const first = Promise.race([work, late]);
  await vi.advanceTimersByTimeAsync(secondMs);
  return first;
}

const given = { requestId: 'r', result: { success: true, output: 'late' } };

describe('an answer that is stored after its node has died', () => {
  test('reaches within a second a client that asks again at another node', async () => {
    const { heir, session, answer } = await left();
    await answer();
    const asked = heir.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
    expect(await withinASecond(asked)).toMatchObject(given);
  });

  test('reaches within a second a client that already waits at another node', async () => {
    const { heir, session, answer } = await left();
    const asked = heir.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
    await vi.advanceTimersByTimeAsync(200);
    await answer();
    expect(await withinASecond(asked)).toMatchObject(given);
  });

  test('is in the status within a second', async () => {
    const { heir, session, answer } = await left();
    await answer();
    const status = heir.requests.status(session.code, 'r');
    expect(await withinASecond(status)).toMatchObject({ ...given, status: 'done' });
  });

  test('becomes the result without a request once the lease of the node has expired', async () => {
    const { heir, session, answer } = await left();
    await answer();
    await vi.advanceTimersByTimeAsync(8_000);
    const [stored] = await on(store).get(session.code, [keys.request('r')]);
    expect(JSON.parse(stored?.value ?? '')).toMatchObject({ status: 'done', result: given.result });
    expect(heir.lines.join()).toMatch(/taken over/);
  });
});

describe('a request whose node is dead', () => {
  test('is taken over when its application answers a minute later', async () => {
    const { heir, session, answer } = await left();
    await vi.advanceTimersByTimeAsync(8_000);
    const [stored] = await on(store).get(session.code, [keys.request('r')]);
    const { node, taken } = JSON.parse(stored?.value ?? '') as RequestDocument;
    expect([node, taken]).toEqual([heir.settings.node, 1]);
    await answer();
    await vi.advanceTimersByTimeAsync(100);
    expect(await heir.requests.status(session.code, 'r')).toMatchObject(given);
  });

  test('is not taken over while its node holds its lease', async () => {
    const [owner, other] = [world.node(usual), world.node(usual)];
    const session = await world.session([relayed('act')]);
    await listen(other, session, { client: 'app' });
    await owner.requests.submit(session, { requestId: 'r', tool: 'act', wait: false });
    const joined = other.requests.submit(session, { requestId: 'r', tool: 'act', wait: true });
    await vi.advanceTimersByTimeAsync(25_000);
    await other.calls.answer(session.code, 'r', { result: 'late' });
    await vi.advanceTimersByTimeAsync(100);
    expect(await joined).toMatchObject(given);
    expect([...owner.lines, ...other.lines].join()).not.toMatch(/taken over/);
  });
});

test('after an outage of the store, no node takes over requests that other nodes still run', async () => {
  const ports = watchedStore(store);
  await world.close();
  world = relayWorld(ports.store);
  const nodes = [world.node(usual), world.node(usual)] as const;
  const session = await world.session([relayed('act')]);
  await listen(nodes[1], session, { client: 'app' });
  await nodes[0].requests.submit(session, { requestId: 'r', tool: 'act', wait: false });
  await vi.advanceTimersByTimeAsync(5_000);
  ports.away = true;
  await vi.advanceTimersByTimeAsync(6_000);
  ports.away = false;
  await vi.advanceTimersByTimeAsync(9_000);
  await nodes[1].calls.answer(session.code, 'r', { result: 'late' });
  await vi.advanceTimersByTimeAsync(100);
  expect(await nodes[1].requests.status(session.code, 'r')).toMatchObject(given);
  expect(nodes.flatMap(({ lines }) => lines).join()).not.toMatch(/taken over/);
});

test('a request that its node could not end at first is ended by the same node while it is alive', async () => {
  const ports = watchedStore(store);
  await world.close();
  world = relayWorld(ports.store);
  const [owner, other] = [world.node(usual), world.node(usual)] as const;
  const session = await world.session([relayed('act')]);
  await listen(other, session, { client: 'app' });
  const asked = owner.requests
    .submit(session, { requestId: 'r', tool: 'act', wait: true })
    .catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(100);
  ports.holdUp('append', () => Promise.reject(new Error('away')));
  await other.calls.answer(session.code, 'r', { result: 'late' });
  await vi.advanceTimersByTimeAsync(100);
  expect(await asked).toBeInstanceOf(Error);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await other.requests.status(session.code, 'r')).toMatchObject({
    status: 'done',
    ...given,
  });
});

test('a request that was taken over because an agent asked can be taken over again', async () => {
  const [dying, heir] = [doomed.node(usual), world.node(usual)];
  const session = await world.session([relayed('act')]);
  await listen(heir, session, { client: 'app' });
  // Its node has died before it could schedule a look.
  await on(store).set(session.code, keys.request('r'), JSON.stringify(orphan('act')));
  await vi.advanceTimersByTimeAsync(10_000);
  await dying.requests.status(session.code, 'r');
  const nodeOf = async (): Promise<unknown> => {
    const [stored] = await on(store).get(session.code, [keys.request('r')]);
    return (JSON.parse(stored?.value ?? '') as RequestDocument).node;
  };
  expect(await nodeOf()).toBe(dying.settings.node);
  dead = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await nodeOf()).toBe(heir.settings.node);
});

test('a request that an agent asks for before its node counts as dead is looked at later', async () => {
  const heir = world.node(usual);
  const session = await world.session([relayed('act')]);
  await listen(heir, session, { client: 'app' });
  await on(store).set(session.code, keys.request('r'), JSON.stringify(orphan('act')));
  const asked = await heir.requests.submit(session, { requestId: 'r', tool: 'act', wait: false });
  expect(asked).toEqual({ requestId: 'r', status: 'queued' });
  expect(heir.lines.join()).not.toMatch(/taken over/);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(heir.lines.join()).toMatch(/taken over/);
});

/** A request whose node is gone. */
function orphan(tool: string): RequestDocument {
  const text = JSON.stringify([tool, {}]);
  const hash = createHash('sha256').update(text).digest('base64url');
  return { tool, args: {}, hash, status: 'queued', createdAt: Date.now(), node: 'gone' };
}

describe('a host tool that must not run twice', () => {
  /** A node with a tool that ends when it is told to, and another node. */
  async function running(annotations: ToolAnnotations = {}) {
    const ports = watchedStore(store);
    await world.close();
    world = relayWorld(ports.store);
    let runs = 0;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const slow = defineTool({
      name: 'slow',
      description: 'Takes its time.',
      parameters: z.object({}),
      annotations,
      handler: async () => {
        runs += 1;
        await ended;
        return 'done';
      },
    });
    const options = { ...usual, session: { tools: [slow] } };
    const [owner, other] = [world.node(options), world.node(options)] as const;
    const session = await world.session([]);
    const asked = owner.requests.submit(session, { requestId: 'r', tool: 'slow', wait: true });
    asked.catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
    return { ports, owner, other, session, asked, end, runs: () => runs };
  }
  const done = { requestId: 'r', result: { success: true, output: 'done' } };

  test('ends normally while its node shuts down', async () => {
    const { owner, other, session, asked, end } = await running();
    const closing = owner.requests.close(20_000);
    await vi.advanceTimersByTimeAsync(12_000);
    end();
    await vi.advanceTimersByTimeAsync(2_000);
    await closing;
    expect(await asked).toMatchObject(done);
    expect(await other.requests.status(session.code, 'r')).toMatchObject(done);
  });

  test('is not taken over by a node that is asked right after the store is back', async () => {
    const { ports, other, session, asked, end } = await running();
    await vi.advanceTimersByTimeAsync(5_950);
    ports.away = true;
    await vi.advanceTimersByTimeAsync(6_000);
    ports.away = false;
    expect(await other.requests.status(session.code, 'r')).toMatchObject({ status: 'queued' });
    await vi.advanceTimersByTimeAsync(5_000);
    end();
    await vi.advanceTimersByTimeAsync(100);
    expect(await asked).toMatchObject(done);
  });

  test('runs only once more if several clients ask for it after its node has died', async () => {
    let runs = 0;
    let open = (): void => {};
    let isSlow = false;
    const opening = new Promise<void>((resolve) => {
      open = resolve;
    });
    // A session that opens reads its tools.
    const slow = beforeOp(store, 'get', ({ keys: wanted }) =>
      isSlow && wanted.includes(keys.tools) ? opening : undefined,
    );
    await world.close();
    world = relayWorld(slow);
    const again = defineTool({
      name: 'again',
      description: 'May run twice.',
      parameters: z.object({}),
      annotations: { idempotent: true },
      handler: async () => {
        runs += 1;
        return runs;
      },
    });
    const heir = world.node({
      ...usual,
      session: { tools: [again] },
    });
    const session = await world.session([]);
    await on(store).set(session.code, keys.request('r'), JSON.stringify(orphan('again')));
    isSlow = true;
    await vi.advanceTimersByTimeAsync(10_000);
    const asked: Promise<unknown>[] = [];
    for (let count = 0; count < 5; count++) {
      asked.push(heir.requests.status(session.code, 'r'));
      await vi.advanceTimersByTimeAsync(100);
    }
    open();
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all(asked);
    expect(await heir.requests.status(session.code, 'r')).toMatchObject({
      status: 'done',
      result: { success: true, output: 1 },
    });
    expect(runs).toBe(1);
  });
});
