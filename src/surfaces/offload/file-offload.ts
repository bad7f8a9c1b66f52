/** Offloaded outputs, in the files of a folder. */
import { resolve } from 'node:path';
import type { OffloadedOutput, OffloadStore } from '../../core.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';
import { type OutputFile, type OutputFolder, outputFolder } from './output-folder.ts';

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

/** How often a process looks for expired files. */
const sweepMs = 60_000;

/** Most outputs of a session, however short they are. */
const maxOutputs = 1_000;

/**
 * A store for a registry's `offload` in a folder, with a folder for each session and a file for
 * each output. Any number of processes share it. Names are digests; files are readable by their
 * owner only and contain the outputs in full. A session keeps at most 1 000 outputs. Expired files
 * are removed, at most once a minute, when something is kept.
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
export function fileOffload(options: FileOffloadOptions): OffloadStore {
  const { dir, now: clock } = readOptions(where, options, table);
  const now = clock === undefined ? () => Date.now() : safeClock(clock);
  const folder = outputFolder(where, resolve(dir));
  let sweepAt = now() + sweepMs;
  let last: Promise<unknown> = Promise.resolve();
  const put = async (output: OffloadedOutput): Promise<void> => {
    const time = now();
    await makeRoom(folder, output, time);
    await folder.write(output, time);
    if (time < sweepAt) return;
    sweepAt = time + sweepMs;
    await folder.sweep(time);
  };
  return {
    put(output) {
      // One after the other, so that two outputs of one session do not both take the last room.
      const done = last.then(() => put(output));
      last = done.catch(() => undefined);
      return done;
    },
    async get(session, key) {
      const file = (await folder.list(session)).find((one) => folder.isOf(one, key));
      return file === undefined || file.expiresAt <= now() ? undefined : folder.read(session, file);
    },
  };
}

/** Drops the oldest outputs of a session until another one fits, and expired ones. */
async function makeRoom(
  folder: OutputFolder,
  { session, key, text: added, maxBytes }: OffloadedOutput,
  time: number,
): Promise<void> {
  let total = Buffer.byteLength(added);
  let count = 1;
  let isFull = false;
  const files: readonly OutputFile[] = await folder.list(session);
  for (const file of files.toReversed()) {
    const isOver = file.expiresAt <= time || folder.isOf(file, key);
    if (!isOver) {
      isFull ||= total + file.bytes > maxBytes || count >= maxOutputs;
      if (!isFull) {
        total += file.bytes;
        count++;
        continue;
      }
    }
    await folder.remove(session, file);
  }
}
