/**
 * Clients of a registry whose tools are still on their way. They can connect, and their requests
 * wait.
 */
import type { HostToolRegistry, ToolSession } from '../../index.ts';
import { registryStateOf, stateOf } from '../../surface-port.ts';

const byRegistry = new WeakMap<object, Promise<void>>();

/** Lets the requests of all clients of the registry wait. @param until must not reject */
export function holdClients(registry: HostToolRegistry, until: Promise<void>): void {
  const state = registryStateOf(registry);
  byRegistry.set(state, until);
  void until.then(() => byRegistry.delete(state));
}

/** What a request of a client has to wait for; undefined if nothing. */
export function heldFor(session: ToolSession): Promise<void> | undefined {
  return byRegistry.get(stateOf(session).registry);
}
