/** Logs that processes which share suspended calls do not share what their quotas have counted. */
import { isInProcess } from '../limits/in-process.ts';
import type { FoundCall } from '../state/call.ts';
import type { RegistryState } from '../state/registry-state.ts';

/** The registries for which it was logged. */
const told = new WeakSet<RegistryState>();

/** Logs it once for each registry, when a call with a quota is suspended. */
export function tellSeparateQuotas({ binding, session, callId, toolName }: FoundCall): void {
  const { registry, sessionId } = session;
  const [quota] = binding.quotas ?? [];
  if (quota === undefined || told.has(registry)) return;
  if (isInProcess(registry.store) || !isInProcess(registry.quotaStore)) return;
  told.add(registry);
  registry.warn(
    { sessionId, callId, toolName, quota: quota.id },
    'approvals are kept in a store that processes can share, and quotas in the memory of this ' +
      `one: a process that resumes a call counts it for itself, so \`${quota.id}\` can be ` +
      'exceeded. Give the registries of all processes one `quotaStore`, such as `redisQuotas`',
  );
}
