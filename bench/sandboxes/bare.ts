/** What sandboxes are compared with: a bare Tinypool, and bare forks. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Input } from '../fixtures.ts';
import { load } from '../peers/load.ts';
import { benchFolder } from '../place.ts';

/** The file of the handler. */
export const echo = fileURLToPath(new URL('sandboxes/echo.mjs', benchFolder));

/** Something that runs the handler elsewhere. */
export interface Bare {
  call(input: Input): Promise<unknown>;
  close(): Promise<void>;
}

interface TinypoolModule {
  readonly Tinypool: new (
    options: object,
  ) => { run(input: Input): Promise<unknown>; destroy(): Promise<void> };
}

/** @returns a function that starts so many threads, or undefined where Tinypool is not installed */
export async function tinypools(): Promise<((threads: number) => Bare) | undefined> {
  const module = await load<TinypoolModule>('tinypool');
  if (module === undefined) return undefined;
  return (threads) => {
    const pool = new module.Tinypool({
      filename: echo,
      minThreads: threads,
      maxThreads: threads,
    });
    return { call: (input) => pool.run(input), close: () => pool.destroy() };
  };
}

/**
 * So many processes, of which each has one call at a time.
 * @param detached Whether each is a session of its own, as a sandbox that may start processes is.
 */
export function forks(processes: number, detached = false): Bare {
  const free = Array.from({ length: processes }, () => startFork(detached));
  const all = [...free];
  const waiting: ((one: Fork) => void)[] = [];
  return {
    call: async (input) => {
      const one = free.pop() ?? (await new Promise<Fork>((resolve) => waiting.push(resolve)));
      const output = await one.call(input);
      const next = waiting.shift();
      if (next === undefined) free.push(one);
      else next(one);
      return output;
    },
    close: async () => {
      for (const { child } of all) child.kill();
    },
  };
}

interface Fork {
  readonly child: ChildProcess;
  call(input: Input): Promise<unknown>;
}

function startFork(detached: boolean): Fork {
  const child = fork(fileURLToPath(new URL('sandboxes/forked.mjs', benchFolder)), {
    execArgv: [],
    detached,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const waiting = new Map<number, (output: unknown) => void>();
  let last = 0;
  child.on('message', ({ id, output }: { id: number; output: unknown }) => {
    waiting.get(id)?.(output);
    waiting.delete(id);
  });
  return {
    child,
    call: (input) =>
      new Promise((resolve) => {
        const id = ++last;
        waiting.set(id, resolve);
        child.send({ id, input });
      }),
  };
}
