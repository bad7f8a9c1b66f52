/** Logs what processes that share suspended calls do not share. */
import type { FoundCall } from '../../core/call/call.ts';
import { isInProcess } from '../../values/limits/in-process.ts';
import { durableOf } from './durable-state.ts';

/** Logs each kind once for each registry, when a call is suspended or resumed that needs it. */
export function tellSeparateStores(call: FoundCall): void {
  const { session, callId, toolName } = call;
  const { registry, sessionId } = session;
  const { store, logged } = durableOf(registry);
  if (isInProcess(store)) return;
  const unshared = call.binding.gates.flatMap((gate) => gate.unshared?.(call) ?? []);
  for (const { kind, data, text } of unshared) {
    if (logged.has(kind)) continue;
    logged.add(kind);
    registry.caution(
      { sessionId, callId, toolName, ...data },
      `approvals are kept in a store that processes can share, and ${text}`,
    );
  }
}
