/** Reading a side's log from a place. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { memoryStore } from '../../../../src/index.ts';
import {
  type LogReader,
  type LogReading,
  openLogReader,
} from '../../../../src/surfaces/relay/events/log-reader.ts';
import type { StreamEvent } from '../../../../src/surfaces/relay/events/ports.ts';
import {
  keys,
  type LogRecord,
  logKeep,
  type RequestDocument,
  type Side,
  type ToolsDocument,
} from '../../../../src/surfaces/relay/ports/documents.ts';
import { writeTools } from '../../../../src/surfaces/relay/tools/tools-document.ts';
import { kept, on, type WatchedStore, watchedStore } from '../watched-store.ts';

const code = 's';
let watched: WatchedStore;
const begin = async (): Promise<void> => {
  watched = watchedStore(memoryStore());
  await on(watched.store).create(code, keys.session, '{}', Date.now() + 3_600_000);
};
beforeEach(begin);

const append = async (record: LogRecord, side: Side = 'agent'): Promise<void> => {
  if (record.kind === 'result') {
    const document: RequestDocument = {
      tool: 't',
      hash: '',
      status: 'done',
      createdAt: 0,
      result: { success: true, output: record.id, metadata: {} } as unknown as NonNullable<
        RequestDocument['result']
      >,
    };
    await on(watched.store).set(code, keys.request(record.id), JSON.stringify(document));
  }
  await on(watched.store).append(code, side, JSON.stringify(record), logKeep);
};
const added = (name: string): LogRecord => ({
  kind: 'tools',
  added: [name],
  removed: [],
  modified: [],
  reason: 'update',
  at: 0,
});
const result = (id: string): LogRecord => ({ kind: 'result', id });
const call = (id: string, attempt = 1): LogRecord => ({ kind: 'call', id, attempt });
const tools = async (...names: string[]): Promise<void> => {
  const definitions = names.map((name) => ({ name, description: name, parameters: {} }));
  await writeTools(
    kept(watched.store),
    code,
    { revision: 1, definitions } as unknown as ToolsDocument,
    undefined,
  );
};
const open = (side: Side, after?: number, more: Partial<LogReading> = {}): Promise<LogReader> =>
  openLogReader({
    store: kept(watched.store),
    code,
    side,
    after,
    newWithinMs: 1_000,
    deliver: async (requestId, attempt, isNew) => ({ requestId, attempt, isNew: isNew() }),
    now: Date.now,
    ...more,
  });
/** Takes events, so many at most; the one after them is refused. */
const take = async (reader: LogReader, most = Number.POSITIVE_INFINITY): Promise<StreamEvent[]> => {
  const events: StreamEvent[] = [];
  for await (const event of reader.next()) {
    if (events.length >= most) break;
    events.push(event);
  }
  return events;
};
const shown = ({ id, event, data }: StreamEvent): string =>
  `${id} ${event === 'tool-availability-update' ? `${data.reason}:${(data.updates as { added: { name: string }[] }).added.map(({ name }) => name)}` : data.requestId}`;

describe("with a place of the client's own", () => {
  test('a reader continues after the place, and a refused event comes again', async () => {
    for (const id of ['a', 'b', 'c']) await append(result(id));
    const reader = await open('agent', 1);
    expect((await take(reader, 1)).map(shown)).toEqual(['2 b']);
    expect((await take(reader)).map(shown)).toEqual(['3 c']);
    await append(result('d'));
    expect((await take(reader)).map(shown)).toEqual(['4 d']);
    expect(await take(reader)).toEqual([]);
  });

  test('0 means the beginning of the log', async () => {
    await append(result('a'));
    expect((await take(await open('agent', 0))).map(shown)).toEqual(['1 a']);
    expect(await take(await open('agent', 1))).toEqual([]);
  });

  test.each([4, 1_000_000, Number.MAX_SAFE_INTEGER])(
    'that is not in this log (%i), a client gets one full update and then new events',
    async (after) => {
      await tools('x', 'y');
      for (const id of ['a', 'b', 'c']) await append(result(id));
      const reader = await open('agent', after);
      const events = await take(reader);
      expect(events.map(shown)).toEqual(['3 resync:x,y']);
      expect(events[0]?.data).toMatchObject({ resync: true, sessionCode: code });
      await append(result('d'));
      expect((await take(reader)).map(shown)).toEqual(['4 d']);
    },
  );

  test('in an empty log, a client gets one full update', async () => {
    const reader = await open('agent', 7);
    expect((await take(reader)).map(shown)).toEqual(['0 resync:']);
    await append(result('a'));
    expect((await take(reader)).map(shown)).toEqual(['1 a']);
  });

  test.each([0, 5])(
    '%i, whose next entries were dropped, a client gets one full update and the entries that are left',
    async (after) => {
      await tools('x');
      for (let index = 0; index < logKeep + 10; index++)
        await append(index % 500 === 499 ? added('x') : result(`r${index}`));
      const events = await take(await open('agent', after));
      expect(events[0] && shown(events[0])).toBe('10 resync:x');
      expect(events.filter(({ event }) => event === 'tool-availability-update')).toHaveLength(1);
      expect(events.slice(1).map(({ id }) => id)).toEqual(
        Array.from({ length: logKeep }, (_, index) => index + 11).filter((id) => id % 500 !== 0),
      );
    },
  );

  test('in a session that is gone, a client gets nothing', async () => {
    await append(result('a'));
    const reader = await open('agent', 0);
    await take(reader);
    await on(watched.store).drop(code);
    expect(await take(reader)).toEqual([]);
  });
});

