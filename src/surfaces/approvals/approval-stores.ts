/** Stores for approvals: in files, and in memory. */
import { resolve } from 'node:path';
import type { ApprovalRecord, InboxStore, JsonObject } from '../../core.ts';
import { memoryApprovalStore } from '../../parts/durable-approvals/memory-store.ts';
import { pageOf, rememberedMs } from '../../parts/durable-approvals/store.ts';
import { safeClock } from '../../values/limits/safe-clock.ts';
import { createPause } from '../../values/limits/stretches.ts';
import { fn, readOptions, required, type TableOf, text } from '../../values/options/index.ts';
import {
  type ApprovalFiles,
  approvalFiles,
  type Found,
  type Loaded,
  nameOf,
} from './approval-files.ts';

// Suspended calls in the files of a folder, which any number of processes may share.

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
 * Expired files are removed, at most once a minute, when something is stored. Listing reads the
 * beginning of the file of every open approval, so use a database or `redisApprovals` for more than
 * some thousands.
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
      const rows = (await openRows(files)).filter((row) => row.sessionId === sessionId);
      return recordsOf(files, rows, Number.POSITIVE_INFINITY);
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
      const { limit } = query;
      const all = { ...query, limit: Number.POSITIVE_INFINITY };
      return recordsOf(files, pageOf(await openRows(files), all, now()), limit);
    },
    async heads(query) {
      return pageOf(await openRows(files), query, now());
    },
  };
}

/** A record, or its head and where that belongs. */
type Row = Pick<ApprovalRecord, 'id' | 'sessionId' | 'principal' | 'expiresAt'> & JsonObject;

/** The rows of the records that were not taken. */
async function openRows(files: ApprovalFiles): Promise<Row[]> {
  const { open, taken } = await files.names();
  const names = [...open].filter((name) => !taken.has(name));
  return readEach(names, files.row, Number.POSITIVE_INFINITY);
}

/** The first records of rows that are still there. */
async function recordsOf(
  files: ApprovalFiles,
  rows: readonly Row[],
  limit: number,
): Promise<ApprovalRecord[]> {
  const names = rows.map(({ id }) => nameOf(id));
  return (await readEach(names, files.record, limit)) as (Row & ApprovalRecord)[];
}

/** What is found under each name, in their order: several are read at once, and parsed in turns. */
async function readEach(
  names: readonly string[],
  load: (name: string) => Promise<Loaded | undefined>,
  limit: number,
): Promise<Row[]> {
  const found: Row[] = [];
  const pause = createPause();
  for (let at = 0; at < names.length && found.length < limit; ) {
    const some = names.slice(at, at + Math.min(readAtOnce, limit - found.length));
    at += some.length;
    for (const [index, loaded] of (await Promise.all(some.map(load))).entries()) {
      await pause();
      const row = rowOf(loaded?.(), some[index] as string);
      if (row !== undefined) found.push(row);
    }
  }
  return found;
}

/** The record of a name; undefined if there is none. */
async function readRecord(
  files: ApprovalFiles,
  name: string,
): Promise<(ApprovalRecord & JsonObject) | undefined> {
  return rowOf(await files.read(name, 'open'), name) as (ApprovalRecord & JsonObject) | undefined;
}

/** Undefined if the file is not a record of that name. */
function rowOf(found: Found | undefined, name: string): Row | undefined {
  const value = found?.value;
  if (value === undefined) return undefined;
  const { id, sessionId, expiresAt } = value;
  return typeof id === 'string' &&
    nameOf(id) === name &&
    typeof sessionId === 'string' &&
    typeof expiresAt === 'number'
    ? (value as Row)
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

// Suspended calls in the memory of a process.

/** Options of {@link memoryApprovals}. */
export interface MemoryApprovalsOptions {
  /**
   * Returns epoch milliseconds. If it throws or returns something else, the machine's clock is
   * used.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
}

const memoryTable = { now: fn<() => number>() } satisfies TableOf<MemoryApprovalsOptions>;

/**
 * A store for a registry's approvals in the memory of this process, as a registry has by default.
 * Give the same one to several registries to let each of them answer what the others have
 * suspended. It answers at once, and is lost when the process ends.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { memoryApprovals } from 'host-tools/approvals';
 *
 * const secret = process.env.APPROVAL_SECRET ?? '';
 * const store = memoryApprovals();
 * const [chat, mail] = [
 *   new HostToolRegistry({ approvals: { secret, store } }),
 *   new HostToolRegistry({ approvals: { secret, store } }), // lists those of `chat` too
 * ];
 * ```
 */
export function memoryApprovals(options: MemoryApprovalsOptions = {}): InboxStore {
  const { now } = readOptions('memoryApprovals', options, memoryTable);
  return memoryApprovalStore(now === undefined ? () => Date.now() : safeClock(now));
}
