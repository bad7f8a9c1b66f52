/** Suspended calls in the memory of a process. */

import type { InboxStore } from '../../core.ts';
import { memoryApprovalStore } from '../../parts/durable-approvals/memory-store.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { fn, readOptions, type TableOf } from '../../values/options/index.ts';

/** Options of {@link memoryApprovals}. */
export interface MemoryApprovalsOptions {
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
}

const table = { now: fn<() => number>() } satisfies TableOf<MemoryApprovalsOptions>;

/**
 * A store for a registry's approvals in the memory of this process, as a registry has by default.
 * Give the same one to several registries to let each of them answer what the others have
 * suspended. It answers at once, and is lost when the process ends.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { memoryApprovals } from 'host-tools/approvals';
 *
 * const secret = process.env.APPROVAL_SECRET ?? '';
 * const store = memoryApprovals();
 * const [chat, mail] = [
 *   new HostToolRegistry({ approvals: { secret, store } }),
 *   new HostToolRegistry({ approvals: { secret, store } }), // lists those of `chat` too
 * ];
 * ```
 */
export function memoryApprovals(options: MemoryApprovalsOptions = {}): InboxStore {
  const { now } = readOptions('memoryApprovals', options, table);
  return memoryApprovalStore(now === undefined ? () => Date.now() : safeClock(now));
}
