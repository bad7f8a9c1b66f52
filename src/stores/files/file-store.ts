/** A store of documents alone, in the files of a folder that processes of one machine share. */
import { readdir } from 'node:fs/promises';
import type { Store } from '../../api/store.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { openPrivateFolder } from '../../values/files/private-folder.ts';
import { checkStep } from '../shared/check-operations.ts';
import { DocumentFiles, digestOf, type Header, type Place } from './document-files.ts';

/** How the files of a store are kept. */
export interface FileStoreSettings {
  /** The function whose option `dir` the folder is. */
  readonly where: string;
  readonly dir: string;
  /** What someone who can write to the folder can do. */
  readonly danger: string;
  readonly now: () => number;
  /** Whether what was answered survives a loss of power. */
  readonly durable: boolean;
}

/** How often a process looks for what is over. */
const sweepMs = 60_000;
/** How often a step is tried while others write the same document. */
const mostTries = 100;
/** Documents that are read at the same time. */
const atOnce = 16;
/** The operations that a folder of files does not have. */
const lacks = [
  ...['open', 'extend', 'drop', 'touch', 'append', 'read'],
  ...['count', 'add', 'subtract', 'sum', 'publish'],
] as readonly Store.Operation['op'][];

/** A document, as it is found. */
interface Found extends Place {
  readonly header: Header;
}

/**
 * Makes the folder if there is none. Only the first operation of a step that writes may depend on
 * what is there. A process that dies within a step may leave only the first part of it.
 * @throws MisuseError `invalid_option` if others may write to the folder. Errors of the file system
 * as they are.
 */
export function fileStore(settings: FileStoreSettings): Store {
  const { where, dir, danger, now, durable } = settings;
  openPrivateFolder(dir, { where, danger });
  const spaces = new Map<string, WeakRef<DocumentFiles>>();
  const filesOf = (name: string): DocumentFiles => {
    const known = spaces.get(name)?.deref();
    if (known !== undefined) return known;
    const files = new DocumentFiles(dir, name, durable);
    spaces.set(name, new WeakRef(files));
    return files;
  };
  let sweepAt = now() + sweepMs;
  const sweep = async (time: number): Promise<void> => {
    if (time < sweepAt) return;
    sweepAt = time + sweepMs;
    for (const [name, held] of spaces) if (held.deref() === undefined) spaces.delete(name);
    try {
      for (const name of await readdir(dir))
        if (/^[0-9a-f]{64}$/.test(name)) await filesOf(name).sweep(time);
    } catch {
      // What was asked for is done. The next clean-up tries again.
    }
  };
  return {
    kind: 'files',
    lacks,
    async apply<const T extends readonly Store.Operation[]>(space: Store.Space, operations: T) {
      checkStep(space, operations);
      const { shared } = space as { readonly shared?: string };
      const step = new Step(filesOf(digestOf(shared ?? '')), now());
      const results: unknown[] = [];
      for (const [refused, operation] of operations.entries()) {
        const result = await step.run(operation);
        if (result instanceof Misfit)
          return { refused, gone: false, retryAfterMs: 0, found: result.found };
        results.push(result);
      }
      if (step.hasWritten) await sweep(step.now);
      return { results: results as unknown as Store.Applied<T>['results'] };
    },
    schedule: unavailable,
    due: unavailable,
    listen: unavailable,
    ping() {
      openPrivateFolder(dir, { where, danger });
    },
    async close() {},
  };
}

async function unavailable(): Promise<never> {
  throw new MisuseError(
    'invalid_operation',
    'A folder of files keeps documents alone. Use memoryStore(), sqliteStore(), redisStore() or ' +
      'postgresStore().',
  );
}

class Misfit {
  readonly found: Store.Document | undefined;
  constructor(found: Store.Document | undefined) {
    this.found = found;
  }
}

class Step {
  readonly #files: DocumentFiles;
  readonly now: number;
  hasWritten = false;

  constructor(files: DocumentFiles, now: number) {
    this.#files = files;
    this.now = now;
  }

