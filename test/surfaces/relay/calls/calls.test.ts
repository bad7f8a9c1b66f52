/** Calls on their way to the application: written down, waited for, given up. */
import { describe, expect, test, vi } from 'vitest';
import type { Store } from '../../../../src/extend.ts';
import type { ToolContext } from '../../../../src/index.ts';
import { memoryStore } from '../../../../src/index.ts';
import {
  type CallDocument,
  keys,
  type SessionDocument,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { leaseMs, nodeOf, pass, streamWorld } from '../events/stream-world.ts';
import { listen, type Node, relayWorld } from '../relay-world.ts';
import { on } from '../watched-store.ts';

const now = streamWorld();

interface Asked {
  readonly outcome: Promise<unknown>;
  readonly settled: unknown[];
  abort(reason?: unknown): void;
}

/** Runs a call as the spine does. */
const ask = (
  node: Node,
  { code }: SessionDocument,
  id = 'c',
  { idempotent = false, deadline = Date.now() + 60_000 } = {},
): Asked => {
  const controller = new AbortController();
  const context = {
    idempotencyKey: id,
    callId: id,
    toolName: 'act',
    signal: controller.signal,
    deadline,
  } as unknown as ToolContext;
  const settled: unknown[] = [];
  const outcome = node.calls
    .run(code, { n: 1 }, context, idempotent)
    .catch((error: unknown) => error);
  void outcome.then((value) => settled.push(value));
  return { outcome, settled, abort: (reason) => controller.abort(reason) };
};
const documentOf = async (
  { code }: SessionDocument,
  id = 'c',
): Promise<CallDocument | undefined> => {
  const [stored] = await on(now.world.store).get(code, [keys.call(id)]);
  return stored && (JSON.parse(stored.value) as CallDocument);
};
const timeout = () => new DOMException('late', 'TimeoutError');
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a call', () => {
  test("is settled by the application's answer at any node, and leaves no arguments or answer behind", async () => {
    const [one, other] = [nodeOf(now), nodeOf(now)];
    const session = await now.world.session();
    const application = await listen(other, session, { answer: ({ args }) => args });
    const asked = ask(one, session);
    await pass(10);
    expect(asked.settled).toEqual([{ n: 1 }]);
    expect(application.of('tool-request')).toMatchObject([
      { data: { tool: 'act', args: { n: 1 }, attempt: 1 } },
    ]);
    expect(await documentOf(session)).toEqual(
      expect.not.objectContaining({ args: expect.anything(), answer: expect.anything() }),
    );
    expect(now.ports.listening).toBe(1);
  });

  test('takes the first answer; later answers change nothing, and one to an unknown call is refused', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await listen(one, session);
    const asked = ask(one, session);
    await pass(0);
    expect(await one.calls.answer(session.code, 'c', { result: 'first' })).toBe(true);
    expect(await one.calls.answer(session.code, 'c', { result: 'second' })).toBe(true);
    expect(await one.calls.answer(session.code, 'other', { result: 1 })).toBe(false);
    const another = await now.world.session();
    expect(await one.calls.answer(another.code, 'c', { result: 1 })).toBe(false);
    await pass(10);
    expect(asked.settled).toEqual(['first']);
    expect(await one.calls.answer(session.code, 'c', { result: 'third' })).toBe(true);
  });

  test('that is answered before its node looks is settled at once', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await listen(one, session, { answer: () => 'early' });
    // The answer comes before the node knows that the call is stored.
    now.ports.holdBack('append', async () => {
      await one.calls.answer(session.code, 'c', { result: 'early' });
    });
    const asked = ask(one, session);
    await pass(1);
    expect(asked.settled).toEqual(['early']);
  });

  test('that ends before the store has stored it reaches no application', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await listen(one, session);
    let asked: Asked | undefined;
    now.ports.holdUp('set', () => {
      asked?.abort(timeout());
      return delay(5);
    });
    asked = ask(one, session);
    await pass(10);
    const { entries } = await on(now.world.store).read(session.code, 'application', 0, 10);
    expect(entries.map(({ value }) => JSON.parse(value).kind)).not.toContain('call');
    expect(asked.settled).toHaveLength(1);
    expect((await documentOf(session))?.state).toBe('ended');
  });

  test.each([
    ['a call of this node alone', false],
    ['a call that another node may have to finish', true],
  ])('that ends while its entry is being stored is not delivered (%s)', async (_, isKept) => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const application = await listen(one, session);
    if (isKept) one.calls.keep(session.code, 'c');
    now.ports.holdUp('append', () => delay(2_000));
    const asked = ask(one, session);
    await pass(10);
    asked.abort(timeout());
    await pass(3_000);
    expect(application.of('tool-request')).toEqual([]);
    expect(asked.settled).toHaveLength(1);
    expect((await documentOf(session))?.state).toBe('ended');
  });

  test('that ends while the entry of its second delivery is being stored is not delivered again', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const application = await listen(one, session);
    one.calls.keep(session.code, 'c');
    const asked = ask(one, session);
    await pass(10);
    now.ports.holdUp('append', () => delay(2_000));
    await pass(leaseMs * 1.5);
    asked.abort(timeout());
    await pass(3_000);
    expect(application.of('tool-request').map(({ data }) => data.attempt)).toEqual([1]);
    expect(application.of('tool-cancel')).toMatchObject([{ data: { reason: 'timeout' } }]);
  });

  test('whose claim is stored only after its deadline is not delivered', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const application = await listen(one, session);
    const asked = ask(one, session, 'c', { deadline: Date.now() + 1_000 });
    // The claim is the second write; the first one stores the call.
    now.ports.holdUp('set', () => now.ports.holdUp('set', () => delay(2_000)));
    await pass(3_000);
    expect(application.of('tool-request').filter(({ data }) => data.attempt === 1)).toEqual([]);
    asked.abort(timeout());
    await pass(10);
    expect(asked.settled).toHaveLength(1);
  });

  test('is settled without wake-ups within a heartbeat and a quarter of a lease', async () => {
    const one = nodeOf(now, { heartbeatMs: 100 });
    const session = await now.world.session();
    now.ports.deaf = true;
    await listen(one, session, { answer: () => 'deaf' });
    const asked = ask(one, session);
    await pass(100 + leaseMs / 4);
    expect(asked.settled).toEqual(['deaf']);
  });

  test.each([
    ['timeout', timeout()],
    ['cancelled', new Error('stop')],
  ])('that ends as %s is cancelled at the application', async (reason, cause) => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const application = await listen(one, session);
    const asked = ask(one, session);
    await pass(10);
    asked.abort(cause);
    await pass(10);
    expect(asked.settled).toHaveLength(1);
    expect(application.of('tool-cancel')).toMatchObject([{ data: { requestId: 'c', reason } }]);
    expect(await documentOf(session)).toMatchObject({ state: 'ended' });
    expect(now.ports.listening).toBe(1);
  });

  test('without an application is given up after a lease', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const asked = ask(one, session);
    await pass(leaseMs - 1);
    expect(asked.settled).toEqual([]);
    await pass(leaseMs / 2);
    expect(asked.settled).toMatchObject([
      { message: 'No application is connected to the session.' },
    ]);
  });

  test('is not given up because leases expired while the store was unavailable', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await listen(one, session);
    const asked = ask(one, session);
    await pass(10);
    now.ports.away = true;
    await pass(leaseMs * 5);
    now.ports.away = false;
    await pass(leaseMs * 3);
    expect(asked.settled).toEqual([]);
    await one.calls.answer(session.code, 'c', { result: 'still' });
    await pass(10);
    expect(asked.settled).toEqual(['still']);
  });

  test.each(['set', 'append', 'get'] as const)(
    'ends if the store fails when the call begins (%s)',
    async (operation) => {
      const one = nodeOf(now);
      const session = await now.world.session();
      now.ports.holdUp(operation, () => Promise.reject(new Error('away')));
      const asked = ask(one, session);
      await pass(leaseMs * 3);
      expect(asked.settled).toHaveLength(1);
      if (operation !== 'get')
        expect(asked.settled).toMatchObject([{ reason: 'store_unavailable' }]);
      expect(now.ports.listening).toBe(0);
    },
  );

  test('whose session is deleted ends', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const asked = ask(one, session);
    await pass(10);
    await on(now.world.store).drop(session.code);
    one.hub.wake(session.code, 'closed');
    await pass(10);
    expect(asked.settled).toMatchObject([
      {
        message: expect.stringMatching(
          /^The relay session has expired or was deleted.* create a new/,
        ),
      },
    ]);
  });

  test('is delivered again after each lease without an answer, with a growing attempt', async () => {
    const one = nodeOf(now);
    const session = await now.world.session();
    const application = await listen(one, session);
    const asked = ask(one, session);
    await pass(leaseMs * 3.5);
    expect(application.of('tool-request').map(({ data }) => data.attempt)).toEqual([1, 2, 3, 4]);
    asked.abort(timeout());
    await pass(leaseMs * 3);
    expect(application.of('tool-request')).toHaveLength(4);
  });

  test('reaches an application that connects after the clock has jumped, within two leases', async () => {
    let skew = 0;
    const one = nodeOf(now, { now: () => Date.now() + skew });
    const session = await now.world.session(undefined, 86_400_000);
    (await listen(one, session)).close();
    const asked = ask(one, session);
    skew = 3_600_000;
    await listen(one, session, { answer: () => 'there' });
    await pass(leaseMs * 2);
    expect(asked.settled).toEqual(['there']);
  });

  test('that was begun by a node that is gone is joined and not sent again', async () => {
    const [dying, heir] = [nodeOf(now), nodeOf(now)];
    const session = await now.world.session();
    const application = await listen(heir, session);
    dying.calls.leave();
    ask(dying, session).abort();
    await pass(10);
    expect(await documentOf(session)).toMatchObject({ state: 'open' });
    const asked = ask(heir, session);
    await pass(10);
    await heir.calls.answer(session.code, 'c', { result: 'kept' });
    await pass(10);
    expect(asked.settled).toEqual(['kept']);
    expect(new Set(application.of('tool-request').map(({ data }) => data.requestId))).toEqual(
      new Set(['c']),
    );
  });
});

