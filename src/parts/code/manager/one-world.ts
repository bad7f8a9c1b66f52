/**
 * What the package `run` finds in its thread, before it is loaded: no compiler, and for each
 * program the clock and the seed of that program. A replay then sees what the first run saw. Only
 * this thread is changed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto, { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import nodeModule, { syncBuiltinESMExports } from 'node:module';
import threads, { Worker } from 'node:worker_threads';

/** What belongs to one program. */
export interface World {
  readonly now: number;
  readonly seed: string;
  /** How many values were drawn from the seed. */
  draws: number;
  /** The thread of its sandbox, once it has one. */
  thread: Worker | undefined;
}

/** The world of the program that the present work is for. */
export const worlds: AsyncLocalStorage<World> = new AsyncLocalStorage();

/** Must run before the package is loaded. */
export function makeWorlds(): void {
  // Each call that a program waits for listens to the end of the program.
  setMaxListeners(0);
  const realNow = Date.now;
  Date.now = () => worlds.getStore()?.now ?? realNow();
  const realBytes = crypto.randomBytes;
  const bytes = (size: number): Buffer => {
    const world = worlds.getStore();
    if (world === undefined) return realBytes(size);
    const digest = createHash('sha512')
      .update(`${world.draws++} ${world.seed}`)
      .digest();
    return size <= digest.length ? digest.subarray(0, size) : realBytes(size);
  };
  crypto.randomBytes = bytes as typeof crypto.randomBytes;
  // Programs are JavaScript. Compiling them as TypeScript takes up to a second, and moves lines.
  const own = nodeModule as unknown as Record<string, unknown> & {
    _load(request: string, ...rest: unknown[]): unknown;
  };
  const load = own._load;
  own._load = (request, ...rest) => {
    if (request === 'typescript') throw new Error('No compiler is loaded here.');
    return load(request, ...rest);
  };
  own.stripTypeScriptTypes = undefined;
  threads.Worker = class extends Worker {
    override postMessage(...args: Parameters<Worker['postMessage']>): void {
      const world = worlds.getStore();
      if (world !== undefined) world.thread = this;
      super.postMessage(...args);
    }
  };
  syncBuiltinESMExports();
}
