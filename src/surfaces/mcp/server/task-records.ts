/** Tasks in a store: one document each, and a lease while a process runs its call. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core.ts';
import type { Store } from '../../../extend.ts';
import { nameFor } from '../../../stores/shared/use-store.ts';
import { sha256 } from '../../../values/crypto.ts';
import { withDeadline } from '../../../values/limits/with-deadline.ts';
import type { Question } from './form-answers.ts';

/** What tasks need of a store. */
export const taskOperations = [
  'get',
  'set',
  'list',
  'publish',
] as const satisfies readonly Store.Operation['op'][];

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A task, as JSON. Times are epoch milliseconds. */
export interface TaskRecord {
  /** Whose task it is; undefined if the server does not tell its clients apart. */
  readonly principal?: string | undefined;
  /** The agents through which that person asked. */
  readonly actors?: readonly string[] | undefined;
  /** What its client calls the tool. */
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Milliseconds from its creation after which it is forgotten. */
  readonly ttlMs: number;
  readonly status: TaskStatus;
  readonly message?: string | undefined;
  readonly result?: CallToolResult | undefined;
  readonly error?: JsonObject | undefined;
  /** What the client is asked, by key. */
  readonly questions?: Readonly<Record<string, Question>> | undefined;
  /** Answers that the call has not got yet. */
  readonly answers?: Readonly<Record<string, JsonObject>> | undefined;
  /** A process runs the call, and holds the lease. */
  readonly runs?: boolean | undefined;
  /** The tools that its client was asked about, which a program may have called. */
  readonly askedAbout?: readonly string[] | undefined;
  /** The approval that the call waits for, or waited for last. */
  readonly approval?: TaskApproval | undefined;
}

/** The approval of a task. */
export interface TaskApproval {
  readonly id: string;
  readonly token: string;
  /** What `session.approvals.outcome` is asked: the approval, or the program that it is part of. */
  readonly outcome: string;
  /** The key of the question, if the client's user may answer it. */
  readonly key?: string | undefined;
  /** How many questions of this kind there were, so that no key is used twice. */
  readonly count: number;
}

/** A task as it is found. */
export interface FoundTask {
  readonly record: TaskRecord;
  readonly version: number;
  /** Whether the process that runs its call has shown that it lives. */
  readonly held: boolean;
}

const space = { shared: 'mcp tasks' } as const;
/** Milliseconds that a process may live without a sign before its calls count as lost. */
const leaseMs = 10_000;
/** How often a process shows it, in milliseconds. */
export const signMs = 3_000;
/** Milliseconds that a store may take. */
const storeMs = 10_000;
/** Most tasks of one principal. */
const maxTasks = 1_000;
const mostTries = 8;

/** Tasks by the hashes of their ids, which are as good as credentials. */
export interface TaskRecords {
  /** Whether a principal may have another task. */
  hasRoom(principal: string | undefined): Promise<boolean>;
  create(hash: string, record: TaskRecord): Promise<void>;
  read(hash: string): Promise<FoundTask | undefined>;
  /**
   * Changes a task, however often others change it meanwhile.
   * @param edit Gives what it becomes; undefined to leave it.
   * @returns what it became; undefined if it was left, or is not there
   */
  change(
    hash: string,
    edit: (found: FoundTask) => TaskRecord | undefined,
  ): Promise<TaskRecord | undefined>;
  /** The process that runs the call lives. */
  sign(hash: string): Promise<void>;
  /** Hears of changes by hash, and `undefined` when some may have been missed. */
  listen(listener: (hash: string | undefined) => void): Promise<() => void>;
}

export function hashOf(taskId: string): string {
  return sha256(taskId);
}

export function taskRecords(store: Store): TaskRecords {
  const apply = async <const T extends readonly Store.Operation[]>(operations: T) =>
    withDeadline(Promise.resolve(store.apply(space, operations)), storeMs);
  const read = async (hash: string): Promise<FoundTask | undefined> => {
    const keys = [taskKey(hash), leaseKey(hash)];
    const [found, held] = (await apply([{ op: 'get', keys }])).results?.[0] ?? [];
    return (
      found && {
        record: JSON.parse(found.value) as TaskRecord,
        version: found.version,
        held: held !== undefined,
      }
    );
  };
  return {
    async hasRoom(principal) {
      const list = { op: 'list', list: listOf(principal), limit: maxTasks, bytes: 1 } as const;
      return ((await apply([list])).results?.[0].length ?? 0) < maxTasks;
    },
    async create(hash, record) {
      await apply(step(hash, record, 0));
    },
    read,
    async change(hash, edit) {
      for (let tries = 0; tries < mostTries; tries++) {
        const found = await read(hash);
        const record = found && edit(found);
        if (found === undefined || record === undefined) return undefined;
        const { results } = await apply(step(hash, record, found.version));
        if (results !== undefined) return record;
      }
      throw new Error(`A task changed ${mostTries} times while it was written. Try again.`);
    },
    async sign(hash) {
      await apply([lease(hash)]);
    },
    listen: (listener) => store.listen(space, listener),
  };
}

function step(hash: string, record: TaskRecord, version: number): readonly Store.Operation[] {
  const set: Store.Set = {
    op: 'set',
    key: taskKey(hash),
    value: JSON.stringify(record),
    version,
    ttlMs: Math.max(1, Math.ceil(record.createdAt + record.ttlMs - Date.now())),
    lists: [listOf(record.principal)],
  };
  const told: Store.Publish = { op: 'publish', message: hash };
  return record.runs === true ? [set, lease(hash), told] : [set, told];
}

function lease(hash: string): Store.Set {
  return { op: 'set', key: leaseKey(hash), value: '', ttlMs: leaseMs };
}

function taskKey(hash: string): string {
  return `task ${hash}`;
}

function leaseKey(hash: string): string {
  return `running ${hash}`;
}

function listOf(principal: string | undefined): string {
  return principal === undefined ? 'everybody' : nameFor('principal', principal);
}
