/** Checks the chain of a log. */
import { MisuseError } from '../../core.ts';
import type { Store } from '../../extend.ts';
import { storeOption } from '../../stores/shared/use-store.ts';
import { anything, kind, readOptions, required } from '../../values/options/index.ts';
import {
  type AuditHead,
  type Key,
  type LineHash,
  lineHash,
  type ReadLine,
  readLine,
} from './line.ts';
import { linesOf, type RawLine } from './open-log.ts';
import { countChains, countChanged, endsOf, entriesOf, rawLine } from './store-chains.ts';

/** The result of {@link verifyAudit}. */
export interface AuditCheck {
  /** Whether every line is unchanged, and none is missing between them. */
  readonly ok: boolean;
  /** How many lines the log has, over all of its files or chains. */
  readonly lines: number;
  /**
   * The first line that is wrong, counted from 1 at the oldest file, or at the oldest line of its
   * chain.
   */
  readonly brokenAt?: number;
  /** The file of that line. */
  readonly file?: string;
  /** The chain of that line, in a store. */
  readonly chain?: number;
  /** Where each chain of a store ends. Keep them elsewhere, for `heads` of a later check. */
  readonly heads?: readonly AuditHead[];
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

/** An audit log in a store, for {@link verifyAudit}. */
export interface StoredAudit {
  /** The store. */
  readonly store: Store;
  /**
   * Earlier ends of chains, as `head()` or an earlier check returned them, or only their hashes.
   * Without them, lines that were cut off at the end of a chain, and the last chains, may be
   * missing unnoticed. @default none
   */
  readonly heads?: readonly (AuditHead | string)[] | undefined;
  /** The key of the log. @default none */
  readonly key?: string | Uint8Array | undefined;
}

const headKind = kind<AuditHead | string>(
  'a hash of 64 hex digits, or what `head()` of a log gave',
  (value) => hashOf(value) !== undefined,
);
const headsKind = kind<readonly (AuditHead | string)[]>(
  'a list of hashes of 64 hex digits, or of what `head()` of logs gave',
  (value) => Array.isArray(value) && value.every((one) => hashOf(one) !== undefined),
);
const storedTable = { store: required(storeOption), heads: headsKind, key: anything<Key>() };
const table = { head: headKind, key: anything<Key>() };
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
export function verifyAudit(path: string, options?: VerifyAuditOptions): Promise<AuditCheck>;
/**
 * Checks every line of all chains of a log in a store, likewise. Processes may write it meanwhile.
 * The oldest lines of a chain may be missing, if the log keeps so many only. `heads` of the answer
 * says where the chains end.
 * @throws MisuseError `invalid_option`. Rejects with the error of a store that cannot be read.
 */
export function verifyAudit(stored: StoredAudit): Promise<AuditCheck>;
export async function verifyAudit(
  log: string | StoredAudit,
  options: VerifyAuditOptions = {},
): Promise<AuditCheck> {
  if (typeof log === 'object') return await verifyStored(log);
  if (typeof log !== 'string' || log === '')
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`path\` to be a non-empty string, or \`{ store }\`.`,
    );
  const { head, key } = readOptions(where, options, table);
  const hash = lineHash(where, key);
  const check = createCheck(hash);
  const wanted = head === undefined ? undefined : hashOf(head);
  let found = wanted === undefined || wanted === '';
  for await (const line of linesOf(log)) {
    const read = check.add(line);
    found ||= read?.hash === wanted;
  }
  return check.end(found);
}

async function verifyStored(given: StoredAudit): Promise<AuditCheck> {
  const { store, heads: earlier = [], key } = readOptions(where, given, storedTable);
  const hash = lineHash(where, key);
  const missing = new Set(earlier.map((head) => hashOf(head) as string).filter(Boolean));
  const heads: AuditHead[] = [];
  let lines = 0;
  const { chains, isAsWritten } = await countChains(store);
  let fault: Omit<AuditCheck, 'ok' | 'lines'> | undefined;
  for (let chain = 1; chain <= chains; chain++) {
    const check = createCheck(hash);
    const { last: newest } = await endsOf(store, chain);
    let last: ReadLine | undefined;
    let id = 0;
    for await (const entry of entriesOf(store, chain)) {
      // A log that keeps so many lines drops its oldest ones while others are added.
      if (id > 0 && entry.id > id + 1 && (await endsOf(store, chain)).first > id + 1) check.skip();
      ({ id } = entry);
      last = check.add(rawLine(entry)) ?? last;
      if (last !== undefined) missing.delete(last.hash);
    }
    const { ok: _, lines: own, ...found } = check.end(true);
    lines += own;
    if (last !== undefined) heads.push({ seq: last.seq, hash: last.hash, chain });
    // Whoever removes rows of a database may leave their count.
    if (found.brokenAt === undefined && (own === 0 || id < newest))
      Object.assign(found, {
        brokenAt: own + 1,
        reason: own === 0 ? 'the lines of this chain are gone' : 'lines were cut off its end',
      });
    if (found.brokenAt !== undefined) fault ??= { ...found, chain };
  }
  if (!isAsWritten) fault ??= { reason: countChanged };
  if (missing.size > 0)
    fault ??= {
      reason:
        `${missing.size === 1 ? 'a line' : `${missing.size} lines`} of \`heads\` ` +
        `${missing.size === 1 ? 'is' : 'are'} not in the log: lines were cut off the end of a ` +
        'chain, or a chain is gone',
    };
  return { ok: fault === undefined, lines, ...fault, heads };
}

/** Follows the chain of its input lines. */
export interface ChainCheck {
  /** The line, as far as it is valid. After the first fault, lines are only counted. */
  add(line: RawLine): ReadLine | undefined;
  /** Lines between the last and the next one are not kept any more. */
  skip(): void;
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
        fault = { brokenAt: lines, reason, ...(raw.file !== undefined && { file: raw.file }) };
        return line;
      }
      last = line;
      if (raw.isFirst) lastFile = line?.members.file as number;
      return line;
    },
    skip() {
      last = undefined;
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
