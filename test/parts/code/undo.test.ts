/** A program is taken back: its calls, the last one first. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type RevertedCalls } from '../../../src/index.ts';
import { world } from './kit.ts';

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