describe("without a place of the client's own", () => {
  test('an application gets open calls again and the changes that it missed, but no earlier cancellations', async () => {
    const calls = new Map([
      ['open', 'open'],
      ['done', 'answered'],
    ]);
    for (const [id, state] of calls)
      await on(watched.store).set(code, keys.call(id), JSON.stringify({ state }));
    await append(added('x'), 'application');
    await append(call('open'), 'application');
    await append(call('done'), 'application');
    await append({ kind: 'cancel', id: 'done', reason: 'timeout' }, 'application');
    const first = await open('application');
    expect((await take(first)).map(({ id, event }) => `${id} ${event}`)).toEqual([
      '1 tool-availability-update',
      '2 tool-request',
    ]);
    await append(added('y'), 'application');
    const second = await open('application');
    expect((await take(second)).map(({ id, event }) => `${id} ${event}`)).toEqual([
      '2 tool-request',
      '5 tool-availability-update',
    ]);
    await append({ kind: 'cancel', id: 'open', reason: 'timeout' }, 'application');
    expect((await take(second)).map(({ event }) => event)).toEqual(['tool-cancel']);
  });

  test.each([
    [100, 100],
    [101, 1],
    [700, 1],
  ])(
    '%i missed changes are delivered as %i, once, even if the delivery is interrupted',
    async (changes, told) => {
      await tools('x');
      for (let index = 0; index < changes; index++)
        await append(added(index % 2 === 0 ? 'x' : 'y'));
      await append(result('r'));
      const cut = await open('agent');
      expect(await take(cut, told - 1)).toHaveLength(told - 1);
      const rest = await take(cut);
      expect(rest.map(({ event }) => event)).toEqual(['tool-availability-update', 'tool-result']);
      expect(await take(await open('agent'))).toEqual([]);
    },
  );

  test('changes of which some were dropped become one update with all tools', async () => {
    await tools('x', 'y');
    for (let index = 0; index < logKeep + 5; index++) await append(added('x'));
    for (const side of ['agent', 'application'] as const) {
      if (side === 'application')
        for (let index = 0; index < logKeep + 5; index++) await append(added('x'), side);
      expect((await take(await open(side))).map(shown)).toEqual(['5 resync:x,y']);
    }
  });

  test('an application that got the entries before they were dropped gets no update', async () => {
    await append(added('x'), 'application');
    for (let index = 1; index < logKeep; index++)
      await append({ kind: 'cancel', id: 'c', reason: 'timeout' }, 'application');
    await (await open('application')).remember(logKeep);
    for (let index = 0; index < 10; index++)
      await append({ kind: 'cancel', id: 'c', reason: 'timeout' }, 'application');
    expect(await take(await open('application'))).toEqual([]);
  });
});

describe('the stored place', () => {
  test('never goes back, whichever of several listeners stores it', async () => {
    for (const id of ['a', 'b', 'c']) await append(result(id));
    const [fast, slow] = [await open('agent'), await open('agent')];
    await take(slow, 1);
    await take(fast);
    await fast.remember();
    await slow.remember();
    await slow.remember(2);
    expect((await on(watched.store).get(code, [keys.cursor('agent')]))[0]?.value).toBe('3');
  });

  test('is not stored if the session is gone', async () => {
    await append(result('a'));
    const reader = await open('agent');
    await take(reader);
    await on(watched.store).drop(code);
    await reader.remember();
  });
});

test('each of several listeners gets every event', async () => {
  const readers = await Promise.all([open('agent'), open('agent'), open('agent', 0)]);
  for (const id of ['a', 'b', 'c']) {
    await append(result(id));
    for (const reader of readers)
      expect((await take(reader)).map(({ data }) => data.requestId)).toEqual([id]);
  }
});

