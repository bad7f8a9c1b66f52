/** The runner over the package `run`: QuickJS in a thread of its own, managed by another thread. */

import { Worker } from 'node:worker_threads';
import type { CodeAnswer, CodeOutcome, CodeProgram, CodeRunner } from '../../api/code.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { packageFault, resolvePackage } from '../../values/packages/missing-package.ts';
import type { HostMessage, ManagerData, ManagerMessage } from './manager/messages.ts';
import { managerText } from './manager-text.ts';

/**
 * Runs programs with the package `run`. All runners of a process share one manager, which is
 * started for the first program and keeps no process alive while none runs.
 */
export const quickJsRunner: CodeRunner = {
  async run(program) {
    if (program.signal.aborted) return stopped;
    manager ??= startManager();
    const starting = manager;
    try {
      return await (await starting).run(program);
    } catch (error) {
      if (manager === starting) manager = undefined;
      if (error instanceof MisuseError) throw error;
      throw packageFault('run', 'runs programs', error);
    }
  },
};

const stopped: CodeOutcome = {
  ok: false,
  fault: { kind: 'stopped', message: 'The program was stopped.' },
};

let manager: Promise<Manager> | undefined;

async function startManager(): Promise<Manager> {
  const address = resolvePackage('run');
  const text = await managerText();
  const code = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
  const workerData: ManagerData = { address };
  // No flag and no variable of the host reaches what runs there.
  return new Manager(new Worker(new URL(code), { workerData, execArgv: [], env: {} }));
}

interface Running {
  readonly program: CodeProgram;
  readonly end: (outcome: CodeOutcome) => void;
}

class Manager {
  readonly #worker: Worker;
  readonly #running = new Map<number, Running>();
  #count = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.unref();
    worker.on('message', (message: ManagerMessage) => this.#hear(message));
    let cause: unknown = new Error('The thread has ended.');
    worker.on('error', (error: unknown) => {
      cause = error;
    });
    // It follows any error.
    worker.on('exit', () => this.#lost(cause));
  }

  run(program: CodeProgram): Promise<CodeOutcome> {
    const { source, seed, now, limits, signal } = program;
    const run = ++this.#count;
    return new Promise((resolve) => {
      const stop = (): void => {
        this.#send({ t: 'stop', run });
        end(stopped);
      };
      const end = (outcome: CodeOutcome): void => {
        signal.removeEventListener('abort', stop);
        if (this.#running.delete(run) && this.#running.size === 0) this.#worker.unref();
        resolve(outcome);
      };
      if (this.#running.size === 0) this.#worker.ref();
      this.#running.set(run, { program, end });
      signal.addEventListener('abort', stop, { once: true });
      this.#send({ t: 'run', run, source, seed, now, limits });
    });
  }

  #hear(message: ManagerMessage): void {
    const running = this.#running.get(message.run);
    if (running === undefined) return;
    const { program, end } = running;
    if (message.t === 'begun') program.begun();
    else if (message.t === 'log') program.log(message.line);
    else if (message.t === 'end') end(message.outcome);
    else {
      const { run, request, kind, name, input, line } = message;
      void program.ask({ kind, name, input, line }).then((answer) => {
        this.#send({ t: 'answer', run, request, json: jsonOf(answer) });
      });
    }
  }

  #lost(error: unknown): void {
    manager = undefined;
    const message = error instanceof Error ? error.message : String(error);
    const outcome: CodeOutcome = { ok: false, fault: { kind: 'lost', message } };
    for (const { end } of [...this.#running.values()]) end(outcome);
  }

  #send(message: HostMessage): void {
    this.#worker.postMessage(message);
  }
}

/** The value is JSON already. */
function jsonOf(answer: CodeAnswer): string | undefined {
  if (answer === 'waiting') return undefined;
  return answer.ok ? `{"ok":true,"value":${answer.value}}` : JSON.stringify(answer);
}
