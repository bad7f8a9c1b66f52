/** A process with a vitest in it, started again whenever a mutant hangs it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Request } from './host.ts';

export class Worker {
  #host: ChildProcess | undefined;
  /** Where the marks that test files passed are written. */
  readonly hitsPath: string;
  /** Every test file that it can run. */
  tests: readonly string[] = [];

  constructor(hitsPath: string) {
    this.hitsPath = hitsPath;
  }

  async start(): Promise<void> {
    this.#host = fork(new URL('./host.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, MUTATE_HITS: this.hitsPath, NODE_ENV: 'test' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    [this.tests] = (await once(this.#host, 'message')) as [string[]];
  }

  /** What came of a request; undefined when it took longer than this, or ended the process. */
  async run(request: Request, limitMs: number): Promise<Answer | undefined> {
    if (this.#host === undefined) await this.start();
    const host = this.#host as ChildProcess;
    let timer: NodeJS.Timeout | undefined;
    const answer = await new Promise<Answer | undefined>((resolve) => {
      const gone = (): void => resolve(undefined);
      host.once('message', (message) => {
        host.off('exit', gone);
        resolve(message as Answer);
      });
      host.once('exit', gone);
      timer = setTimeout(gone, limitMs);
      host.send(request);
    });
    clearTimeout(timer);
    if (answer === undefined) this.stop();
    return answer;
  }

  stop(): void {
    this.#host?.removeAllListeners();
    this.#host?.kill('SIGKILL');
    this.#host = undefined;
  }
}
