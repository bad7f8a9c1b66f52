/** One sandbox, with a transport that the test speaks for. */
import { expect, test } from 'vitest';
import type { ToolContext } from '../../src/index.ts';
import { Cell } from '../../src/sandbox/cell.ts';
import type { TransportEvents } from '../../src/sandbox/transport.ts';
import { stopOf } from '../../src/surface-port.ts';

test('one that dies in the turn in which it was ready loses its call', async () => {
  let events: TransportEvents | undefined;
  const told: string[] = [];
  const cell = new Cell(
    '',
    {
      start: (_runner, heard) => {
        events = heard;
        return { send: () => undefined, kill: () => undefined, busy: () => undefined };
      },
      module: 'file:///tool.mjs',
      export: 'default',
      killAfterMs: 100,
    },
    { ready: () => told.push('ready'), gone: () => told.push('gone') },
  );
  events?.message('{"t":"up"}');
  events?.message('{"t":"ready"}');
  events?.died({ reason: 'sandbox_exited', text: 'exited with code 3' });
  expect(told).toEqual(['ready', 'gone']);

  const context = { signal: new AbortController().signal } as ToolContext;
  await expect(cell.run({}, context, stopOf(context))).rejects.toMatchObject({
    message: "The tool's sandbox exited with code 3. The call may have had effects.",
  });
});
