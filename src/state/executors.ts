/**
 * Counts the tools that use each executor. An executor is disposed when its last tool has been
 * removed and the calls to that tool have ended.
 */
import { errorName } from '../errors/index.ts';
import type { Executor } from '../tool/executor.ts';
import type { RegistryState } from './registry-state.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * The entries that use each executor. The map is weak, so that a session that is dropped without
 * being closed does not keep its executors alive.
 */
export type ExecutorUsers = WeakMap<Executor, Set<ToolEntry>>;

/** Adds an entry that was put into a table. */
export function retainExecutor(entry: ToolEntry, { executorUsers }: RegistryState): void {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined) return;
  const users = executorUsers.get(executor);
  if (users === undefined) executorUsers.set(executor, new Set([entry]));
  else users.add(entry);
}

/**
 * Removes an entry that was removed from its table or replaced, once the calls that run on it have
 * ended. Never rejects.
 */
export async function releaseExecutor(entry: ToolEntry, registry: RegistryState): Promise<void> {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined) return;
  await entry.drain();
  const users = registry.executorUsers.get(executor);
  if (users?.delete(entry) !== true || users.size > 0) return;
  try {
    await executor.dispose();
  } catch (error) {
    registry.warn({ tool: entry.name, error: errorName(error) }, 'disposing an executor failed');
  }
}
