/**
 * Clients of a registry whose tools are still on their way. They can connect, and their requests
 * wait.
 */
import type { HostToolRegistry, ToolSession } from '../../core.ts';
import { inspectRegistry, inspectSession } from '../../extend.ts';

const byRegistry = new WeakMap<object, Promise<void>>();

/** Lets the requests of all clients of the registry wait. @param until must not reject */
export function holdClients(registry: HostToolRegistry, until: Promise<void>): void {
  const view = inspectRegistry(registry);
  byRegistry.set(view, until);
  void until.then(() => byRegistry.delete(view));
}

/** What a request of a client has to wait for; undefined if nothing. */
export function heldFor(session: ToolSession): Promise<void> | undefined {
  return byRegistry.get(inspectSession(session).registry);
}
