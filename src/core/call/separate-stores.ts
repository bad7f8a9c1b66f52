/** Logs what processes that share suspended calls do not share. */
import { isInProcess } from '../../values/limits/in-process.ts';
import type { Unshared } from '../ports.ts';
import type { RegistryState } from '../registry/registry-state.ts';
import type { FoundCall } from './call.ts';

/** What was logged, for each registry. */
const told = new WeakMap<RegistryState, Set<string>>();

/** Logs each kind once for each registry, when a call is suspended or resumed that needs it. */
export function tellSeparateStores(call: FoundCall): void {
  const { session, callId, toolName } = call;
  const { registry, sessionId } = session;
  if (isInProcess(registry.store)) return;
  for (const { kind, data, text } of separateFor(call)) {
    const before = told.get(registry) ?? new Set();
    told.set(registry, before);
    if (before.has(kind)) continue;
    before.add(kind);
    registry.caution(
      { sessionId, callId, toolName, ...data },
      `approvals are kept in a store that processes can share, and ${text}`,
    );
  }
}

function separateFor(call: FoundCall): readonly Unshared[] {
  return call.binding.gates.flatMap((gate) => gate.unshared?.(call) ?? []);
}
