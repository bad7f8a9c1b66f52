/** Where lines are written: to the files of a path, or to a function of the host. */
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { shiftFiles } from './log-files.ts';

/** A line that waits to be written. */
export interface QueuedLine {
  readonly text: string;
  /** The line begins a new file. */
  readonly rotates: boolean;
}

/** Writes lines in order. Only one of its functions runs at a time. */
export interface LineWriter {
  /**
   * Writes the first of the lines, or more of them. Lines that it counts as written stay. If it
   * throws, none of the lines of this call count.
   * @returns how many were written
   */
  write(lines: readonly QueuedLine[]): Promise<number>;
  /** Makes written lines survive a power failure. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Gives a function each line, without its line break, one at a time. */
export function sinkWriter(sink: (line: string) => unknown): LineWriter {
  return {
    async write([line]) {
      if (line === undefined) return 0;
      await sink(line.text.slice(0, -1));
      return 1;
    },
    sync: async () => {},
    close: async () => {},
  };
}

/** Appends to a file. After a failure the file is cut back to its last whole line. */
export function fileWriter(
  path: string,
  opened: { readonly size: number; readonly regular: boolean },
): LineWriter {
  const { regular } = opened;
  let handle: FileHandle | undefined;
  let { size } = opened;
  let dirty = false;
  const ready = async (): Promise<FileHandle> => {
    handle ??= await open(path, 'a', 0o600);
    if (dirty && regular) await handle.truncate(size);
    dirty = false;
    return handle;
  };
  const rotate = async (): Promise<void> => {
    const full = await ready();
    await full.datasync();
    await full.close();
    handle = undefined;
    shiftFiles(path);
    size = 0;
    await syncFolder(dirname(path));
  };
  return {
    async write(lines) {
      // Files that were moved stay moved if the line cannot be written. The new file is then empty.
      if (lines[0]?.rotates === true && size > 0 && regular) await rotate();
      const next = lines.findIndex(({ rotates }, at) => at > 0 && rotates);
      const batch = next === -1 ? lines : lines.slice(0, next);
      const bytes = Buffer.from(batch.map(({ text }) => text).join(''));
      const to = await ready();
      dirty = true;
      for (let done = 0; done < bytes.length; )
        done += (await to.write(bytes, done, bytes.length - done)).bytesWritten;
      dirty = false;
      size += bytes.length;
      return batch.length;
    },
    async sync() {
      if (regular) await handle?.datasync();
    },
    async close() {
      const last = handle;
      handle = undefined;
      await last?.close();
    },
  };
}

/** Makes renames survive a power failure. Some systems cannot open a folder, and need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