  async run(operation: Store.Operation): Promise<unknown> {
    switch (operation.op) {
      case 'get': {
        const places = await this.#files.places();
        return inTurns(operation.keys, (key) => this.#document(key, places));
      }
      case 'set': {
        const { key, value, version, ttlMs, lists = [] } = operation;
        const ends = ttlMs === undefined ? (operation.expiresAt ?? null) : this.now + ttlMs;
        return this.#write({ key, ends, lists }, value, version);
      }
      case 'delete': {
        const { key, version, required = false } = operation;
        const header: Header = { key, ends: this.now, lists: [], gone: true };
        const written = await this.#write(header, '', version, required);
        return written instanceof Misfit ? (required ? written : false) : written !== 0;
      }
      case 'list':
        return this.#list(operation);
      default:
        return unavailable();
    }
  }

  /**
   * @param wanted The version that must be there.
   * @param mustExist Whether there must be one.
   * @returns the new version; 0 if there was nothing to delete
   */
  async #write(
    header: Header,
    value: string,
    wanted: number | undefined,
    mustExist = false,
  ): Promise<number | Misfit> {
    if (this.hasWritten && (wanted !== undefined || mustExist)) return unavailable();
    for (let tries = mostTries; tries > 0; tries--) {
      const place = (await this.#files.places()).get(digestOf(header.key));
      const found = await this.#found(place);
      if (place !== undefined && found === undefined) continue;
      const exists = found !== undefined && this.#isThere(found.header);
      if (
        (wanted !== undefined && wanted !== (exists ? found.version : 0)) ||
        (mustExist && !exists)
      )
        return new Misfit(await this.#document(header.key));
      if (header.gone === true && !exists) return 0;
      const version = await this.#files.write(place, header, value);
      if (version === false) continue;
      this.hasWritten = true;
      return version;
    }
    throw new Error(`A document changed ${mostTries} times while it was written. Try again.`);
  }

  #isThere({ ends, gone }: Header): boolean {
    return gone !== true && (ends === null || ends > this.now);
  }

  /** Undefined if there is none, or a newer one by now. */
  async #found(place: Place | undefined): Promise<Found | undefined> {
    const header = place && (await this.#files.header(place.name));
    return place && header && { ...place, header };
  }

  /** @param known The newest versions, if they were just read. */
  async #document(
    key: string,
    known?: ReadonlyMap<string, Place>,
  ): Promise<Store.Document | undefined> {
    for (let tries = mostTries; tries > 0; tries--) {
      const places = tries === mostTries ? known : undefined;
      const place = (places ?? (await this.#files.places())).get(digestOf(key));
      if (place === undefined) return undefined;
      const found = await this.#found(place);
      if (found === undefined) continue;
      if (!this.#isThere(found.header)) return undefined;
      const value = await this.#files.value(place.name);
      if (value !== undefined) return this.#shown(found, value);
    }
    throw new Error(`A document changed ${mostTries} times while it was read. Try again.`);
  }

  #shown({ version, header: { ends } }: Found, value: string): Store.Document {
    return { value, version, remainingMs: ends === null ? undefined : ends - this.now };
  }

  async #list({ list, after, limit, bytes }: Store.List): Promise<readonly Store.Listed[]> {
    const places = [...(await this.#files.places()).values()];
    // What is damaged is not listed. Nothing is known of it.
    const found = await inTurns(places, (place) => this.#found(place).catch(() => undefined));
    const rest = found
      .filter((one): one is Found => one?.header.lists.includes(list) === true)
      .filter(({ header }) => this.#isThere(header))
      .filter(({ header }) => after === undefined || isAfter(header, after))
      .sort((one, other) => (isAfter(one.header, positionOf(other.header)) ? 1 : -1));
    const listed: Store.Listed[] = [];
    for (const one of rest) {
      if (listed.length >= limit) break;
      const value = await this.#files.value(one.name, bytes);
      const { key, ends } = one.header;
      if (value !== undefined) listed.push({ ...this.#shown(one, value), key, expiresAt: ends });
    }
    return listed;
  }
}

/** Reads a few at a time, since a process can have only so many open files. */
async function inTurns<T, R>(
  all: readonly T[],
  read: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += atOnce)
    results.push(...(await Promise.all(all.slice(at, at + atOnce).map(read))));
  return results;
}

function positionOf({ ends, key }: Header): NonNullable<Store.List['after']> {
  return { expiresAt: ends, key };
}

/** The order of lists: by ends, those without one last, then by the bytes of keys. */
function isAfter({ ends, key }: Header, other: NonNullable<Store.List['after']>): boolean {
  const [one, two] = [ends ?? Infinity, other.expiresAt ?? Infinity];
  return one === two ? Buffer.compare(Buffer.from(key), Buffer.from(other.key)) > 0 : one > two;
}
