/** A log with one line for each call. */
import { dirname, resolve } from 'node:path';
import { MisuseError } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { canKeep, storeOption } from '../../stores/shared/use-store.ts';
import { takeLock } from '../../values/files/lock-file.ts';
import { privateKey } from '../../values/files/private-file.ts';
import { makeFolder } from '../../values/files/private-folder.ts';
import {
  flag,
  fn,
  kind,
  object,
  oneOf,
  readOptions,
  type TableOf,
  text,
  wholeNumber,
  withDefault,
} from '../../values/options/index.ts';
import { type AuditLog, startLog } from './audit-log.ts';
import { argumentsBy, type Content, type Key, type LineHash, lineHash } from './line.ts';
import { logBeside } from './log-files.ts';
import { fileChain, type Opened, storeChain } from './next-line.ts';
import { openLog } from './open-log.ts';
import { storeWriter } from './store-writer.ts';
import { fileWriter, sinkWriter } from './writers.ts';

/** Options of {@link createAuditLog}: one of `path`, `store` and `sink`, and any others. */
export interface AuditOptions {
  /**
   * The newest file of the log. Older files are next to it as `path.1`, `path.2`, …, and so are
   * `path.lock` and, for hashed content, `path.key`. A missing folder is created. @default none
   */
  readonly path?: string | undefined;
  /**
   * Keeps the lines in a store, which many processes may write. Each writes a chain of its own, and
   * goes on with one whose writer has ended. @default none
   */
  readonly store?: Store | undefined;
  /**
   * How many of the newest lines of each chain the store keeps, from 1 000 to 100 000. @default all
   */
  readonly keep?: number | undefined;
  /**
   * Takes the lines instead of a file, without a line break, one at a time. If the function throws
   * or rejects, it gets the line again. @default none
   */
  readonly sink?: ((line: string) => void | Promise<void>) | undefined;
  /**
   * Whether a call that cannot be recorded is refused. A line for its start is then written before
   * its handler runs. @default false
   */
  readonly required?: boolean | undefined;
  /**
   * How arguments are kept: the JSON without secrets; an HMAC of that, so that equal arguments can
   * be recognised; or not at all. @default "redacted"
   */
  readonly content?: 'redacted' | 'hashed' | 'none' | undefined;
  /**
   * Makes the hashes HMACs, which only the owner of the key can compute. At least 32 bytes; a
   * string counts as UTF-8. Required for hashed content in a `store` or a `sink`. @default none
   */
  readonly key?: string | Uint8Array | undefined;
  /**
   * When a new file begins: before the current one exceeds `maxBytes`, from 1 024; or, with
   * `daily`, with the first line of a day (UTC). @default never
   */
  readonly rotate?:
    | { readonly maxBytes?: number | undefined; readonly daily?: boolean | undefined }
    | undefined;
  /**
   * When lines are made safe from a power failure: each at once, or all of them within a second.
   * Written lines survive the end of the process in any case. Not for a `store`, whose own settings
   * say it. @default "batch"
   */
  readonly fsync?: 'always' | 'batch' | undefined;
}

const table = {
  path: text(1, 4_096),
  store: storeOption,
  keep: wholeNumber(1_000, 100_000),
  sink: fn<NonNullable<AuditOptions['sink']>>(),
  required: withDefault(flag, false),
  content: withDefault(oneOf('redacted', 'hashed', 'none'), 'redacted'),
  key: kind<Key>(
    'a string or a Uint8Array',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  rotate: object<NonNullable<AuditOptions['rotate']>>(),
  fsync: oneOf('always', 'batch'),
} satisfies TableOf<AuditOptions>;

const rotateTable = { maxBytes: wholeNumber(1_024), daily: withDefault(flag, false) };

const where = 'createAuditLog';

/**
 * Makes an audit log, or opens it again. A torn last line, which a crash may leave, is replaced by
 * a line that says so.
 * @throws MisuseError `invalid_option`; `in_use` if another log writes to `path`; `invalid_file` if
 * the last line of the file is not one of this log and key. An error of the file system as it is.
 *
 * @example
 * ```ts
 * import { createAuditLog } from 'host-tools/audit';
 *
 * const audit = createAuditLog({ path: 'audit.jsonl' });
 * const detach = audit.attach(registry);
 * // later: detach(); await audit.close();
 * ```
 */
export function createAuditLog(options: AuditOptions): AuditLog {
  const read = readOptions(where, options, table);
  const { path, store, sink, required, content, key, fsync = 'batch' } = read;
  const places = Object.entries({ path, store, sink }).flatMap(([name, value]) =>
    value === undefined ? [] : [`\`${name}\``],
  );
  if (places.length !== 1)
    throw refused(
      'expected one of `path`, `store` and `sink`, got ' +
        `${places.length === 0 ? 'none' : places.join(' and ')}.`,
    );
  const rotate = readOptions(where, read.rotate, rotateTable, { path: 'rotate' });
  if (path === undefined && read.rotate !== undefined)
    throw refused('`rotate` is for a `path` only.');
  if (path === undefined && content === 'hashed' && key === undefined)
    throw refused(
      `hashed content in a ${places[0]} needs a \`key\`, because there is no file to keep one in.`,
    );
  if (store === undefined && read.keep !== undefined)
    throw refused('`keep` is for a `store` only.');
  const hash = lineHash(where, key);
  const common = { required, fsync, argumentsOf: argumentsBy(content, key ?? '') };
  if (store !== undefined) {
    if (read.fsync !== undefined)
      throw refused(
        '`fsync` is for a `path` only: the settings of a store say when lines are safe from a ' +
          'power failure.',
      );
    if (!canKeep(store, { needs: ['append', 'read', 'get', 'set', 'touch', 'delete'] }))
      throw refused('expected a `store` with logs, such as postgresStore() or redisStore().');
    const writer = storeWriter(store, hash, read.keep, Date.now);
    return startLog({
      ...common,
      writer,
      chain: storeChain,
      from: nothing.head,
      release: writer.release,
    });
  }
  const place = path === undefined ? undefined : openPlace(resolve(path), content, hash);
  const opened = place?.opened ?? nothing;
  return startLog({
    ...common,
    writer:
      place === undefined
        ? sinkWriter(sink as NonNullable<typeof sink>)
        : fileWriter(place.path, place.opened),
    chain: fileChain(opened, hash, rotate),
    from: opened.head,
    release: place?.release ?? (() => {}),
    argumentsOf: argumentsBy(content, place?.secret ?? key ?? ''),
  });
}

function refused(message: string): MisuseError {
  return new MisuseError('invalid_option', `${where}: ${message}`);
}

const nothing: Opened = {
  head: { seq: 0, hash: '' },
  size: 0,
  file: 1,
  since: undefined,
  regular: false,
};

function openPlace(path: string, content: Content, hash: LineHash) {
  const log = logBeside(path);
  if (log !== undefined)
    throw new MisuseError(
      'invalid_file',
      `${where}: expected \`path\` to be the newest file of a log, got ${path}, which belongs to ` +
        `the log ${log}. Give another path.`,
    );
  // Calls and their arguments are in it, so only the owner can read a folder that is created here.
  makeFolder(dirname(path));
  const { wasLeft, release } = takeLock(`${path}.lock`, where);
  try {
    return {
      path,
      release,
      opened: openLog(path, hash, wasLeft),
      // Without a key, short values could be guessed from their hash.
      secret:
        content === 'hashed'
          ? privateKey(`${path}.key`, 'Move it away to begin with a new key')
          : undefined,
    };
  } catch (error) {
    release();
    throw error;
  }
}
