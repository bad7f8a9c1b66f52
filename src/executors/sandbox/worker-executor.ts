/** Handlers in threads. */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Executor } from '../../core.ts';
import { messageOf } from '../../values/errors/index.ts';
import { readOptions, type TableOf, wholeNumber, withDefault } from '../../values/options/index.ts';
import { shortened } from '../../values/text/characters.ts';
import { heapLimits, threadMemory, watchMemory } from './memory.ts';
import { sandboxExecutor } from './sandbox-executor.ts';
import { readCommon, type SandboxOptions, sandboxTable } from './sandbox-options.ts';
import {
  type Death,
  hungUp,
  lastWordsMs,
  type StartTransport,
  type Transport,
  type TransportEvents,
} from './transport.ts';

/** Options of {@link workerExecutor}. */
export interface WorkerExecutorOptions extends SandboxOptions {
  /**
   * The most memory that a thread may use, in megabytes. From 16. On Node 22.16 and later, and on
   * Node 24, this is its heap and its buffers, measured every 25 milliseconds. On older versions it
   * is only the heap, and V8 may abort the whole process if a thread with a full heap asks for much
   * at once.
   * @default 256
   */
  readonly maxMemoryMb?: number | undefined;
}

const table = {
  ...sandboxTable,
  maxMemoryMb: withDefault(wholeNumber(16, 1_048_576), 256),
} satisfies TableOf<WorkerExecutorOptions>;

/**
 * Makes an executor that runs a handler in threads of this process. A thread contains loops, exits,
 * uncaught errors, its heap and its own threads. It does not protect against malicious code, which
 * has the files, the network and the memory of this process.
 * @throws MisuseError `invalid_option`, also if the module does not exist.
 *
 * @example
 * ```ts
 * import { defineTool } from 'host-tools';
 * import { workerExecutor } from 'host-tools/sandbox';
 *
 * const sum = defineTool({
 *   name: 'sum',
 *   description: 'Adds up the rows of a sheet.',
 *   parameters: { type: 'object' },
 *   executor: workerExecutor({ module: new URL('./sum.js', import.meta.url) }),
 * });
 * ```
 */
export function workerExecutor(options: WorkerExecutorOptions): Executor {
  return threadExecutor('workerExecutor', options);
}

/**
 * {@link workerExecutor} for another caller.
 * @param where What messages begin with.
 * @param otherwise The export to take if the module has none of the first name.
 */
export function threadExecutor(
  where: string,
  options: WorkerExecutorOptions,
  otherwise?: string,
): Executor {
  const read = readOptions(where, options, table);
  const { place, limits, env } = readCommon(where, read as SandboxOptions);
  return sandboxExecutor('thread', limits, {
    start: threads({ env, maxMemoryMb: read.maxMemoryMb }),
    module: place.address,
    export: read.export,
    otherwise,
    killAfterMs: read.killAfterMs,
  });
}

// A sandbox that is a thread of this process.

/** How threads are started. */
export interface ThreadOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly maxMemoryMb: number;
}

/** The code with which a thread exits that `terminate` has ended. */
const terminated = 1;

/** Returns the function that starts such threads. */
function threads(options: ThreadOptions): StartTransport {
  return (runner, events) => startThread(runner, options, events);
}

/** Longer than 60 lines, since its short functions share the thread. */
function startThread(
  runner: string,
  { env, maxMemoryMb }: ThreadOptions,
  { message, died }: TransportEvents,
): Transport {
  // Any code in the thread can use the port that every worker has. So the messages go over a port
  // of their own.
  const { port1: port, port2 } = new MessageChannel();
  const worker = new Worker(runner, {
    eval: true,
    name: 'host-tools sandbox',
    workerData: { port: port2 },
    transferList: [port2],
    env: { ...env },
    argv: [],
    execArgv: [],
    stdin: false,
    // Nothing is read here, because the runner drops what the thread prints.
    stdout: true,
    stderr: true,
    resourceLimits: heapLimits(maxMemoryMb),
  });
  let dead = false;
  let death: Death | undefined;
  const kill = (why: Death): void => {
    death ??= why;
    void worker.terminate();
  };
  const look = threadMemory(worker);
  const memory = look && watchMemory(look, maxMemoryMb, kill);
  const take = (value: unknown): void => {
    if (dead || death?.reason === 'sandbox_protocol') return;
    if (typeof value === 'string') message(value);
    else kill({ reason: 'sandbox_protocol', text: 'sent something that is not a message' });
  };
  port.on('message', take);
  port.on('messageerror', () => take(undefined));
  port.on('close', () => {
    if (dead) return;
    worker.ref();
    setTimeout(kill, lastWordsMs, hungUp).unref();
  });
  worker.on('error', (error: unknown) => {
    if (death === undefined || death === hungUp) death = deathBy(error);
  });
  worker.on('exit', (code) => {
    // The last messages of the thread may still be in transit.
    while (death?.reason !== 'sandbox_protocol') {
      const last = receiveMessageOnPort(port);
      if (last === undefined) break;
      take(last.message);
    }
    dead = true;
    memory?.stop();
    port.close();
    // A thread with a large heap takes long to end after its channel has closed. Its own end then
    // has its own code.
    if (death === hungUp && code !== terminated) death = undefined;
    died(death ?? { reason: 'sandbox_exited', text: `exited with code ${code}` });
  });
  return {
    send: (text) => port.postMessage(text),
    // A port does not give this number. Its waiting messages are in the memory of this process
    // anyway.
    backlog: () => 0,
    kill,
    busy: (isBusy) => {
      memory?.often(isBusy);
      if (isBusy) {
        worker.ref();
        port.ref();
      } else {
        worker.unref();
        port.unref();
      }
    },
  };
}

function deathBy(error: unknown): Death {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? { reason: 'sandbox_out_of_memory', text: 'ran out of memory', cause: error }
    : {
        reason: 'sandbox_crashed',
        text: `ended because of an error that nobody caught: ${shortened(messageOf(error), 500)}`,
        cause: error,
      };
}
