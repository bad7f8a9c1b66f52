/** A program is taken back: its calls, the last one first. */
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { defineTool, memoryStore, type RevertedCalls } from '../../../src/index.ts';
import { suspending, world, yes } from './kit.ts';

test('a program is taken back by one command, in reverse order', async () => {
  const undone: string[] = [];
  const book = defineTool({
    name: 'book',
    description: 'Books a room.',
    parameters: z.object({ room: z.string() }),
    handler: ({ room }) => `booked ${room}`,
    revert: (_output, { room }) => {
      undone.push(room);
      return null;
    },
  });
  const { session, did } = world({ tools: [book] });
  const code =
    'await tools.book({ room: "a" }); await tools.read({ id: "x" });' +
    'await tools.book({ room: "b" }); return "two rooms"';
  const { success, metadata } = await session.call('run_code', { code });
  expect(success).toBe(true);
  const result = await session.revert(metadata.callId);
  expect((result.output as RevertedCalls).reverted.length).toBe(2);
  expect(undone).toEqual(['b', 'a']);
  expect(did).toEqual(['read x']);
  expect((await session.revert(metadata.callId)).error?.reason).toBe('already_reverted');
});

/** A hotel, whose bookings can be taken back, and a mail, which cannot. */
function hotel() {
  const undone: string[] = [];
  const fails = new Set<string>();
  const book = defineTool({
    name: 'book',
    description: 'Books a room.',
    parameters: z.object({ room: z.string() }),
    handler: ({ room }) => {
      if (room === 'none') throw new Error('the hotel is full');
      return `booked ${room}`;
    },
    revert: (_output, { room }) => {
      if (fails.has(room)) throw new Error('the hotel is closed');
      undone.push(room);
      return null;
    },
  });
  const mail = defineTool({
    name: 'mail',
    description: 'Sends a mail.',
    parameters: z.object({}),
    handler: () => 'sent',
  });
  return { tools: [book, mail], book, undone, fails };
}

const trip =
  'await tools.read({ id: "x" }); await tools.book({ room: "a" }); await tools.mail({});' +
  'await tools.book({ room: "none" }).catch(() => {}); await tools.book({}).catch(() => {});' +
  'await tools.book({ room: "b" }); return "two rooms"';

test.each([
  ['without a store', {}],
  ['with a store', { store: memoryStore() }],
])('the calls that stay are named, %s', async (_name, registry) => {
  const { tools, undone } = hotel();
  const { session } = world({ tools, registry });
  const { metadata } = await session.call('run_code', { code: trip });
  const { callId } = metadata;
  const result = await session.revert(callId);
  // Reading leaves nothing to take back, and a call with a wrong input never ran.
  const left = [
    { callId: `${callId}/4`, toolName: 'book', reason: 'not_succeeded' },
    { callId: `${callId}/3`, toolName: 'mail', reason: 'no_revert' },
  ];
  expect(result.output).toEqual({ reverted: [`${callId}/6`, `${callId}/2`], left });
  expect(undone).toEqual(['b', 'a']);
  const again = await session.revert(callId);
  expect(again.error).toMatchObject({ reason: 'already_reverted', details: { left } });
});

test('a program of which nothing can be taken back says what it did', async () => {
  const { tools } = hotel();
  const { session } = world({ tools });
  const { metadata } = await session.call('run_code', { code: 'await tools.mail({})' });
  const left = [{ callId: `${metadata.callId}/1`, toolName: 'mail', reason: 'no_revert' }];
  expect((await session.revert(metadata.callId)).error).toMatchObject({
    reason: 'unknown_call',
    details: { reverted: [], left },
  });
});

test('a `revert` that fails stops it, and the next attempt leaves that call out', async () => {
  const { tools, undone, fails } = hotel();
  const { session } = world({ tools });
  const code = 'for (const room of ["a", "b", "c"]) await tools.book({ room });';
  const { callId } = (await session.call('run_code', { code })).metadata;
  fails.add('b');
  expect((await session.revert(callId)).error).toMatchObject({
    code: 'handler_error',
    details: { reverted: [`${callId}/3`], left: [], stoppedAt: `${callId}/2` },
  });
  expect(undone).toEqual(['c']);
  expect((await session.revert(callId)).output).toEqual({
    reverted: [`${callId}/1`],
    left: [{ callId: `${callId}/2`, toolName: 'book', reason: 'revert_ran' }],
  });
  expect(undone).toEqual(['c', 'a']);
});

