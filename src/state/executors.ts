/** Disposing executors: once nothing runs on them any more, and no other tool needs them. */
import type { RegistryState } from './registry-state.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * Disposes the executor of a tool that was removed or replaced, after the calls that run on it have ended. Never rejects.
 * @param last Everything is closing: an executor that other tools share is disposed as well, each entry asking once.
 */
export async function retireExecutor(entry: ToolEntry, registry: RegistryState, last = false, own?: ReadonlyMap<string, ToolEntry>): Promise<void> {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined) return;
  await entry.drain();
  const shares = (other: ToolEntry): boolean => other !== entry && other.internals.executor === executor;
  const others = [...registry.tools.values(), ...(own?.values() ?? [])].filter(shares);
  // When all go, the first of those that share it disposes it.
  const isFirst = last && [...registry.tools.values()].find((other) => other.internals.executor === executor) === entry;
  if (others.length > 0 && !isFirst) return;
  try {
    await executor.dispose();
  } catch (error) {
    registry.warn({ tool: entry.name, error: error instanceof Error ? error.name : typeof error }, 'disposing an executor failed');
  }
}
