/** A sandbox that is a thread of this process. */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { messageOf } from '../../values/errors/index.ts';
import { shortened } from '../../values/text/shortened.ts';
import { watchMemory } from './memory.ts';
import { heapLimits, threadMemory } from './thread-memory.ts';
import {
  type Death,
  hungUp,
  lastWordsMs,
  type StartTransport,
  type Transport,
  type TransportEvents,
} from './transport.ts';

/** How threads are started. */
export interface ThreadOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly maxMemoryMb: number;
}

/** The code with which a thread exits that `terminate` has ended. */
const terminated = 1;

/** Returns the function that starts such threads. */
export function threads(options: ThreadOptions): StartTransport {
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
