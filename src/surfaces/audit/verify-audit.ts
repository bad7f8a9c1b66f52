/** Checks the chain of a log. */
import { MisuseError } from '../../core.ts';
import { anything, kind, readOptions } from '../../values/options/index.ts';
import {
  type AuditHead,
  type Key,
  type LineHash,
  lineHash,
  type ReadLine,
  readLine,
} from './line.ts';
import { linesOf, type RawLine } from './open-log.ts';

/** The result of {@link verifyAudit}. */
export interface AuditCheck {
  /** Whether every line is unchanged, and none is missing between them. */
  readonly ok: boolean;
  /** How many lines the log has, over all of its files. */
  readonly lines: number;
  /** The first line that is wrong, counted from 1 at the oldest file. */
  readonly brokenAt?: number;
  /** The file of that line. */
  readonly file?: string;
  /** What is wrong, for people. */
  readonly reason?: string;
}

/** Options of {@link verifyAudit}. */
export interface VerifyAuditOptions {
  /**
   * An earlier end of the log, as `head()` returned it, or only its hash. Without it, lines that
   * were cut off at the end go unnoticed. @default none
   */
  readonly head?: AuditHead | string | undefined;
  /** The key of the log. @default none */
  readonly key?: string | Uint8Array | undefined;
}

const table = {
  head: kind<AuditHead | string>(
    'a hash of 64 hex digits, or what `head()` of a log gave',
    (value) => hashOf(value) !== undefined,
  ),
  key: anything<Key>(),
};

const where = 'verifyAudit';

/**
 * Checks every line of a log, over all of its files: its hash, and its link to the line before.
 * Notices lines that were changed, removed, swapped, added or repeated. The log may be open. The
 * oldest files may be missing.
 * @throws MisuseError `invalid_option`. Rejects with the error of a file that cannot be read.
 *
 * @example
 * ```ts
 * import { verifyAudit } from 'host-tools/audit';
 *
 * const { ok, lines, brokenAt, reason } = await verifyAudit('audit.jsonl');
 * console.log(ok ? `${lines} lines` : `line ${brokenAt}: ${reason}`);
 * ```
 */
export async function verifyAudit(
  path: string,
  options: VerifyAuditOptions = {},
): Promise<AuditCheck> {
  if (typeof path !== 'string' || path === '')
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`path\` to be a non-empty string.`,
    );
  const { head, key } = readOptions(where, options, table);
  const hash = lineHash(where, key);
  const check = createCheck(hash);
  const wanted = head === undefined ? undefined : hashOf(head);
  let found = wanted === undefined || wanted === '';
  for await (const line of linesOf(path)) {
    const read = check.add(line);
    found ||= read?.hash === wanted;
  }
  return check.end(found);
}

/** Follows the chain of its input lines. */
export interface ChainCheck {
  /** The line, as far as it is valid. After the first fault, lines are only counted. */
  add(line: RawLine): ReadLine | undefined;
  /** @param headFound Whether the position that the log must contain was among the lines. */
  end(headFound: boolean): AuditCheck;
}

export function createCheck(hash: LineHash): ChainCheck {
  let lines = 0;
  let last: ReadLine | undefined;
  let lastFile: number | undefined;
  let fault: Pick<AuditCheck, 'brokenAt' | 'file' | 'reason'> | undefined;
  return {
    add(raw) {
      lines++;
      const line = raw.torn ? undefined : readLine(raw.bytes, hash);
      if (fault !== undefined) return line;
      const reason = faultOf(raw, line, last, lastFile);
      if (reason !== undefined) {
        fault = { brokenAt: lines, file: raw.file, reason };
        return line;
      }
      last = line;
      if (raw.isFirst) lastFile = line?.members.file as number;
      return line;
    },
    end(headFound) {
      if (fault === undefined && !headFound)
        fault = {
          brokenAt: lines + 1,
          reason:
            'the line of `head` is not in the log: lines were cut off its end, or its files are ' +
            'others',
        };
      return { ok: fault === undefined, lines, ...fault };
    },
  };
}

function faultOf(
  { torn, isFirst }: RawLine,
  line: ReadLine | undefined,
  last: ReadLine | undefined,
  lastFile: number | undefined,
): string | undefined {
  if (torn)
    return (
      'the line is torn: its writer ended in the middle of it. Opening the log again records ' +
      'that'
    );
  if (line === undefined) return 'this is not a line of an audit log';
  if (!line.fits) return 'the line was changed, or the key is not the one of the log';
  const { file } = line.members;
  if (last !== undefined && (line.prev !== last.hash || line.seq !== last.seq + 1))
    return 'the line does not follow the one before: lines were removed, added or moved';
  if (
    isFirst !== (typeof file === 'number') ||
    (lastFile !== undefined && isFirst && file !== lastFile + 1)
  )
    return isFirst
      ? 'this is not the first line that its file had'
      : 'the line is the first of a file, but not the first here';
  if (last === undefined && line.seq === 1 && line.prev !== '')
    return 'the first line of a log follows no other';
  return undefined;
}

function hashOf(head: unknown): string | undefined {
  const hash =
    typeof head === 'object' && head !== null && Object.hasOwn(head, 'hash')
      ? (head as AuditHead).hash
      : head;
  const isEmpty = hash === '' && typeof head === 'object';
  return typeof hash === 'string' && (isEmpty || /^[0-9a-f]{64}$/.test(hash)) ? hash : undefined;
}
