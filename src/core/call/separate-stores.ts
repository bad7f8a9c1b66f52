/**
 * Logs what processes that share suspended calls do not share: what quotas have counted, which
 * calls with a key have run, and outputs that are kept in full.
 */
import { isInProcess } from '../../values/limits/in-process.ts';
import type { RegistryState } from '../registry/registry-state.ts';
import type { FoundCall } from './call.ts';

type Kind = 'quotas' | 'idempotency' | 'offload';

/** What was logged, for each registry. */
const told = new WeakMap<RegistryState, Set<Kind>>();

/** Logs each kind once for each registry, when a call is suspended or resumed that needs it. */
export function tellSeparateStores(call: FoundCall): void {
  const { session, callId, toolName } = call;
  const { registry, sessionId } = session;
  if (isInProcess(registry.store)) return;
  for (const [kind, data, text] of separateFor(call)) {
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

type Separate = readonly [kind: Kind, data: object, text: string];

function separateFor({ binding, session, options, toolName }: FoundCall): readonly Separate[] {
  const { quotaStore, idempotency, offload, offloadOnDemand } = session.registry;
  const [quota] = binding.quotas ?? [];
  const found: Separate[] = [];
  if (quota !== undefined && isInProcess(quotaStore))
    found.push([
      'quotas',
      { quota: quota.id },
      'quotas in the memory of this one: a process that resumes a call counts it for itself, so ' +
        `\`${quota.id}\` can be exceeded. Give the registries of all processes one ` +
        '`quotaStore`, such as `redisQuotas`',
    ]);
  if (
    options?.idempotencyKey !== undefined &&
    idempotency !== undefined &&
    isInProcess(idempotency.store)
  )
    found.push([
      'idempotency',
      {},
      'the outcomes of calls with an idempotency key in the memory of this one: a call that ' +
        'another process resumes can run again here, if it is repeated with its key. Give the ' +
        'registries of all processes one `idempotency.store`, such as `redisIdempotency`',
    ]);
  if (
    binding.entry.internals.outputStrategy === 'offload' &&
    offload !== undefined &&
    // The command line keeps outputs as soon as a tool needs it, and nobody chooses a store.
    offloadOnDemand === undefined &&
    isInProcess(offload.store)
  )
    found.push([
      'offload',
      {},
      'full outputs in the memory of this one: if another process resumes a call to ' +
        `\`${toolName}\`, its output cannot be read here. Give the registries of all processes ` +
        'one `offload.store`, such as `fileOffload`',
    ]);
  return found;
}
