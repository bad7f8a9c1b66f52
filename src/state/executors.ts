/**
 * Executors: counted by the tools that stand on them, and disposed when the last of these is gone
 * and its last call has ended.
 */
import { errorName } from '../errors.ts';
import type { Executor } from '../tool/tool-config.ts';
import type { RegistryState } from './registry-state.ts';
import type { ToolEntry } from './tool-entry.ts';

/**
 * How many entries hold an executor. Weak: a session that is dropped without closing takes its
 * executors along.
 */
export type ExecutorUsers = WeakMap<Executor, Set<ToolEntry>>;

/** Counts an entry that was put into a table. */
export function retainExecutor(entry: ToolEntry, { executorUsers }: RegistryState): void {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined) return;
  const users = executorUsers.get(executor);
  if (users === undefined) executorUsers.set(executor, new Set([entry]));
  else users.add(entry);
}

/**
 * Counts off an entry that was removed or replaced, once the calls that run on it have ended. Never
 * rejects.
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
