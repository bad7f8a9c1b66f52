/** The files of a folder of approvals: their names, and how they are written and read. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/index.ts';
import { openPrivateFolder } from '../../files/private-folder.ts';
import { createFile, isDraft, oldDraftMs, replaceFile } from '../../files/whole-file.ts';
import type { JsonObject } from '../../index.ts';
import { isJsonObject } from '../../json/index.ts';

/** What is kept under an id: a suspended call, or the mark that it was taken. */
export type FileKind = 'open' | 'taken';

/** The latest time that every file system can store: the year 2037. */
const latestTime = 2_145_916_800_000;

/**
 * The content of a file: nothing if there is no file. `value` is undefined if the content is not an
 * object.
 */
export interface Found {
  readonly value: JsonObject | undefined;
}

/**
 * The files of one folder. Ids become names by their hash, so that no id leads out of the folder.
 */
export interface ApprovalFiles {
  /** The file's content; undefined if there is no such file. */
  read(name: string, kind: FileKind): Promise<Found | undefined>;
  /** Whether there is such a file. */
  has(name: string, kind: FileKind): Promise<boolean>;
  /** Writes a whole file, replacing one of that name. @param keptUntil Epoch milliseconds. */
  replace(name: string, kind: FileKind, value: object, keptUntil: number): Promise<void>;
  /** Writes a whole file. False if there is one of that name. Of several writers, one succeeds. */
  create(name: string, kind: FileKind, value: object, keptUntil: number): Promise<boolean>;
  remove(name: string, kind: FileKind): Promise<void>;
  /** The names of suspended calls and of those that were taken. */
  names(): Promise<Readonly<Record<FileKind, Set<string>>>>;
  /** Names of files that may have expired. Removes abandoned drafts. */
  old(now: number): Promise<{ readonly name: string; readonly kind: FileKind }[]>;
}

/**
 * The name for an id. JSON escapes lone surrogates, which would otherwise all be the same bytes.
 */
export function nameOf(id: string): string {
  return createHash('sha256').update(JSON.stringify(id)).digest('hex');
}

/**
 * Makes the folder if there is none.
 * @throws MisuseError `invalid_option` if others may write to it. Errors of the file system as they
 * are.
 */
export function approvalFiles(where: string, folder: string): ApprovalFiles {
  openPrivateFolder(folder, { where, danger: 'put answered approvals back' });
  const pathOf = (name: string, kind: FileKind): string => join(folder, `${name}.${kind}`);
  return {
    read: (name, kind) => readObject(pathOf(name, kind)),
    has: async (name, kind) => (await orMissing(stat(pathOf(name, kind)))) !== undefined,
    replace: (name, kind, value, keptUntil) =>
      replaceFile(pathOf(name, kind), JSON.stringify(value), {}, secondsOf(keptUntil)),
    create: (name, kind, value, keptUntil) =>
      createFile(pathOf(name, kind), JSON.stringify(value), {}, secondsOf(keptUntil)),
    remove: (name, kind) => rm(pathOf(name, kind), { force: true }),
    async names() {
      const kept = { open: new Set<string>(), taken: new Set<string>() };
      for (const file of await readdir(folder)) {
        const [, name, kind] = file.match(filePattern) ?? [];
        if (name !== undefined) kept[kind as FileKind].add(name);
      }
      return kept;
    },
    async old(now) {
      const over: { name: string; kind: FileKind }[] = [];
      for (const file of await readdir(folder)) {
        const path = join(folder, file);
        const [, name, kind] = file.match(filePattern) ?? [];
        if (name === undefined && !isDraft(file)) continue;
        const time = (await orMissing(stat(path)))?.mtimeMs;
        if (time === undefined || time > now) continue;
        if (name !== undefined) over.push({ name, kind: kind as FileKind });
        else if (time + oldDraftMs <= now) await rm(path, { force: true });
      }
      return over;
    },
  };
}

/** The time of a file, which every file system can store. */
function secondsOf(ms: number): number {
  return Math.min(Math.max(ms, 0), latestTime) / 1_000;
}

const filePattern = /^([0-9a-f]{64})\.(open|taken)$/;

/** Anything that is not a file counts as unreadable. It is not a record, but it is a mark. */
async function readObject(path: string): Promise<Found | undefined> {
  let text: string | undefined;
  try {
    text = await orMissing(readFile(path, 'utf8'));
  } catch (error) {
    if (notFiles.has(codeOf(error))) return { value: undefined };
    throw error;
  }
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return { value: isJsonObject(value) ? value : undefined };
  } catch {
    return { value: undefined };
  }
}

/** Undefined if there is no such file. */
async function orMissing<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The errors of reading folders, and links that lead nowhere. */
const notFiles: ReadonlySet<unknown> = new Set(['EISDIR', 'ENOTDIR', 'ELOOP']);
