/** The tools among which a query searches. */
import type { ToolIndex } from './tool-index.ts';

/**
 * The tools among which a query searches. Other tools in the indexes do not influence the result,
 * because every statistic is computed over these tools.
 */
export interface Scope<T> {
  readonly tools: readonly T[];
  readonly parts: readonly Part<T>[];
  /** The mean number of different words of a tool. */
  readonly length: number;
}

/** The part of a scope's tools that one index holds. */
export interface Part<T> {
  readonly index: ToolIndex<T>;
  readonly version: number;
  /** By id: the index in `tools`, or -1 for a tool that is not in the scope. */
  readonly positions: Int32Array;
}

/** Finds each tool in the first index that holds it. */
export function scopeOf<T extends object>(
  indexes: readonly ToolIndex<T>[],
  tools: readonly T[],
): Scope<T> {
  const parts = indexes.map((index) => ({
    index,
    version: index.version(),
    positions: new Int32Array(index.size()).fill(-1),
  }));
  let sum = 0;
  for (let position = 0; position < tools.length; position++) {
    for (const { index, positions } of parts) {
      const id = index.ids.get(tools[position] as T);
      if (id === undefined) continue;
      positions[id] = position;
      sum += index.lengths[id] as number;
      break;
    }
  }
  return { tools, parts, length: sum / tools.length };
}

/** Whether the indexes still have the tools of a scope under the same ids. */
export function isCurrent<T>({ parts }: Scope<T>): boolean {
  return parts.every(({ index, version }) => index.version() === version);
}
