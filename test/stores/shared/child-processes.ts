/** Processes that a test starts, reads and kills. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Child {
  readonly stdin: NodeJS.WritableStream;
  /** As the machine does it: nothing of the process runs any more. */
  kill(): Promise<void>;
}

/** @param said gets each line that one of them writes */
export function childProcesses(said: (line: string) => void) {
  const running: Child[] = [];
  return {
    start(path: string, ...given: string[]): Child {
      const child = spawn(process.execPath, [path, ...given], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      createInterface(child.stdout).on('line', said);
      child.stdin.on('error', () => {});
      const started = { stdin: child.stdin, kill: () => kill(child) };
      running.push(started);
      return started;
    },
    async end(): Promise<void> {
      await Promise.all(running.map((child) => child.kill()));
    },
  };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGKILL');
  await gone;
}
