import { describe, expect, test } from 'vitest';
import { createLineQueue } from '../../../src/surfaces/audit/line-queue.ts';
import type { LineWriter } from '../../../src/surfaces/audit/writers.ts';

function queueOver(writer: Partial<LineWriter>, fsync: 'always' | 'batch') {
  const written: string[] = [];
  const queue = createLineQueue({
    writer: {
      write: async (lines) => {
        written.push(...lines.map(({ text }) => text));
        return lines.length;
      },
      sync: async () => {},
      close: async () => {},
      writeNow: () => 0,
      ...writer,
    },
    head: { seq: 0, hash: '' },
    fsync,
    failed: () => {},
    emptied: () => {},
  });
  let seq = 0;
  /** Resolves once the line is written, with the error if there is one. */
  const add = (text: string): Promise<unknown> =>
    new Promise((told) => {
      seq++;
      queue.add({ text, rotates: false }, { seq, hash: text }, told);
    });
  return { queue, add, written };
}

describe('a line that comes while the queue is busy', () => {
  test('is written if it comes during a sync', async () => {
    let synced = (): void => {};
    let syncing = (): void => {};
    const started = new Promise<void>((resolve) => {
      syncing = resolve;
    });
    const { queue, add, written } = queueOver(
      {
        sync: () =>
          new Promise((resolve) => {
            synced = resolve;
            syncing();
          }),
      },
      'batch',
    );
    await add('a');
    const flushed = queue.flush();
    await started;
    const second = add('b');
    synced();
    await flushed;
    expect(await second).toBeUndefined();
    expect(written).toEqual(['a', 'b']);
  });

  test.each(['always', 'batch'] as const)(
    'is written if it comes in any turn after another one: %s',
    async (fsync) => {
      for (let turns = 0; turns < 20; turns++) {
        const { add, written } = queueOver({}, fsync);
        await add('a');
        for (let turn = 0; turn < turns; turn++) await undefined;
        expect(await add('b')).toBeUndefined();
        expect(written).toEqual(['a', 'b']);
      }
    },
  );
});

test('a process that was busy for so long that calls give up waiting has not stopped writing', async () => {
  const block = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
  let writes = 0;
  const write = (): Promise<number> =>
    new Promise((resolve) => {
      setImmediate(resolve, 1);
      // After this line was taken, and before the next one is.
      if (++writes === 3) setImmediate(block);
    });
  const { queue, add } = queueOver({ write }, 'batch');
  for (let line = 0; line < 6_000; line++) void add('x');
  let isLetIn = false;
  const waits = queue.moreRoom()?.then(() => {
    isLetIn = true;
  });
  expect(waits).toBeDefined();
  while (writes < 10) await new Promise((resolve) => void setImmediate(resolve));
  expect(isLetIn).toBe(false);
  await Promise.all([waits, queue.close()]);
});