describe("an application's answer", () => {
  test.each([
    [{ result: null }, null],
    [{ result: false }, false],
    [{ error: 'plain' }, 'plain'],
    [{ error: { message: 'said', reason: 'no_rows' } }, 'said'],
    [{ error: null }, 'The application reported a failure without a message.'],
    [{ error: { code: 7 } }, 'The application reported a failure without a message.'],
  ])('%j becomes the outcome', async (answer, shown) => {
    const one = nodeOf(now);
    const session = await now.world.session();
    await listen(one, session);
    const asked = ask(one, session);
    await pass(0);
    await one.calls.answer(session.code, 'c', answer);
    await pass(10);
    if ('result' in answer) expect(asked.settled).toEqual([shown]);
    else expect(JSON.stringify(asked.settled)).toContain(String(shown));
  });
});

test('a thousand calls that have ended leave no timers of their own and no subscription', async () => {
  const one = nodeOf(now);
  const session = await now.world.session();
  await listen(one, session, { answer: ({ requestId }) => requestId });
  await pass(10);
  const timers = vi.getTimerCount();
  const all = Array.from({ length: 1_000 }, (_, index) => ask(one, session, `c${index}`));
  await Promise.all(all.map(({ outcome }) => outcome));
  // A second later the counts of the calls are stored too.
  await pass(1_000);
  expect([vi.getTimerCount(), now.ports.listening]).toEqual([timers, 1]);
  expect(all.map(({ settled }) => settled)).toEqual(all.map((_, index) => [`c${index}`]));
});

test('a call whose document changes before every write is refused as busy, not tried for ever', async () => {
  const store = memoryStore();
  let writes = 0;
  const apply: Store['apply'] = async (space, ops) => {
    if (!ops.some((each) => each.op === 'set' && each.key === keys.call('c')))
      return store.apply(space, ops);
    if (++writes > 1_000) throw new Error('This would never end.');
    return { refused: 0, gone: false, retryAfterMs: 0 };
  };
  const world = relayWorld({ ...store, apply });
  const { calls } = world.node();
  const { code } = await world.session();
  const document = { tool: 't', deadline: 0, idempotent: false, attempt: 0, epoch: 0 };
  await on(store).set(code, keys.call('c'), JSON.stringify({ ...document, state: 'open' }));
  const busy = { status: 503, error: 'busy' };
  await expect(calls.answer(code, 'c', { result: 1 })).rejects.toMatchObject(busy);
  await expect(calls.end(code, 'c', 'cancelled')).rejects.toMatchObject(busy);
  const to = { epoch: 1, client: undefined, isNew: () => true };
  await expect(calls.deliver(code, 'c', 1, to)).rejects.toMatchObject(busy);
  expect(writes).toBe(60);
});