test('a call is new if it came while the reader listened without a long pause', async () => {
  vi.useFakeTimers();
  try {
    const reader = await open('application', 0, { newWithinMs: 50 });
    const isNew = async () => (await take(reader)).map(({ data }) => data.isNew);
    await append(call('a'), 'application');
    expect(await isNew()).toEqual([false]);
    vi.advanceTimersByTime(50);
    await append(call('b'), 'application');
    expect(await isNew()).toEqual([true]);
    vi.advanceTimersByTime(51);
    await append(call('c'), 'application');
    expect(await isNew()).toEqual([false]);
    await append(call('d'), 'application');
    reader.markStale();
    expect(await isNew()).toEqual([false]);
  } finally {
    vi.useRealTimers();
  }
});

test('a call is not new if the store was slow to answer, because its caller may have given up', async () => {
  vi.useFakeTimers();
  try {
    let answersAfterMs = 0;
    const reader = await open('application', 0, {
      deliver: async (requestId, _attempt, isNew) => {
        vi.advanceTimersByTime(answersAfterMs);
        return { requestId, isNew: isNew() };
      },
    });
    const isNew = async () => (await take(reader)).map(({ data }) => data.isNew);
    await isNew();
    answersAfterMs = 500;
    await append(call('a'), 'application');
    expect(await isNew()).toEqual([true]);
    answersAfterMs = 501;
    await append(call('b'), 'application');
    expect(await isNew()).toEqual([false]);
  } finally {
    vi.useRealTimers();
  }
});

test('a claimed call that ended while its client read slowly is not sent', async () => {
  vi.useFakeTimers();
  try {
    const document = {
      tool: 't',
      args: {},
      idempotent: false,
      attempt: 1,
      epoch: 1,
      state: 'open',
    };
    const deadline = Date.now() + 10_000;
    const store = (id: string, more: object = {}) =>
      on(watched.store).set(
        code,
        keys.call(id),
        JSON.stringify({ ...document, deadline, ...more }),
      );
    const names = ['first', 'cancelled', 'overdue', 'again', 'owed'];
    const reader = await open('application', 0, {
      take: async (_offers, after) => ({
        page: await on(watched.store).read(code, 'application', after, logKeep),
        claimed: new Map(names.map((requestId) => [requestId, { requestId }])),
      }),
    });
    for (const id of names) await append(call(id), 'application');
    await store('owed');
    reader.offer({} as Parameters<LogReader['offer']>[0]);
    const events = reader.next();
    const next = async () => (await events.next()).value?.data.requestId;
    expect(await next()).toBe('first');
    vi.advanceTimersByTime(501);
    await store('cancelled', { state: 'ended' });
    await store('overdue', { deadline: Date.now() });
    // Another connection of the application has it by now.
    await store('again', { attempt: 2 });
    expect(await next()).toBe('owed');
    expect(await next()).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('a client that continues from its place gets every event once and in order, wherever it was interrupted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          { weight: 3, arbitrary: fc.nat(3) },
          { weight: 2, arbitrary: fc.constant('cut' as const) },
          { weight: 1, arbitrary: fc.constant('away' as const) },
        ),
        {
          maxLength: 30,
        },
      ),
      fc.boolean(),
      async (steps, hasAcknowledged) => {
        await begin();
        const got: number[] = [];
        let after = hasAcknowledged ? 0 : undefined;
        let reader = await open('agent', after);
        let sent = 0;
        const read = async (most?: number): Promise<void> => {
          for (const { id } of await take(reader, most)) {
            got.push(id as number);
            after = id;
          }
        };
        for (const step of steps) {
          if (step === 'away') {
            // The store goes in the middle of a pass.
            watched.holdUp('get', () => {
              watched.away = true;
            });
            await read().catch(() => {});
            watched.holdUp('get', () => {});
            watched.away = false;
            // Taken before it went, and not collected here.
            reader = await open('agent', after);
          } else if (step === 'cut') reader = await open('agent', after);
          else {
            for (let index = 0; index < step; index++) {
              sent++;
              await append(sent % 3 === 0 ? added(`t${sent}`) : result(`r${sent}`));
            }
            await read(step === 0 ? undefined : step - 1);
          }
        }
        await read();
        expect(got).toEqual(Array.from({ length: sent }, (_, index) => index + 1));
      },
    ),
    { numRuns: 150 },
  );
});

test('a read that fails in the middle continues where it failed', async () => {
  for (let index = 1; index <= 5; index++) await append(result(`r${index}`));
  const reader = await open('agent', 0);
  const got: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const { id } of reader.next()) {
      got.push(id);
      if (id === 2 || id === 4) watched.holdUp('get', () => Promise.reject(new Error('away')));
    }
  };
  await expect(read()).rejects.toMatchObject({ error: 'store_unavailable' });
  await expect(read()).rejects.toMatchObject({ error: 'store_unavailable' });
  await read();
  expect(got).toEqual([1, 2, 3, 4, 5]);
});
