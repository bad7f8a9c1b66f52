/** The files of a folder of approvals: their names, and how they are written and read. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, type Stats, statSync } from 'node:fs';
import { link, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../errors/index.ts';
import { type JsonObject, MisuseError } from '../../index.ts';
import { isJsonObject } from '../../json/index.ts';

/** What is kept under an id: a suspended call, or the mark that it was taken. */
export type FileKind = 'open' | 'taken';

/** An older draft was left by a process that died. */
const oldDraftMs = 3_600_000;

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
  makeFolder(where, folder);
  const pathOf = (name: string, kind: FileKind): string => join(folder, `${name}.${kind}`);
  return {
    read: (name, kind) => readObject(pathOf(name, kind)),
    has: async (name, kind) => (await orMissing(stat(pathOf(name, kind)))) !== undefined,
    replace: (name, kind, value, keptUntil) =>
      placeDraft(folder, value, keptUntil, (path) => rename(path, pathOf(name, kind))),
    create: (name, kind, value, keptUntil) =>
      placeDraft(folder, value, keptUntil, (path) =>
        link(path, pathOf(name, kind)).then(
          () => true,
          (error: unknown) => {
            if (codeOf(error) === 'EEXIST') return false;
            throw error;
          },
        ),
      ),
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
        if (name === undefined && !draftPattern.test(file)) continue;
        const time = (await orMissing(stat(path)))?.mtimeMs;
        if (time === undefined || time > now) continue;
        if (name !== undefined) over.push({ name, kind: kind as FileKind });
        else if (time + oldDraftMs <= now) await rm(path, { force: true });
      }
      return over;
    },
  };
}

/**
 * Writes a draft and moves it to its place. So no reader sees half a file, and a crash leaves the
 * file that was there before.
 */
async function placeDraft<T>(
  folder: string,
  value: object,
  keptUntil: number,
  place: (path: string) => Promise<T>,
): Promise<T> {
  const path = join(folder, `${randomUUID()}.draft`);
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify(value));
      const time = Math.min(Math.max(keptUntil, 0), latestTime) / 1_000;
      await file.utimes(time, time);
      await file.sync();
    } finally {
      await file.close();
    }
    const placed = await place(path);
    await syncFolder(folder);
    return placed;
  } finally {
    await rm(path, { force: true });
  }
}

const filePattern = /^([0-9a-f]{64})\.(open|taken)$/;
const draftPattern = /^[0-9a-f-]{36}\.draft$/;

function makeFolder(where: string, folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false }) ?? makeMissing(folder);
  if (!found.isDirectory())
    throw new MisuseError('invalid_option', `${where}: expected \`dir\` to be a folder.`);
  // Windows has neither owners nor permission bits of this kind.
  const user = process.getuid?.();
  if (user === undefined) return;
  if (found.uid !== user && found.uid !== 0)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected a \`dir\` of the user of this process, ${user}, got one of user ` +
        `${found.uid}, who can put answered approvals back. Run \`chown\` on it, or give a ` +
        'folder of its own.',
    );
  if ((found.mode & 0o022) !== 0)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected a \`dir\` that only its owner can write to, got mode ` +
        `${(found.mode & 0o777).toString(8).padStart(4, '0')}. Whoever can write to it can put ` +
        'answered approvals back. Run `chmod 700` on it, or give a folder of its own.',
    );
}

function makeMissing(folder: string): Stats {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return statSync(folder);
}

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

/** Makes renames survive a power failure. Some systems cannot open a folder, and need not. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
