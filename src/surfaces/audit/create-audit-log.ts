/** A log with one line for each call. */
import { dirname, resolve } from 'node:path';
import { MisuseError } from '../../core.ts';
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
import { type Opened, openLog } from './open-log.ts';
import { fileWriter, sinkWriter } from './writers.ts';

/** Options of {@link createAuditLog}: `path` or `sink`, and any others. */
export interface AuditOptions {
  /**
   * The newest file of the log. Older files are next to it as `path.1`, `path.2`, …, and so are
   * `path.lock` and, for hashed content, `path.key`. A missing folder is created. @default none
   */
  readonly path?: string | undefined;
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
   * string counts as UTF-8. Required for hashed content in a `sink`. @default none
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
   * Written lines survive the end of the process in any case. @default "batch"
   */
  readonly fsync?: 'always' | 'batch' | undefined;
}

const table = {
  path: text(1, 4_096),
  sink: fn<NonNullable<AuditOptions['sink']>>(),
  required: withDefault(flag, false),
  content: withDefault(oneOf('redacted', 'hashed', 'none'), 'redacted'),
  key: kind<Key>(
    'a string or a Uint8Array',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  rotate: object<NonNullable<AuditOptions['rotate']>>(),
  fsync: withDefault(oneOf('always', 'batch'), 'batch'),
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
  const { path, sink, required, content, key, fsync } = read;
  if ((path === undefined) === (sink === undefined))
    throw new MisuseError(
      'invalid_option',
      `${where}: expected either \`path\` or \`sink\`, got ` +
        `${path === undefined ? 'neither' : 'both'}.`,
    );
  const rotate = readOptions(where, read.rotate, rotateTable, { path: 'rotate' });
  if (sink !== undefined) {
    if (read.rotate !== undefined)
      throw new MisuseError('invalid_option', `${where}: \`rotate\` is for a \`path\` only.`);
    if (content === 'hashed' && key === undefined)
      throw new MisuseError(
        'invalid_option',
        `${where}: hashed content in a \`sink\` needs a \`key\`, because there is no file to ` +
          'keep one in.',
      );
  }
  const hash = lineHash(where, key);
  const place = path === undefined ? undefined : openPlace(resolve(path), content, hash);
  const contentSecret = place?.secret ?? key ?? '';
  return startLog({
    writer:
      place === undefined
        ? sinkWriter(sink as NonNullable<typeof sink>)
        : fileWriter(place.path, place.opened),
    opened: place?.opened ?? nothing,
    release: place?.release ?? (() => {}),
    hash,
    argumentsOf: argumentsBy(content, contentSecret),
    required,
    fsync,
    rotate,
  });
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
