/**
 * Documents as files. Each version of a document is a file of its own that never changes, and
 * whoever creates the file of a version has written it: of several processes, one succeeds.
 */
import { mkdir, readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../../values/crypto.ts';
import { codeOf } from '../../values/errors/index.ts';
import { readStart } from '../../values/files/private-file.ts';
import { createFile, isDraft, oldDraftMs } from '../../values/files/whole-file.ts';

/** What is known of a document without its value. The first line of its file. */
export interface Header {
  readonly key: string;
  /** Epoch milliseconds; null for a document without an end. */
  readonly ends: number | null;
  readonly lists: readonly string[];
  /** The document was deleted. */
  readonly gone?: true;
}

/** The file of the newest version of a document. */
export interface Place {
  readonly name: string;
  readonly version: number;
}

/** The latest time that every file system can store: the year 2037. */
const latestTime = 2_145_916_800_000;
/** How long what is over stays, so that no version comes again while somebody knows it. */
const keptMs = 3_600_000;
/** Nearly all headers are shorter. */
const headerBytes = 1_024;
/** Most headers that are remembered. */
const mostKnown = 10_000;

const pattern = /^([0-9a-f]{64})-(\d{15})$/;

/** The documents of one space, in one folder. */
export class DocumentFiles {
  readonly #root: string;
  readonly #folder: string;
  readonly #durable: boolean;
  /** Of files, which do not change. */
  readonly #known = new Map<string, Header>();

  /** @param root Of all spaces. It must exist: what is gone must not count as never written. */
  constructor(root: string, name: string, durable: boolean) {
    this.#root = root;
    this.#folder = join(root, name);
    this.#durable = durable;
  }

  /** The newest version of each document, by the digest of its key. */
  async places(): Promise<Map<string, Place>> {
    const names = await orMissing(readdir(this.#folder));
    if (names === undefined) await stat(this.#root);
    return newestOf(names ?? []);
  }

  /** Undefined if the file is gone, because there is a newer one. @throws Error if it is damaged */
  async header(name: string): Promise<Header | undefined> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const path = join(this.#folder, name);
    const start = await orMissing(readStart(path, headerBytes));
    if (start === undefined) return undefined;
    const text = start.text.includes('\n') ? start.text : await orMissing(readFile(path, 'utf8'));
    if (text === undefined) return undefined;
    const header = headerIn(text, path);
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(name, header);
    return header;
  }

  /** The value, or its beginning: at least so many bytes. Undefined if the file is gone. */
  async value(name: string, bytes?: number): Promise<string | undefined> {
    const path = join(this.#folder, name);
    const header = await this.header(name);
    if (header === undefined) return undefined;
    const text = await orMissing(
      bytes === undefined
        ? readFile(path, 'utf8')
        : readStart(path, Buffer.byteLength(JSON.stringify(header)) + 1 + bytes).then(
            (start) => start.text,
          ),
    );
    return text?.slice(text.indexOf('\n') + 1);
  }

  /** Writes a version. False if there is one. Removes the one before. */
  async write(before: Place | undefined, header: Header, value: string): Promise<number | false> {
    const version = (before?.version ?? 0) + 1;
    const path = join(this.#folder, `${digestOf(header.key)}-${String(version).padStart(15, '0')}`);
    const content = `${JSON.stringify(header)}\n${value}`;
    const time = Math.min(Math.max(header.ends ?? latestTime, 0), latestTime) / 1_000;
    const create = async (): Promise<boolean> => {
      await mkdir(this.#folder, { mode: 0o700 }).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
      return createFile(path, content, { durable: this.#durable }, time);
    };
    // Another process may have removed the folder when it was empty.
    const isFirst = await create().catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      return create();
    });
    if (!isFirst) return false;
    if (before !== undefined) await rm(join(this.#folder, before.name), { force: true });
    return version;
  }

  /** Removes what has long been over, and the drafts of dead processes. */
  async sweep(now: number): Promise<void> {
    // Read once: a file that is written later is not among those that may be removed.
    const names = (await orMissing(readdir(this.#folder))) ?? [];
    const newest = new Set([...newestOf(names).values()].map(({ name }) => name));
    for (const name of names) {
      const path = join(this.#folder, name);
      const time = (await orMissing(stat(path)))?.mtimeMs ?? now;
      const isOld = isDraft(name)
        ? time + oldDraftMs <= now
        : pattern.test(name) &&
          (!newest.has(name) || (time + keptMs <= now && (await this.#isOver(name, now))));
      if (isOld) await rm(path, { force: true });
    }
    // Fails unless the folder is empty.
    await rmdir(this.#folder).catch(() => undefined);
  }

  /** The time of a file may be wrong, as after a restored backup. Its content counts. */
  async #isOver(name: string, now: number): Promise<boolean> {
    const { ends } = (await this.header(name).catch(() => undefined)) ?? { ends: null };
    return ends !== null && ends + keptMs <= now;
  }
}

/** The newest version of each document that these files have, by the digest of its key. */
function newestOf(names: readonly string[]): Map<string, Place> {
  const newest = new Map<string, Place>();
  for (const name of names) {
    const [, key, digits] = pattern.exec(name) ?? [];
    if (key === undefined) continue;
    const version = Number(digits);
    if (version > (newest.get(key)?.version ?? 0)) newest.set(key, { name, version });
  }
  return newest;
}

function headerIn(text: string, path: string): Header {
  try {
    const header = JSON.parse(text.slice(0, text.indexOf('\n'))) as Header;
    const { key, ends, lists } = header;
    if (
      typeof key === 'string' &&
      (ends === null || Number.isFinite(ends)) &&
      Array.isArray(lists) &&
      path.includes(`${digestOf(key)}-`)
    )
      return header;
  } catch {
    // The error is below.
  }
  throw new Error(`${path} was modified or truncated. Remove it if you can do without it.`);
}

/** The name for a key or a space. No text leads out of the folder. */
export function digestOf(text: string): string {
  return sha256(JSON.stringify(text));
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