test('a call whose tool was changed is left out and named, and the others are taken back', async () => {
  const { tools, undone } = hotel();
  const other = defineTool({
    name: 'rent',
    description: 'Rents a car.',
    parameters: z.object({}),
    handler: () => 'a car',
    revert: () => undone.push('car'),
  });
  const { registry, session } = world({ tools: [...tools, other] });
  const code = 'await tools.rent({}); await tools.book({ room: "a" });';
  const { callId } = (await session.call('run_code', { code })).metadata;
  registry.registerOrReplace(
    defineTool({
      name: 'book',
      description: 'Books a room in another way.',
      parameters: z.object({ room: z.string() }),
      handler: () => null,
      revert: () => undone.push('wrong'),
    }),
  );
  expect((await session.revert(callId)).output).toEqual({
    reverted: [`${callId}/1`],
    left: [{ callId: `${callId}/2`, toolName: 'book', reason: 'definition_changed' }],
  });
  expect(undone).toEqual(['car']);
});

test('a program that runs is not taken back', async () => {
  const { tools, undone } = hotel();
  let go: (() => void) | undefined;
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    parameters: z.object({}),
    annotations: { readOnly: true },
    handler: () =>
      new Promise<null>((resolve) => {
        go = () => resolve(null);
      }),
  });
  const { registry, session } = world({ tools: [...tools, wait], session: { principal: 'ann' } });
  const code = 'await tools.book({ room: "a" }); await tools.wait({});';
  const running = session.call('run_code', { code }, { callId: 'p' });
  await vi.waitFor(() => expect(go).toBeDefined());
  const other = registry.createSession({ sessionId: 'other', principal: 'ann' });
  for (const asking of [session, other])
    expect((await asking.revert('p')).error).toMatchObject({
      code: 'invalid_input',
      reason: 'still_running',
      retryable: true,
    });
  expect(undone).toEqual([]);
  go?.();
  await running;
  expect((await session.revert('p')).success).toBe(true);
  expect(undone).toEqual(['a']);
});

test('a program that waits for a person is taken back once it has ended, in any process', async () => {
  const { tools, undone } = hotel();
  const store = memoryStore();
  const options = { tools, registry: { store } };
  const { registry, session } = suspending(options);
  const elsewhere = suspending({ ...options, session: { sessionId: 'elsewhere' } });
  const code = 'await tools.book({ room: "a" }); await tools.pay({ amount: 20 });';
  const { callId, status } = (await session.call('run_code', { code })).metadata;
  expect(status).toBe('pending');
  for (const asking of [session, elsewhere.session])
    expect((await asking.revert(callId)).error?.reason).toBe('still_running');
  const [question] = await registry.approvals.pending();
  await registry.approvals.answer(question?.id ?? '', yes);
  await vi.waitFor(async () =>
    expect((await session.approvals.outcome(callId)).status).toBe('settled'),
  );
  const result = await elsewhere.session.revert(callId);
  expect(result.output).toEqual({
    reverted: [`${callId}/1`],
    left: [{ callId: `${callId}/2`, toolName: 'pay', reason: 'no_revert' }],
  });
  expect(undone).toEqual(['a']);
});

test('all calls of a program with the most calls are taken back', async () => {
  const { tools, undone } = hotel();
  const { session } = world({ tools, session: { code: { maxCalls: 1_200 } } });
  const code = 'for (let n = 0; n < 1_100; n++) await tools.book({ room: String(n) });';
  const { callId } = (await session.call('run_code', { code })).metadata;
  const { reverted } = (await session.revert(callId)).output as RevertedCalls;
  expect([reverted.length, undone[0], undone.at(-1)]).toEqual([1_100, '1099', '0']);
});
