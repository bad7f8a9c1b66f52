/** Where lines are written: to the files of a path, or to a function of the host. */
import { closeSync, fstatSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncFolder } from '../../values/files/whole-file.ts';
import { ignoreRejection, isThenable } from '../../values/maybe-promise.ts';
import type { AuditHead } from './line.ts';
import { shiftFiles } from './log-files.ts';

/** A line that waits to be written. */
export interface QueuedLine {
  readonly text: string;
  /** The line begins a new file. */
  readonly rotates: boolean;
}

/** Writes lines in order. Only one of its functions runs at a time, except for `writeNow`. */
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
  /**
   * As `write`, but at once, because the process ends. The first lines are those that `write` was
   * given last, if it has not ended.
   */
  writeNow(lines: readonly QueuedLine[]): number;
  /** The last line, if lines get their place when they are written. @default as queued */
  head?(): AuditHead;
}

/** How long the end of the process waits for a write that another thread has begun. */
const maxWaitMs = 2_000;
const waitStepMs = 5;

/** Gives a function each line, without its line break, one at a time. */
export function sinkWriter(sink: (line: string) => unknown): LineWriter {
  /** The line that the function has, and the last one that it has taken. */
  let pending: QueuedLine | undefined;
  let taken: QueuedLine | undefined;
  return {
    async write([line]) {
      if (line === undefined) return 0;
      pending = line;
      try {
        const answer = sink(line.text.slice(0, -1));
        if (isThenable(answer)) await answer;
        taken = line;
      } finally {
        pending = undefined;
      }
      return 1;
    },
    sync: async () => {},
    close: async () => {},
    writeNow([line]) {
      if (line === taken) return 1;
      if (line === undefined || pending !== undefined) return 0;
      const answer = sink(line.text.slice(0, -1));
      if (!isThenable(answer)) return 1;
      // The process does not wait for it, so the line may be lost.
      ignoreRejection(answer);
      pending = line;
      return 0;
    },
  };
}

/**
 * Appends to a file. After a failure the file is cut back to its last whole line. Longer than 60
 * lines, since its functions share where the file ends.
 */
export function fileWriter(
  path: string,
  opened: { readonly size: number; readonly regular: boolean },
): LineWriter {
  const { regular } = opened;
  let handle: FileHandle | undefined;
  let { size } = opened;
  let dirty = false;
  /** How many lines another thread is writing, and how many bytes the file has afterwards. */
  let flying: { readonly lines: number; readonly end: number } | undefined;
  const ready = async (): Promise<FileHandle> => {
    handle ??= await open(path, 'a', 0o600);
    if (dirty && regular) await handle.truncate(size);
    dirty = false;
    return handle;
  };
  const close = async (): Promise<void> => {
    const last = handle;
    handle = undefined;
    await last?.close();
  };
  const rotate = async (): Promise<void> => {
    await (await ready()).datasync();
    await close();
    shiftFiles(path);
    size = 0;
    await syncFolder(dirname(path));
  };
  const beginsFile = ([first]: readonly QueuedLine[]): boolean =>
    first?.rotates === true && size > 0 && regular;
  return {
    async write(lines) {
      // Files that were moved stay moved if the line cannot be written. The new file is then empty.
      if (beginsFile(lines)) await rotate();
      const batch = ofOneFile(lines);
      const bytes = bytesOf(batch);
      const to = await ready();
      dirty = true;
      flying = { lines: batch.length, end: size + bytes.length };
      try {
        for (let done = 0; done < bytes.length; )
          done += (await to.write(bytes, done, bytes.length - done)).bytesWritten;
      } finally {
        flying = undefined;
      }
      dirty = false;
      size += bytes.length;
      return batch.length;
    },
    async sync() {
      if (regular) await handle?.datasync();
    },
    async close() {
      // What is left of a line that could not be written is no line.
      if (dirty && regular) await handle?.truncate(size).catch(() => {});
      await close();
    },
    writeNow(lines) {
      if (flying !== undefined) {
        const { lines: count, end } = flying;
        if (!regular || !growsTo(path, end)) return 0;
        [flying, dirty, size] = [undefined, false, end];
        return count;
      }
      if (beginsFile(lines)) {
        shiftFiles(path);
        size = 0;
      }
      const batch = ofOneFile(lines);
      const bytes = bytesOf(batch);
      const fd = openSync(path, 'a', 0o600);
      try {
        if (dirty && regular) ftruncateSync(fd, size);
        dirty = true;
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      } catch (error) {
        if (regular && fstatSync(fd).size > size) ftruncateSync(fd, size);
        throw error;
      } finally {
        closeSync(fd);
      }
      dirty = false;
      size += bytes.length;
      return batch.length;
    },
  };
}

/** The lines before the next one that begins a new file. */
function ofOneFile(lines: readonly QueuedLine[]): readonly QueuedLine[] {
  const next = lines.findIndex(({ rotates }, at) => at > 0 && rotates);
  return next === -1 ? lines : lines.slice(0, next);
}

function bytesOf(lines: readonly QueuedLine[]): Buffer {
  return Buffer.from(lines.map(({ text }) => text).join(''));
}

/** Waits until a file has so many bytes. False if that takes too long. */
function growsTo(path: string, end: number): boolean {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < maxWaitMs; waited += waitStepMs) {
    if (statSync(path).size >= end) return true;
    Atomics.wait(cell, 0, 0, waitStepMs);
  }
  return false;
}
