/** Real worker processes of a fleet, which can be killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { program } from '../../runner/programs.ts';
import type { ServeOrder } from './fleet-worker.ts';

export interface WorkerProcess {
  readonly pid: number;
  readonly alive: boolean;
  /** Resolves when it serves the queue. */
  serve(order: ServeOrder): Promise<void>;
  /** Resolves when it has stopped serving the queue. */
  close(queue: string): Promise<void>;
  /** Suspends the process, or resumes it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Kills the process. Resolves when it has exited. */
  kill(): Promise<void>;
}

const children = new Set<ChildProcess>();

export async function startWorker(): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [program('test/executors/bullmq/fleet-worker.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  children.add(child);
  child.stdin.on('error', () => {});
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<void> => {
    const { done } = await lines.next();
    if (done === true) throw new Error(`A worker ended: ${said}`);
  };
  await nextLine();
  let last: Promise<void> = Promise.resolve();
  const order = (what: object): Promise<void> => {
    last = last.then(() => {
      child.stdin.write(`${JSON.stringify(what)}\n`);
      return nextLine();
    });
    return last;
  };
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    get alive() {
      return isAlive();
    },
    serve: order,
    close: (queue) => order({ close: queue }),
    signal: (signal) => void child.kill(signal),
    async kill() {
      if (isAlive()) child.kill('SIGKILL');
      await gone;
      children.delete(child);
    },
  };
}

/** Kills the remaining processes. */
export async function killWorkers(): Promise<void> {
  for (const child of children) {
    children.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
