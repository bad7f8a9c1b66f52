/** Where the ids of calls come from, and which of them are kept. */
import { describe, expect, test } from 'vitest';
import { stateOf } from '../../../src/core/session/session.ts';
import type { SessionOptions } from '../../../src/index.ts';
import { define, setup } from './define.ts';
import { gate, outcome } from './world.ts';

const held = (newId?: () => string, options: Partial<SessionOptions> = {}) => {
  const hold = gate<number>();
  const made = setup(
    [define('hold', { handler: () => hold.promise }), define('t')],
    options,
    newId === undefined ? {} : { newId },
  );
  return { ...made, hold };
};

describe('an id that the caller gives', () => {
  test.each([
    ['of one character', 'x', true],
    ['of 1 024 characters', 'x'.repeat(1_024), true],
    ['of 1 025 characters', 'x'.repeat(1_025), false],
    ['that is empty', '', false],
    ['that is no text', 7, false],
    ['that is an object', { length: 3 }, false],
  ])('%s is taken: %#', async (_, callId, taken) => {
    const { session, events } = setup([define('t')]);
    const result = await session.call('t', {}, { callId: callId as string });
    expect(result.success).toBe(taken);
    if (taken) return;
    expect(result.error).toMatchObject({
      code: 'invalid_input',
      reason: 'invalid_call_id',
      message: 'Expected the call id to be a string of 1 to 1024 characters.',
    });
    expect(events).toEqual([]);
  });

  test(
    'is refused while a call has it, whether that was given one or not, is counted, and is told ' +
      'of in no event',
    async () => {
      let made = 0;
      const { session, events, hold } = held(() => `made-${++made}`);
      const calls = [session.call('hold'), session.call('hold', {}, { callId: 'mine' })];
      const before = events.length;
      for (const callId of ['made-1', 'mine']) {
        expect((await session.call('t', {}, { callId })).error).toMatchObject({
          code: 'duplicate_call_id',
          message: `A call with the id \`${callId}\` is in flight. Use a new id for a new call.`,
        });
      }
      expect(events).toHaveLength(before);
      expect(session.metrics()).toMatchObject({ calls: 2, rejected: 2 });
      hold.open(1);
      await Promise.all(calls);
      expect(outcome(await session.call('t', {}, { callId: 'made-1' }))).toBe('ran');
    },
  );

  test('may be that of a call of another session', async () => {
    const { session, registry, hold } = held();
    const other = registry.createSession({ sessionId: 'other' });
    const calling = session.call('hold', {}, { callId: 'same' });
    expect(outcome(await other.call('t', {}, { callId: 'same' }))).toBe('ran');
    hold.open(1);
    await calling;
  });

  test('may be one that the library gave to a call of another session', async () => {
    let made = 0;
    const { session, registry, hold } = held(() => `made-${++made}`);
    const other = registry.createSession({ sessionId: 'other' });
    const calls = [
      other.call('hold'),
      session.call('hold'),
      session.call('hold', {}, { callId: 'mine' }),
    ];
    expect(outcome(await session.call('t', {}, { callId: 'made-1' }))).toBe('ran');
    hold.open(1);
    expect((await Promise.all(calls)).map(({ metadata }) => metadata.callId)).toEqual([
      'made-1',
      'made-2',
      'mine',
    ]);
  });
});

describe('an id that no caller gives', () => {
  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['answers nothing', () => undefined],
    ['answers a number', () => 7],
    ['answers an empty text', () => ''],
  ])('is counted by the session where `newId` %s', async (_, newId) => {
    const { session } = setup(
      [define('t')],
      { sessionId: 'talk' },
      { newId: newId as () => string },
    );
    const ids = [await session.call('t'), await session.call('t')].map(
      ({ metadata }) => metadata.callId,
    );
    expect(ids).toEqual(['talk-1', 'talk-2']);
  });

  test('is not kept while no caller gives one, so a repeated id costs nothing', async () => {
    const { session, hold } = held(() => 'again');
    const calls = [session.call('hold'), session.call('hold')];
    expect(stateOf(session).calls.ids).toBeUndefined();
    hold.open(1);
    expect((await Promise.all(calls)).map(outcome)).toEqual([1, 1]);
  });

  test('is kept once a caller has given one: it then has to be new, too', async () => {
    const { session, hold } = held(() => 'again');
    const calls = [session.call('hold', {}, { callId: 'mine' }), session.call('hold')];
    expect(outcome(await session.call('t'))).toBe('duplicate_call_id');
    hold.open(1);
    await Promise.all(calls);
  });
});
