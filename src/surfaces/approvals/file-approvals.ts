/** Suspended calls in the files of a folder, which any number of processes may share. */
import { resolve } from 'node:path';
import type { ApprovalQuery, ApprovalRecord, InboxStore, JsonObject } from '../../index.ts';
import { fn, readOptions, required, type TableOf, text } from '../../options/index.ts';
import { pageOf, rememberedMs, safeClock } from '../../surface-port.ts';
import { type ApprovalFiles, approvalFiles, nameOf } from './approval-files.ts';

/** Options of {@link fileApprovals}. */
export interface FileApprovalsOptions {
  /**
   * The folder. Use it for this store only, on a local disk with hard links. It is created if it is
   * missing, for its owner only. No one else may have write access to it. 1 to 4 096 characters.
   */
  readonly dir: string;
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
}

const table = {
  dir: required(text(1, 4_096)),
  now: fn<() => number>(),
} satisfies TableOf<FileApprovalsOptions>;

const where = 'fileApprovals';

/** How often a process looks for expired files. */
const sweepMs = 60_000;

/** Files that are read at the same time. */
const readAtOnce = 16;

/**
 * A store for a registry's approvals in a folder, one file for each. Any number of processes on one
 * machine share the folder: each lists and answers the calls that others have suspended, and
 * exactly one answer counts. Acknowledged writes survive a power failure. Files are readable by
 * their owner only and contain the arguments in full, as well as the tokens.
 *
 * Expired files are removed, at most once a minute, when something is stored. Listing reads every
 * open approval, so use a database or `redisApprovals` for more than some thousands.
 * @throws MisuseError `invalid_option`, also if others may write to `dir`. Errors of the file
 * system as they are.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { fileApprovals } from 'host-tools/approvals';
 *
 * const registry = new HostToolRegistry({
 *   approvals: {
 *     secret: process.env.APPROVAL_SECRET ?? '',
 *     store: fileApprovals({ dir: './approvals' }),
 *   },
 * });
 * ```
 */
export function fileApprovals(options: FileApprovalsOptions): InboxStore {
  const { dir, now: clock } = readOptions(where, options, table);
  const now = clock === undefined ? () => Date.now() : safeClock(clock);
  const files = approvalFiles(where, resolve(dir));
  const sweep = sweeper(files, now);
  return {
    async put(record) {
      const name = nameOf(record.id);
      if (await files.has(name, 'taken')) return;
      await files.replace(name, 'open', record, record.expiresAt);
      await sweep();
    },
    async take(id) {
      const name = nameOf(id);
      if (await files.has(name, 'taken')) return undefined;
      const record = await readRecord(files, name);
      if (record === undefined) return undefined;
      const { sessionId, principal, expiresAt } = record;
      const mark = { id, sessionId, principal, expiresAt };
      // Creating this file is the one atomic step that decides who takes the record. If the process
      // dies after it, the approval is spent.
      if (!(await files.create(name, 'taken', mark, expiresAt + rememberedMs))) return undefined;
      // The record may have been replaced meanwhile. From here on, it cannot be.
      const last = (await readRecord(files, name)) ?? record;
      await files.remove(name, 'open');
      return last;
    },
    async list(sessionId) {
      const found: ApprovalRecord[] = [];
      for await (const records of openRecords(files))
        for (const record of records) if (record.sessionId === sessionId) found.push(record);
      return found;
    },
    async settle(outcome) {
      const name = nameOf(outcome.id);
      await files.replace(name, 'taken', outcome, outcome.expiresAt + rememberedMs);
      await files.remove(name, 'open');
      await sweep();
    },
    async read(id) {
      const name = nameOf(id);
      const record = await readRecord(files, name);
      // Checked last, so that a record that was taken meanwhile is not shown as open.
      const taken = await files.read(name, 'taken');
      // A mark that cannot be read still means that the record was taken.
      return taken === undefined ? record : (taken.value ?? { id });
    },
    async page(query) {
      let found: ApprovalRecord[] = [];
      for await (const records of openRecords(files)) found = best(found, records, query, now());
      return found;
    },
  };
}

/** The first records of a page, from those found before and further ones. */
function best(
  found: readonly ApprovalRecord[],
  records: readonly ApprovalRecord[],
  query: ApprovalQuery,
  now: number,
): ApprovalRecord[] {
  return pageOf([...found, ...records], query, now);
}

/** The records that were not taken, several at a time. */
async function* openRecords(files: ApprovalFiles): AsyncGenerator<ApprovalRecord[]> {
  const { open, taken } = await files.names();
  const names = [...open].filter((name) => !taken.has(name));
  for (let start = 0; start < names.length; start += readAtOnce) {
    const some = names.slice(start, start + readAtOnce);
    const records = await Promise.all(some.map((name) => readRecord(files, name)));
    yield records.filter((record) => record !== undefined);
  }
}

/**
 * The record of a name; undefined if there is none, or if the file is not a record of that name.
 */
async function readRecord(
  files: ApprovalFiles,
  name: string,
): Promise<(ApprovalRecord & JsonObject) | undefined> {
  const value = (await files.read(name, 'open'))?.value;
  if (value === undefined) return undefined;
  const { id, sessionId, expiresAt } = value;
  return typeof id === 'string' &&
    nameOf(id) === name &&
    typeof sessionId === 'string' &&
    typeof expiresAt === 'number'
    ? (value as ApprovalRecord & JsonObject)
    : undefined;
}

/** Returns a function that removes expired files, once in a while. */
function sweeper(files: ApprovalFiles, now: () => number): () => Promise<void> {
  let next = Number.NEGATIVE_INFINITY;
  return async () => {
    const time = now();
    if (time < next) return;
    next = time + sweepMs;
    try {
      for (const { name, kind } of await files.old(time)) {
        // The time of a file may be wrong, as after a restored backup. Its content counts.
        const expiresAt = (await files.read(name, kind))?.value?.expiresAt;
        const remembered = kind === 'taken' ? rememberedMs : 0;
        if (typeof expiresAt === 'number' && expiresAt + remembered <= time)
          await files.remove(name, kind);
      }
    } catch {
      // The record is stored. The next clean-up tries again.
    }
  };
}
