/** Watches the calls of a registry or a session. */
import { describe, MisuseError } from '../errors.ts';
import { stateOf } from '../session/session.ts';
import { type CallObserver, CallObservers } from '../state/call-observers.ts';
import { registryStateOf } from './default-registry.ts';

/**
 * Adds an observer. The returned function removes it.
 * @param where The function that was called, for messages.
 * @throws MisuseError `invalid_option` if the target is neither a registry nor a session.
 */
export function observeCalls(where: string, target: unknown, observer: CallObserver): () => void {
  const { registry, session } = statesOf(where, target);
  registry.observers ??= new CallObservers();
  return registry.observers.add(observer, session);
}

function statesOf(
  where: string,
  target: unknown,
): {
  registry: ReturnType<typeof registryStateOf>;
  session: ReturnType<typeof stateOf> | undefined;
} {
  const read = [
    () => ({ registry: registryStateOf(target), session: undefined }),
    () => {
      const session = stateOf(target);
      return { registry: session.registry, session };
    },
  ];
  for (const states of read) {
    try {
      return states();
    } catch {
      // It may be the other one.
    }
  }
  throw new MisuseError(
    'invalid_option',
    `${where}: expected a HostToolRegistry or a session of this copy of host-tools, got ` +
      `${describe(target)}.`,
  );
}
