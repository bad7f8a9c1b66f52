/** An executor over a pool of sandboxes. */
import type { Executor, JsonObject, ToolContext } from '../index.ts';
import type { CellOptions } from './cell.ts';
import { Pool, type PoolLimits } from './pool.ts';
import { runnerText } from './runner-text.ts';

export function sandboxExecutor(
  kind: 'thread' | 'process',
  limits: PoolLimits,
  options: CellOptions,
): Executor {
  const pool = new Pool(limits, options, runnerText);
  return Object.freeze({
    kind,
    execute: async (input: JsonObject, context: ToolContext) => {
      const cell = await pool.take(context.signal);
      try {
        return await cell.run(input, context);
      } finally {
        pool.release(cell);
      }
    },
    dispose: () => pool.close(),
  });
}
