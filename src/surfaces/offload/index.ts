/** A store that is named after offloaded outputs: in the files of a folder. */
import { resolve } from 'node:path';
import type { Store } from '../../extend.ts';
import { fileStore } from '../../stores/files/file-store.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';

export { offload } from '../../parts/offload/part.ts';

/** Options of {@link fileOffload}. */
export interface FileOffloadOptions {
  /**
   * The folder. Use it for this store only. It is created if it is missing, for its owner only. No
   * one else may have write access to it. 1 to 4 096 characters.
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
} satisfies TableOf<FileOffloadOptions>;

const where = 'fileOffload';

/**
 * A store for a registry's `offload` in a folder, with a folder for each session and a file for
 * each output. Any number of processes share it. Names are digests; files are readable by their
 * owner only and contain the outputs in full. What is over is removed, at most once a minute, when
 * something is kept. It keeps documents alone: quotas and idempotency keys need another store.
 * @throws MisuseError `invalid_option`, also if others may write to `dir`. Errors of the file
 * system as they are.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { fileOffload } from 'host-tools/offload';
 *
 * const registry = new HostToolRegistry({
 *   offload: { store: fileOffload({ dir: './outputs' }) },
 * });
 * ```
 */
export function fileOffload(options: FileOffloadOptions): Store {
  const { dir, now } = readOptions(where, options, table);
  return fileStore({
    where,
    dir: resolve(dir),
    danger: 'change what outputs say, and where they came from',
    now: now === undefined ? () => Date.now() : safeClock(now),
    durable: false,
  });
}
