/** An executor over a pool of sandboxes. */
import type { Executor, JsonObject, ToolContext } from '../../core.ts';
import { offerPlaces, runningCall } from '../../extend.ts';
import type { Cell, CellOptions } from './cell.ts';
import { unavailableFault } from './fault.ts';
import { Pool, type PoolLimits } from './pool.ts';
import { runnerText } from './runner-text.ts';

/** The pools of the executors that this module has made. */
const pools = new WeakMap<Executor, Pool>();

/** Whether an executor runs handlers in sandboxes. */
export function isSandbox(executor: Executor): boolean {
  return pools.has(executor);
}

/**
 * Starts a sandbox of an executor and loads the handler, without a call. For executors without
 * sandboxes, it resolves at once. Rejects with the error that a call would end with, or with the
 * reason of the signal.
 */
export async function loadSandbox(executor: Executor, signal: AbortSignal): Promise<void> {
  const pool = pools.get(executor);
  if (pool !== undefined) pool.release(await pool.take(runningCall({ signal })));
}

export function sandboxExecutor(
  kind: 'thread' | 'process',
  limits: PoolLimits,
  options: CellOptions,
): Executor {
  const pool = new Pool(limits, options, async () => {
    checkRuntime(kind);
    return runnerText();
  });
  const placeIn = (cell: Cell, free: (() => void) | undefined) => ({
    get lost(): boolean {
      return cell.dead;
    },
    run: async (input: JsonObject, context: ToolContext): Promise<unknown> => {
      const stop = runningCall(context);
      try {
        // The call got it before it ended.
        if (stop.stopped) throw stop.reason;
        return await cell.run(input, context, stop);
      } finally {
        free?.();
        pool.release(cell);
      }
    },
    release: () => {
      free?.();
      pool.release(cell);
    },
  });
  const take = (context: ToolContext, free?: () => void) => {
    const ready = pool.ready();
    if (ready !== undefined) return placeIn(ready, free);
    return pool.take(runningCall(context)).then((cell) => placeIn(cell, free));
  };
  const executor = Object.freeze({
    kind,
    execute: async (input: JsonObject, context: ToolContext) =>
      (await take(context)).run(input, context),
    dispose: () => pool.close(),
  });
  pools.set(executor, pool);
  offerPlaces(executor, take, limits.max);
  return executor;
}

/**
 * The name of this runtime if it is not Node. Others imitate Node's threads and processes, but not
 * all of what a sandbox relies on.
 */
function otherRuntime(): string | undefined {
  const { bun, deno } = process.versions;
  if (bun !== undefined) return `Bun ${bun}`;
  if (deno !== undefined) return `Deno ${deno}`;
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers' ? "Cloudflare's runtime" : undefined;
}

/** @throws an error that ends the call as `sandbox_unavailable` */
function checkRuntime(kind: 'thread' | 'process'): void {
  const other = otherRuntime();
  if (other === undefined) return;
  throw unavailableFault(
    'sandbox_unsupported',
    `The tool's sandbox could not be started: a sandbox in a ${kind} needs Node.js, and this is ` +
      `${other}. Run the application with Node.js, or give the tool a handler or another executor.`,
  );
}
