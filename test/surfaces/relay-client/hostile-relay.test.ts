/** What a relay that is broken or hostile can make the client of an application do, and hold. */
import { describe, expect, test, vi } from 'vitest';
import type { Answer } from '../../../src/surfaces/relay-client/answer.ts';
import { attempt, type LineMemory } from '../../../src/surfaces/relay-client/attempt.ts';
import {
  type Calls,
  createCalls,
  createRelayClock,
} from '../../../src/surfaces/relay-client/calls.ts';
import { createDelivery, type Delivery } from '../../../src/surfaces/relay-client/delivery.ts';
import type { JsonObject } from '../../../src/surfaces/relay-client/json.ts';
import { createScrub } from '../../../src/surfaces/relay-client/relay-client-error.ts';
import { createScope, type Scope } from '../../../src/surfaces/relay-client/scope.ts';

/** The most handlers that run at once, and the most calls that wait for them. */
const [maxRunning, maxWaiting] = [64, 1_000];
/** The most characters of the id of a call. */
const maxIdChars = 1_024;

interface World {
  readonly calls: Calls;
  readonly delivery: Delivery;
  readonly life: Scope;
  /** Ids of the calls whose handlers have begun. */
  readonly begun: string[];
  /** Answers that the relay was sent by POST, and the functions that accept them. */
  readonly posts: { readonly body: JsonObject; readonly accept: () => void }[];
  request(id: string, args?: JsonObject): void;
}

/** An application whose handlers run until `run` lets them, and a relay that accepts by hand. */
function world(run: (id: string) => unknown): World {
  const life = createScope();
  const begun: string[] = [];
  const posts: { readonly body: JsonObject; readonly accept: () => void }[] = [];
  const delivery = createDelivery({
    http: {
      call: (_scope, _method, _path, more) =>
        new Promise((resolve) => {
          const body = JSON.parse(more?.body ?? '{}') as JsonObject;
          posts.push({ body, accept: () => resolve({}) });
        }),
      open: () => Promise.reject(new Error('not asked for')),
      scrub: createScrub('t'),
    },
    life,
    random: () => 0.5,
    failed() {},
    freed: () => calls.resume(),
  });
  const calls: Calls = createCalls({
    life,
    clock: createRelayClock(),
    handler:
      () =>
      (_, { requestId }) => {
        begun.push(requestId);
        return run(requestId);
      },
    answer: delivery.send,
    isFull: () => delivery.isFull,
  });
  return {
    calls,
    delivery,
    life,
    begun,
    posts,
    request: (requestId, args = {}) => calls.request({ requestId, tool: 'a', args }),
  };
}
const turns = async (): Promise<void> => {
  for (let times = 0; times < 20; times++) await Promise.resolve();
};
const errorOf = ({ body }: { readonly body: JsonObject } | undefined = { body: {} }) =>
  (body.error as { readonly message: string } | undefined)?.message;

describe('a relay that floods an application with calls', () => {
  test('does not keep all answers in memory: no call begins before some have arrived', async () => {
    const big = 'x'.repeat(4_000_000);
    const { begun, posts, request, life } = world((id) =>
      Number(id.slice(1)) < 17 ? big : new Promise(() => {}),
    );
    for (let index = 0; index < 100; index++) request(`r${index}`);
    await turns();
    // Calls take the places of those that have ended until 17 answers, more than 64 MB, wait.
    expect([posts.length, begun.length]).toEqual([17, maxRunning + 16]);
    for (const { accept } of posts) accept();
    await turns();
    expect(begun).toHaveLength(maxRunning + 17);
    life.end(undefined);
  });

  test('gets no refusal for each of them, which would fill the memory as well', async () => {
    const { delivery, posts, request, life } = world(() => new Promise(() => {}));
    for (let index = 0; index < maxRunning + maxWaiting + 5_000; index++) request(`r${index}`);
    await turns();
    expect([delivery.size, posts.length]).toEqual([1_000, 1_000]);
    expect(errorOf(posts[0])).toContain('1000 calls waiting');
    for (const { accept } of posts.splice(0)) accept();
    await turns();
    // A call that was passed over can be delivered again.
    request(`r${maxRunning + maxWaiting + 4_000}`);
    await turns();
    expect(posts).toHaveLength(1);
    life.end(undefined);
  });

  test('cannot have arguments of any size wait', async () => {
    const { calls, posts, request, life } = world(() => new Promise(() => {}));
    for (let index = 0; index < maxRunning; index++) request(`r${index}`);
    const large = { text: 'x'.repeat(8_000_000) };
    for (let index = 0; index < 20; index++) request(`w${index}`, large);
    await turns();
    expect(calls.size).toBe(maxRunning + 8);
    expect(posts).toHaveLength(12);
    expect(errorOf(posts[0])).toContain('large arguments waiting');
    // What is cancelled makes room.
    calls.cancel({ requestId: 'w0' });
    request('late', large);
    expect(calls.size).toBe(maxRunning + 8);
    life.end(undefined);
    expect(calls.size).toBe(0);
  });

  test('cannot have ids of any length remembered', async () => {
    const { calls, begun, request, life } = world(() => 1);
    const long = 'x'.repeat(maxIdChars + 1);
    request(long);
    calls.cancel({ requestId: long });
    request(long.slice(1));
    await turns();
    expect(begun).toEqual([long.slice(1)]);
    life.end(undefined);
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'may call them `%s`: each is run once',
    async (id) => {
      const answers: Answer[] = [];
      const life = createScope();
      const calls = createCalls({
        life,
        clock: createRelayClock(),
        handler: (tool) => new Map([['a', () => 'ran']]).get(tool),
        answer: (answer) => void answers.push(answer),
      });
      for (const tool of ['a', 'a', id]) calls.request({ requestId: id, tool, args: {} });
      calls.request({ requestId: 'other', tool: id, args: {} });
      await turns();
      expect(answers.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
        { requestId: 'other', error: { message: expect.stringContaining('no tool called') } },
        { requestId: id, result: 'ran' },
      ]);
      life.end(undefined);
    },
  );
});

describe('the id of an event', () => {
  test.each([
    ['7', '7'],
    ['a:b-1', 'a:b-1'],
    ['\u2603', undefined],
    ['with space', undefined],
    ['x'.repeat(257), undefined],
    ['', undefined],
  ])('%j is sent back only if a header can have it', async (id, kept) => {
    vi.useFakeTimers();
    const life = createScope();
    const memory: LineMemory = {
      client: 'c',
      lastId: undefined,
      heartbeatMs: 30_000,
      leaseMs: 10_000,
      leastMs: 0,
    };
    const heard: string[] = [];
    await attempt(
      life,
      {
        name: 'sse',
        async run(line) {
          line.receive({ id, event: 'heartbeat', data: {} });
        },
      },
      memory,
      { up() {}, addDecision() {}, event: ({ event }) => heard.push(event) },
    );
    expect([memory.lastId, heard]).toEqual([kept, ['heartbeat']]);
    life.end(undefined);
    vi.useRealTimers();
  });
});
