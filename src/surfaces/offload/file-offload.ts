/** Offloaded outputs, in the files of a folder. */

import { createHash } from 'node:crypto';
import { readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { OffloadedOutput, OffloadStore } from '../../core.ts';
import { codeOf } from '../../values/errors/index.ts';
import { makeFolder, openPrivateFolder } from '../../values/files/private-folder.ts';
import { isDraft, oldDraftMs, replaceFile } from '../../values/files/whole-file.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';

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

// The files of outputs. A name contains what is needed of many files at once: when the output was
// kept, when it expires, how many bytes it has, and its key. The first line of a file is the
// metadata of the output, and the rest is its text.

/** The information in the name of a file. */
interface OutputFile {
  readonly name: string;
  /** A digest of the output's key. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** Of the text, as UTF-8. */
  readonly bytes: number;
}

/** One folder with a folder for each session. */
interface OutputFolder {
  /** The files of a session, the oldest first. */
  list(session: string): Promise<readonly OutputFile[]>;
  /** Whether a file has the output of this key. */
  isOf(file: OutputFile, key: string): boolean;
  write(output: OffloadedOutput, time: number): Promise<void>;
  /** Undefined if the file is gone. */
  read(session: string, file: OutputFile): Promise<{ text: string; about: string } | undefined>;
  remove(session: string, file: OutputFile): Promise<void>;
  /** Removes expired outputs of all sessions, and drafts of dead processes. */
  sweep(time: number): Promise<void>;
}

const filePattern = /^\d{16}-\d+-(\d+)-(\d+)-([0-9a-f]{64})$/;
const sessionPattern = /^[0-9a-f]{64}$/;

/**
 * Makes the folder if there is none.
 * @throws MisuseError `invalid_option` if others may write to it. Errors of the file system as they
 * are.
 */
function outputFolder(where: string, root: string): OutputFolder {
  openPrivateFolder(root, { where, danger: 'change what outputs say, and where they came from' });
  const folderOf = (session: string): string => join(root, digest(session));
  let count = 0;
  const place = async (folder: string, name: string, content: string): Promise<void> => {
    makeFolder(folder);
    await replaceFile(join(folder, name), content, { durable: false });
  };
  return {
    list: (session) => listOf(folderOf(session)),
    isOf: (file, key) => file.key === digest(key),
    async write({ session, key, text, about, ttlMs }, time) {
      const keptAt = String(Math.max(0, Math.floor(time))).padStart(16, '0');
      const order = String(++count).padStart(12, '0');
      const expiresAt = Math.ceil(time + ttlMs);
      const name = `${keptAt}-${order}-${expiresAt}-${Buffer.byteLength(text)}-${digest(key)}`;
      const content = `${JSON.stringify(about)}\n${text}`;
      await place(folderOf(session), name, content).catch((error: unknown) => {
        // Another process may have removed the folder when it was empty.
        if (codeOf(error) !== 'ENOENT') throw error;
        return place(folderOf(session), name, content);
      });
    },
    async read(session, { name }) {
      const content = await orMissing(readFile(join(folderOf(session), name), 'utf8'));
      if (content === undefined) return undefined;
      const end = content.indexOf('\n');
      return { about: JSON.parse(content.slice(0, end)) as string, text: content.slice(end + 1) };
    },
    remove: (session, { name }) => rm(join(folderOf(session), name), { force: true }),
    async sweep(time) {
      for (const session of await readdir(root))
        if (sessionPattern.test(session)) await sweepSession(join(root, session), time);
    },
  };
}

async function listOf(folder: string): Promise<readonly OutputFile[]> {
  const files: OutputFile[] = [];
  for (const name of ((await orMissing(readdir(folder))) ?? []).sort()) {
    const [, expiresAt, bytes, key] = filePattern.exec(name) ?? [];
    if (key === undefined) continue;
    files.push({ name, key, expiresAt: Number(expiresAt), bytes: Number(bytes) });
  }
  return files;
}

async function sweepSession(folder: string, time: number): Promise<void> {
  for (const { name, expiresAt } of await listOf(folder))
    if (expiresAt <= time) await rm(join(folder, name), { force: true });
  for (const name of (await orMissing(readdir(folder))) ?? []) {
    if (!isDraft(name)) continue;
    const path = join(folder, name);
    const writtenAt = (await orMissing(stat(path)))?.mtimeMs ?? time;
    if (writtenAt + oldDraftMs <= time) await rm(path, { force: true });
  }
  // Fails unless the folder is empty.
  await rmdir(folder).catch(() => undefined);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Undefined if there is no such file or folder. */
async function orMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
