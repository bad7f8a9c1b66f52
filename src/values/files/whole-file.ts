/**
 * Files that are written as a whole: a draft beside the file is moved to its place. No reader sees
 * half a file, and a crash leaves the file that was there before.
 */
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, link, open, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors/index.ts';
import { placeOf } from './same-file.ts';

/** How a file is written. */
export interface WriteOptions {
  /** Its permissions. @default 0o600 */
  readonly mode?: number;
  /** Whether it survives a power failure once the write has ended. @default true */
  readonly durable?: boolean;
}

/** A draft that is older, in milliseconds, was left by a process that died. */
export const oldDraftMs = 3_600_000;

/** Whether a file of this name is a draft. */
export function isDraft(name: string): boolean {
  return /^\.?[0-9a-f-]{36}\.draft$/.test(name);
}

/**
 * Replaces a file, or creates it.
 * @param time The time that the file gets, in seconds since 1970. @default now
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
  time?: number,
): Promise<void> {
  await withDraft(path, content, options, time, (draft) => rename(draft, path));
}

/** Creates a file. False if there is one. Of several writers, one succeeds. */
export async function createFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
  time?: number,
): Promise<boolean> {
  try {
    await withDraft(path, content, options, time, (draft) =>
      link(draft, path).catch((error: unknown) => {
        if (!hasNoLinks(error)) throw error;
        return copyFile(draft, path, constants.COPYFILE_EXCL);
      }),
    );
    return true;
  } catch (error) {
    return isTaken(error);
  }
}

/**
 * Writes a file that a user has named: links stay links, permissions stay as they are, and a pipe
 * or a device gets the content as it is.
 */
export async function writeOutput(path: string, content: string): Promise<void> {
  const place = placeOf(path);
  const found = await stat(place).catch(() => undefined);
  if (found !== undefined && !found.isFile()) await writeFile(place, content);
  else
    await replaceFile(place, content, { mode: found === undefined ? 0o666 : found.mode & 0o777 });
}

/** As {@link replaceFile}, at once. */
export function replaceFileSync(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): void {
  withDraftSync(path, content, options, (draft) => renameSync(draft, path));
}

/** As {@link createFile}, at once. */
export function createFileSync(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): boolean {
  try {
    withDraftSync(path, content, options, (draft) => {
      try {
        linkSync(draft, path);
      } catch (error) {
        if (!hasNoLinks(error)) throw error;
        copyFileSync(draft, path, constants.COPYFILE_EXCL);
      }
    });
    return true;
  } catch (error) {
    return isTaken(error);
  }
}

/** Makes renames in a folder survive a power failure. Some systems cannot open one. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

async function withDraft(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, durable = true }: WriteOptions,
  time: number | undefined,
  place: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = draftOf(path);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(content);
      if (time !== undefined) await file.utimes(time, time);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await place(draft);
    if (durable) await syncFolder(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}

function withDraftSync(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, durable = true }: WriteOptions,
  place: (draft: string) => void,
): void {
  const draft = draftOf(path);
  try {
    const fd = openSync(draft, 'wx', mode);
    try {
      writeFileSync(fd, content);
      if (durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    place(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

function draftOf(path: string): string {
  return join(dirname(path), `.${randomUUID()}.draft`);
}

/** False if the file exists already. @throws any other error */
function isTaken(error: unknown): false {
  if (codeOf(error) !== 'EEXIST') throw error;
  return false;
}

/** Some file systems, such as those of shared folders, have no hard links. */
function hasNoLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error) as string);
}
