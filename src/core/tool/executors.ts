/**
 * Counts the tools that use each executor, in all registries of this process: a definition may be
 * registered in several. An executor is disposed when its last tool has been removed and the calls
 * to that tool have ended.
 */

import type { Executor } from '../../api/tool-config.ts';
import { withDeadline } from '../../values/limits/with-deadline.ts';
import type { ToolEntry } from './tool-entry.ts';

interface Users {
  /** Weak, so that what is dropped without being closed can be collected. */
  readonly entries: WeakSet<ToolEntry>;
  count: number;
  /** Pending while the executor is disposed. Never rejects. */
  disposal: Promise<void> | undefined;
}

/** What a registry does for the executors of its tools. */
interface Host {
  readonly settings: { readonly policyTimeoutMs: number };
  warn(data: object, message: string): void;
  hostFault(thrown: unknown, where: object, message: string): void;
}

const usersOf = new WeakMap<Executor, Users>();

/** Adds an entry that was put into a table. */
export function retainExecutor(entry: ToolEntry, { isTrial }: { readonly isTrial: boolean }): void {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined || isTrial) return;
  const users = usersOf.get(executor) ?? { entries: new WeakSet(), count: 0, disposal: undefined };
  usersOf.set(executor, users);
  users.entries.add(entry);
  users.count++;
}

/**
 * Removes an entry that was removed from its table or replaced, once the calls that run on it have
 * ended. Waits for the disposal at most `policyTimeoutMs`. Never rejects.
 */
export async function releaseExecutor(entry: ToolEntry, host: Host): Promise<void> {
  const { executor } = entry.internals;
  if (executor?.dispose === undefined) return;
  await entry.drain();
  const users = usersOf.get(executor);
  if (users?.entries.delete(entry) !== true || --users.count > 0) return;
  const disposal = dispose(executor, entry, host);
  users.disposal = disposal;
  await disposal;
  if (users.disposal === disposal) users.disposal = undefined;
}

/**
 * The disposal of an executor, as long as it lasts. Calls to a tool that is registered meanwhile
 * wait for it.
 */
export function disposalOf(executor: Executor): Promise<void> | undefined {
  return usersOf.get(executor)?.disposal;
}

async function dispose(executor: Executor, { name }: ToolEntry, host: Host): Promise<void> {
  try {
    const disposed = Promise.resolve(executor.dispose?.());
    await withDeadline(disposed, host.settings.policyTimeoutMs, () =>
      host.warn({ tool: name }, 'disposing an executor took too long; it is not waited for'),
    );
  } catch (error) {
    host.hostFault(error, { tool: name }, 'disposing an executor failed');
  }
}
