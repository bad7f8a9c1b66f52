/**
 * The thread that manages sandboxes. The package `run` works here, so that nothing that it does,
 * such as reading and starting programs, holds up the thread of the host.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { HostMessage, ManagerData, ManagerMessage } from './messages.ts';
import { makeWorlds } from './one-world.ts';
import { type Ended, Sandbox, type Tell } from './sandbox.ts';

/** Most programs that wait for room. */
const maxWaiting = 256;
/** Milliseconds that a program waits for room at most, and between two tries. */
const longestWaitMs = 30_000;
const tryAgainMs = 100;

type Start = Extract<HostMessage, { t: 'run' }>;

/** The programs that run, and those for which there is no room yet. */
class Programs {
  readonly #tell: Tell;
  readonly #run: typeof import('run');
  readonly #running = new Map<number, Sandbox>();
  readonly #waiting: { readonly start: Start; readonly since: number }[] = [];
  #again: NodeJS.Timeout | undefined;

  constructor(tell: Tell, run: typeof import('run')) {
    this.#tell = tell;
    this.#run = run;
  }

  hear(message: HostMessage): void {
    if (message.t === 'run') this.#begin(message, performance.now());
    else if (message.t === 'answer')
      this.#running.get(message.run)?.answer(message.request, message.json);
    else {
      const fault = { kind: 'stopped', message: 'The program was stopped.' } as const;
      this.#running.get(message.run)?.stop(fault);
      const at = this.#waiting.findIndex(({ start }) => start.run === message.run);
      if (at >= 0) this.#waiting.splice(at, 1);
    }
  }

  #begin(start: Start, since: number): void {
    const sandbox = new Sandbox(start, this.#tell, this.#run);
    this.#running.set(start.run, sandbox);
    void sandbox.run().then((ended) => this.#finished(start, since, ended));
  }

  #finished(start: Start, since: number, ended: Ended): void {
    const { run } = start;
    this.#running.delete(run);
    if (ended === 'no room') {
      if (this.#waiting.length < maxWaiting && performance.now() - since < longestWaitMs)
        this.#waiting.push({ start, since });
      else {
        const fault = { kind: 'busy', message: 'Too many programs are running.' } as const;
        this.#tell({ t: 'end', run, outcome: { ok: false, fault } });
      }
    }
    // One that has ended has made room. Otherwise, others of this process may.
    if (ended === 'over') this.#next();
    if (this.#waiting.length > 0)
      this.#again ??= setTimeout(() => {
        this.#again = undefined;
        this.#next();
      }, tryAgainMs);
  }

  #next(): void {
    const first = this.#waiting.shift();
    if (first !== undefined) this.#begin(first.start, first.since);
  }
}

makeWorlds();
const port = parentPort as NonNullable<typeof parentPort>;
const run = (await import((workerData as ManagerData).address)) as typeof import('run');
const programs = new Programs((message: ManagerMessage) => port.postMessage(message), run);
port.on('message', (message: HostMessage) => programs.hear(message));
