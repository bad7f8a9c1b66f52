/** The files of a folder of approvals: their names, and how they are written and read. */
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../core.ts';
import { headBytes, rowIn } from '../../parts/durable-approvals/store.ts';
import { codeOf } from '../../values/errors/index.ts';
import { readStart } from '../../values/files/private-file.ts';
import { openPrivateFolder } from '../../values/files/private-folder.ts';
import { createFile, isDraft, oldDraftMs, replaceFile } from '../../values/files/whole-file.ts';
import { isJsonObject } from '../../values/json/index.ts';

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

/** The content of a file that was read. To parse megabytes takes time. */
export type Loaded = () => Found;

/**
 * The files of one folder. Ids become names by their hash, so that no id leads out of the folder.
 */
export interface ApprovalFiles {
  /** The file's content; undefined if there is no such file. */
  read(name: string, kind: FileKind): Promise<Found | undefined>;
  /** The text of a suspended call, which is parsed when it is needed. */
  record(name: string): Promise<Loaded | undefined>;
  /** The row of a suspended call in a list. Reads the beginning of its file, if that has a head. */
  row(name: string): Promise<Loaded | undefined>;
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
    read: async (name, kind) => (await load(pathOf(name, kind), wholeText))?.(),
    record: (name) => load(pathOf(name, 'open'), wholeText),
    row: (name) => load(pathOf(name, 'open'), startText),
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

const wholeText = (path: string): Promise<string> => readFile(path, 'utf8');

/** The row of a record with a head, as a text; the whole text of any other. */
async function startText(path: string): Promise<string> {
  const { text, whole } = await readStart(path, headBytes);
  const row = rowIn(text);
  if (row !== undefined) return JSON.stringify(row);
  return whole ? text : wholeText(path);
}

/** Anything that is not a file counts as unreadable. It is not a record, but it is a mark. */
async function load(
  path: string,
  textAt: (path: string) => Promise<string>,
): Promise<Loaded | undefined> {
  try {
    const text = await orMissing(textAt(path));
    return text === undefined ? undefined : () => parsed(text);
  } catch (error) {
    if (notFiles.has(codeOf(error))) return () => ({ value: undefined });
    throw error;
  }
}

function parsed(text: string): Found {
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
