/** Stores that are named after the approvals of a registry: in files, and in memory. */
import { resolve } from 'node:path';
import type { Store } from '../../extend.ts';
import { fileStore } from '../../stores/files/file-store.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';

/** Options of {@link fileApprovals}. */
export interface FileApprovalsOptions {
  /**
   * The folder. Use it for this store only, on a local disk with hard links. It is created if it is
   * missing, for its owner only. No one else may have write access to it. 1 to 4 096 characters.
   */
  readonly dir: string;
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
}

const table = {
  dir: required(text(1, 4_096)),
  now: fn<() => number>(),
} satisfies TableOf<FileApprovalsOptions>;

const where = 'fileApprovals';

/**
 * A store for a registry's approvals in a folder, one file for each. Any number of processes on one
 * machine share the folder: each lists and answers the calls that others have suspended, and
 * exactly one answer counts. Acknowledged writes survive a power failure. Files are readable by
 * their owner only and contain the arguments in full, as well as the tokens. It keeps documents
 * alone: quotas and idempotency keys need another store.
 *
 * What is over is removed, at most once a minute, when something is stored. Listing reads the
 * beginning of the file of every open approval, so use a database for more than some thousands.
 * @throws MisuseError `invalid_option`, also if others may write to `dir`. Errors of the file
 * system as they are.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { fileApprovals } from 'host-tools/approvals';
 *
 * const registry = new HostToolRegistry({
 *   approvals: {
 *     secret: process.env.APPROVAL_SECRET ?? '',
 *     store: fileApprovals({ dir: './approvals' }),
 *   },
 * });
 * ```
 */
export function fileApprovals(options: FileApprovalsOptions): Store {
  const { dir, now } = readOptions(where, options, table);
  return fileStore({
    where,
    dir: resolve(dir),
    danger: 'put answered approvals back',
    now: now === undefined ? () => Date.now() : safeClock(now),
    durable: true,
  });
}

/** Options of {@link memoryApprovals}. */
export interface MemoryApprovalsOptions {
  /** Returns epoch milliseconds. @default that of `memoryStore` */
  readonly now?: (() => number) | undefined;
}

const memoryTable = { now: fn<() => number>() } satisfies TableOf<MemoryApprovalsOptions>;

/**
 * A `memoryStore` for the approvals of registries. Give the same one to several registries to let
 * each of them answer what the others have suspended.
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
export function memoryApprovals(options: MemoryApprovalsOptions = {}): Store {
  return memoryStore(readOptions('memoryApprovals', options, memoryTable));
}
