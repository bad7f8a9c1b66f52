/** Whatever a handler does, only its sandbox dies: the call says why, and the next one works. */
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { workerExecutor } from '../../../src/executors/sandbox/index.ts';
import type { ToolResult } from '../../../src/index.ts';
import { handlerOf, kinds, sandboxed } from './executors.ts';

/** What a call ended with: its output, or its code and reason. */
function endOf(result: ToolResult): unknown {
  if (result.success) return result.output;
  const { code, reason } = result.error;
  return reason === undefined ? code : `${code} ${reason}`;
}

describe.each(kinds)('%s', (kind, make) => {
  const executor = make({
    module: handlerOf('catastrophes'),
    maxMemoryMb: kind === 'thread' ? 64 : 160,
    pool: { max: 3 },
  });
  const { registry, run } = sandboxed(executor, { events: [] });
  afterAll(() => registry.close());

  /** Runs a deed, and then a good one, which has to be served at once. */
  async function survive(deed: string, options?: { timeoutMs?: number }): Promise<ToolResult> {
    await run({ do: 'nothing' });
    const result = await run({ do: deed }, options);
    const started = performance.now();
    expect(endOf(await run({ do: 'nothing' }))).toBe('fine');
    // The goal is 100 ms; the machine of a test may be busy.
    expect(performance.now() - started).toBeLessThan(60_000);
    return result;
  }

  test('an endless loop is killed when its call times out', async () => {
    const result = await survive('loop', { timeoutMs: 100 });
    expect(endOf(result)).toBe('timeout timeout');
  });

  test('process.exit ends the call with the code', async () => {
    const result = await survive('exit');
    expect(endOf(result)).toBe('executor_lost sandbox_exited');
    expect(result.error?.message).toBe(
      "The tool's sandbox exited with code 7. The call may have had effects.",
    );
  });

  test('an error in a timer that nobody catches is named', async () => {
    const result = await survive('throwLater');
    expect(endOf(result)).toBe('executor_lost sandbox_crashed');
    expect(result.error?.message).toBe(
      "The tool's sandbox ended because of an error that nobody caught: thrown in a timer. The " +
        'call may have had effects.',
    );
  });

  test('a rejection that nobody handles is named', async () => {
    const result = await survive('reject');
    expect(endOf(result)).toBe('executor_lost sandbox_crashed');
    expect(result.error?.message).toContain('rejected in the dark');
  });

  test('a bomb on the heap ends as out of memory', async () => {
    expect(endOf(await survive('heap'))).toBe('executor_lost sandbox_out_of_memory');
  });

  test.runIf(kind === 'process')('so does one whose process takes long to end', async () => {
    expect(endOf(await survive('slowDeath'))).toBe('executor_lost sandbox_out_of_memory');
  });

  // Elsewhere a thread cannot be watched, and V8 aborts the whole process.
  const watched = kind === 'process' || 'getHeapStatistics' in Worker.prototype;

  test.runIf(watched).each(['heapAtOnce', 'offHeap'])(
    'so does one that V8 itself does not contain: %s',
    async (deed) => {
      const result = await survive(deed);
      expect(endOf(result)).toBe('executor_lost sandbox_out_of_memory');
      if (deed === 'offHeap')
        expect(result.error?.message).toMatch(
          /^The tool's sandbox used \d+ MB of memory, which is more than its \d+ MB, and was ended\. /,
        );
    },
  );

  test('noise on stdout and stderr is neither heard nor taken for messages', async () => {
    expect(endOf(await survive('noise'))).toBe('quiet');
  });

  test('dying in the middle of a message loses the call alone', async () => {
    expect(endOf(await survive('halfMessage'))).toMatch(
      /^executor_lost sandbox_(exited|protocol)$/,
    );
  });

  test.each(['hugeMessage', 'denseMessage', 'deepMessage'])(
    'too much on the channel is a fault of the sandbox: %s',
    async (deed) => {
      expect(endOf(await survive(deed))).toBe('executor_lost sandbox_protocol');
    },
  );

  test('more messages than a busy host has confirmed are a fault of the sandbox', async () => {
    // A host that reads faster than its sandbox writes confirms each message in time, however many
    // there are. So this one has other work in between.
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const work = setInterval(() => Atomics.wait(pause, 0, 0, 50), 1);
    onTestFinished(() => clearInterval(work));
    const result = await survive('flood');
    expect(endOf(result)).toBe('executor_lost sandbox_protocol');
    expect(result.error?.message).toContain('sent more messages than the host can take');
  });

  test.each(['forgeKind', 'forgeMember', 'forgeReady', 'garbage', 'object'])(
    'a message that the protocol does not have is a fault of the sandbox: %s',
    async (deed) => {
      expect(endOf(await survive(deed))).toBe('executor_lost sandbox_protocol');
    },
  );

  test('a handler that emits far too much is slowed down, and ends', async () => {
    // Also where an earlier call has sent messages that nobody in there has counted.
    for (let call = 0; call < 4; call++) await run({ do: 'forgeOther' });
    expect(endOf(await survive('emitFlood'))).toBe('sent');
  });

  test('only the first of several answers counts', async () => {
    // A fresh pool: the number of a call within its sandbox is then known.
    const fresh = sandboxed(make({ module: handlerOf('catastrophes'), pool: { calls: 1 } }));
    expect(endOf(await fresh.run({ do: 'twice', id: 1 }))).toBe('first');
    expect(endOf(await fresh.run({ do: 'nothing' }))).toBe('fine');
    await fresh.registry.close();
  });

  test('one that closes its channel and goes on is ended', async () => {
    expect(endOf(await survive('hangUp'))).toMatch(/^executor_lost sandbox_(exited|protocol)$/);
  });

  test('an answer to another call is not taken', async () => {
    expect(endOf(await survive('forgeOther'))).toBe('honest');
  });

  test('a forged output with __proto__ pollutes nothing', async () => {
    const fresh = sandboxed(make({ module: handlerOf('catastrophes'), pool: { calls: 1 } }));
    await fresh.run({ do: 'forgeProto', id: 1 });
    expect(({} as { polluted?: boolean }).polluted).toBe(undefined);
    await fresh.registry.close();
  });

  test('what it posts on the port of its thread goes nowhere', async () => {
    expect(endOf(await survive('parentPort'))).toBe('said');
  });

  test('breaking JSON in there breaks that sandbox alone', async () => {
    expect(endOf(await survive('brokenJson'))).toBe('executor_lost sandbox_protocol');
  });

  test('a handler that ignores its signal is killed, and one that obeys is kept', async () => {
    expect(endOf(await survive('stubborn', { timeoutMs: 50 }))).toBe('timeout timeout');
    expect(endOf(await survive('obedient', { timeoutMs: 50 }))).toBe('timeout timeout');
  });

  test('calls at once do not meet: one dies, the others end well', async () => {
    const ends = await Promise.all(
      ['nothing', 'exit', 'noise', 'throwLater', 'nothing', 'nothing'].map(async (deed) =>
        endOf(await run({ do: deed })),
      ),
    );
    expect(ends).toEqual([
      'fine',
      'executor_lost sandbox_exited',
      'quiet',
      'executor_lost sandbox_crashed',
      'fine',
      'fine',
    ]);
  });
});

describe('thread', () => {
  test('one that takes long to end, since its heap is large, ends with its own code', async () => {
    const { registry, run } = sandboxed(
      workerExecutor({ module: handlerOf('catastrophes'), maxMemoryMb: 1_024, pool: { max: 1 } }),
    );
    const result = await run({ do: 'exitWithHeap' });
    expect(endOf(result)).toBe('executor_lost sandbox_exited');
    expect(result.error?.message).toContain('exited with code 7');
    await registry.close();
  });
});

describe('process', () => {
  const [, [, make]] = kinds as [never, (typeof kinds)[number]];

  test('a process that something kills ends its call with the signal', async () => {
    const { registry, run } = sandboxed(make({ module: handlerOf('catastrophes') }));
    const result = await run({ do: 'kill' });
    expect(endOf(result)).toBe('executor_lost sandbox_exited');
    expect(result.error?.message).toContain('was killed by SIGKILL');
    await registry.close();
  });
});
