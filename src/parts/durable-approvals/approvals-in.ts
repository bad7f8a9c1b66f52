/** Suspended calls, and how they ended, in a store. */
import type { SuspendedApproval } from '../../api/approval-store.ts';
import type { Store } from '../../api/store.ts';
import { nameFor } from '../../stores/shared/use-store.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';
import {
  type ApprovalQuery,
  headBytes,
  rememberedMs,
  rowIn,
  type SettledApproval,
} from './store.ts';

/** What approvals need of a store. */
export const approvalUse = { what: 'approvals', needs: ['set', 'get', 'list', 'delete'] } as const;

const space = { shared: 'approvals' } as const;

/** The list of all suspended calls. Those of a session and of a principal have their own. */
const everything = 'all';
/** How often a step is tried when others change the record at the same time. */
const mostTries = 8;
/** Whole records that are read at once, which may have megabytes. */
const wholeAtOnce = 20;
const rowsAtOnce = 1_000;

/** What is found under the id of an approval. */
export interface FoundApproval {
  /** A suspended call, the mark that it was taken, or how it ended. */
  readonly record: JsonObject;
  /** Whether somebody who has taken it still runs the call. */
  readonly held: boolean;
}

export type Instead = (record: JsonObject) => JsonObject | undefined;

/** Suspended calls, and how they ended. */
export interface ApprovalsIn {
  /** Keeps a suspended call, unless one of its id was taken. */
  put(record: SuspendedApproval): MaybePromise<void>;
  /**
   * Returns a suspended call once, in any number of processes.
   * @param leaseMs How long whoever takes it may live without a sign; 0 if nobody runs the call.
   * @param instead The record to keep instead of taking it, or the one it got to change nothing;
   * undefined to take it. It is asked again if others change the record at the same time.
   */
  take(id: string, leaseMs: number, instead?: Instead): MaybePromise<JsonObject | undefined>;
  /** Whoever has taken it still lives. */
  renew(id: string, leaseMs: number): MaybePromise<void>;
  /** Keeps the answer, and later how the call ended. */
  settle(outcome: SettledApproval): MaybePromise<void>;
  /** Removes nothing. */
  read(id: string): MaybePromise<FoundApproval | undefined>;
  /** Suspended calls that wait, ordered by expiry, then by id. */
  page(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
  /** The same calls, but of a record that has a `head` only this and where it belongs. */
  heads(query: ApprovalQuery): MaybePromise<readonly JsonObject[]>;
}

/**
 * One document for each approval: the suspended call, then a mark that it was taken, then its
 * outcome. Only calls that wait are in lists. A second document is there as long as whoever has
 * taken the call runs it.
 * @param now The time in epoch milliseconds; earlier ends are not looked for.
 */
export function approvalsIn(store: Store, now: () => number): ApprovalsIn {
  return {
    put: (record) => put(store, record, 0, mostTries),
    take: (id, leaseMs, instead) => take(store, id, leaseMs, instead, mostTries),
    renew: (id, leaseMs) => after(store.apply(space, [lease(id, leaseMs)]), () => {}),
    settle: (outcome) => settle(store, outcome),
    read: (id) => read(store, id),
    page: (query) => page(store, now(), query, whole),
    heads: (query) => page(store, now(), query, heads),
  };
}

function nameOf(id: string): string {
  return nameFor('approval', id);
}

function leaseName(id: string): string {
  return nameFor('answering', id);
}

function lease(id: string, leaseMs: number): Store.Set {
  return { op: 'set', key: leaseName(id), value: '', ttlMs: leaseMs };
}

/** It stays for an hour after it has expired, because clocks differ. */
function endOf(expiresAt: number): number {
  return Math.ceil(expiresAt) + rememberedMs;
}

function recordIn(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** A record for a list, in which one that is damaged hides no other. */
function readableIn(text: string): JsonObject {
  try {
    return recordIn(text);
  } catch {
    return {};
  }
}

/** Whether a record is a suspended call. */
function isOpen(record: JsonObject): boolean {
  return Object.hasOwn(record, 'token');
}

/** @param version of the record that is replaced; 0 if there should be none */
function put(
  store: Store,
  record: SuspendedApproval,
  version: number,
  tries: number,
): MaybePromise<void> {
  return after(store.apply(space, [open(record, version)]), (outcome) => {
    if (outcome.results !== undefined) return undefined;
    const { found } = outcome;
    // It was taken, so its token must not be used again.
    if (found !== undefined && !isOpen(recordIn(found.value))) return undefined;
    if (tries === 1) throw contended();
    return put(store, record, found?.version ?? 0, tries - 1);
  });
}

/** Keeps a call that waits. */
function open(
  record: Pick<SuspendedApproval, 'id' | 'sessionId' | 'principal' | 'expiresAt'>,
  version: number,
): Store.Set {
  const { id, sessionId, principal, expiresAt } = record;
  return {
    op: 'set',
    key: nameOf(id),
    value: JSON.stringify(record),
    version,
    // Its own, so that no member of a changed prototype counts.
    ttlMs: undefined,
    expiresAt: endOf(expiresAt),
    lists: [everything, nameFor('session', sessionId), nameFor('principal', principal)],
  };
}

function read(store: Store, id: string): MaybePromise<FoundApproval | undefined> {
  return after(
    store.apply(space, [{ op: 'get', keys: [nameOf(id), leaseName(id)] }]),
    ({ results }) => {
      const [found, held] = results?.[0] ?? [];
      return found && { record: recordIn(found.value), held: held !== undefined };
    },
  );
}

function take(
  store: Store,
  id: string,
  leaseMs: number,
  instead: Instead | undefined,
  tries: number,
): MaybePromise<JsonObject | undefined> {
  const get: Store.Get = { op: 'get', keys: [nameOf(id)] };
  return after(store.apply(space, [get]), ({ results }): MaybePromise<JsonObject | undefined> => {
    const found = results?.[0][0];
    const record = found && recordIn(found.value);
    if (found === undefined || record === undefined || !isOpen(record)) return undefined;
    const kept = instead?.(record);
    if (kept === record) return record;
    const mark: Store.Set = {
      op: 'set',
      key: nameOf(id),
      value: JSON.stringify(markOf(record, leaseMs)),
      version: found.version,
      ttlMs: undefined,
      expiresAt: endOf(Number(record.expiresAt)),
    };
    const step: readonly Store.Operation[] =
      kept !== undefined
        ? [open(kept as SuspendedApproval & JsonObject, found.version)]
        : leaseMs > 0
          ? [mark, lease(id, leaseMs)]
          : [mark];
    return after(store.apply(space, step), (answer) => {
      if (answer.results !== undefined) return record;
      // Someone else was first, and the next look finds its mark.
      if (tries === 1) throw contended();
      return take(store, id, leaseMs, instead, tries - 1);
    });
  });
}

/** What stays of a call that was taken. */
function markOf({ id, sessionId, principal, expiresAt, request }: JsonObject, leaseMs: number) {
  const { callId, tool } = (request ?? {}) as { callId?: string; tool?: { name?: string } };
  return { id, sessionId, principal, expiresAt, callId, tool: tool?.name, runs: leaseMs > 0 };
}

function settle(store: Store, outcome: SettledApproval): MaybePromise<void> {
  const { id, expiresAt, ended } = outcome;
  const value = JSON.stringify(outcome);
  const set: Store.Set = {
    op: 'set',
    key: nameOf(id),
    value,
    ttlMs: undefined,
    expiresAt: endOf(expiresAt),
  };
  const step: readonly Store.Operation[] =
    ended === true ? [set, { op: 'delete', key: leaseName(id) }] : [set];
  return after(store.apply(space, step), () => {});
}

/** How much is read of each record. */
interface Reading {
  readonly bytes: number | undefined;
  readonly atOnce: number;
  /** Undefined if the record must be read as a whole. */
  row(text: string): JsonObject | undefined;
}

const whole: Reading = { bytes: undefined, atOnce: wholeAtOnce, row: readableIn };
const heads: Reading = {
  bytes: headBytes,
  atOnce: rowsAtOnce,
  row(text) {
    const row = rowIn(text);
    if (row !== undefined) return row;
    try {
      return recordIn(text);
    } catch {
      // It is longer than what was read, and has no head.
      return undefined;
    }
  },
};

/** Reads as many calls as are asked for. */
function page(
  store: Store,
  now: number,
  query: ApprovalQuery,
  reading: Reading,
): MaybePromise<readonly JsonObject[]> {
  const { sessionId, principal, after: last, limit } = query;
  const list =
    sessionId !== undefined
      ? nameFor('session', sessionId)
      : principal !== undefined
        ? nameFor('principal', principal)
        : everything;
  const found: JsonObject[] = [];
  const start = startOf(now, last);
  const go = (from: NonNullable<Store.List['after']>): MaybePromise<readonly JsonObject[]> => {
    const most = Math.min(reading.atOnce, limit - found.length);
    return after(
      store.apply(space, [{ op: 'list', list, after: from, limit: most, bytes: reading.bytes }]),
      ({ results }): MaybePromise<readonly JsonObject[]> => {
        const listed = results?.[0] ?? [];
        return after(recordsOf(store, listed, reading), (records) => {
          for (const record of records)
            if (principal === undefined || record.principal === principal) found.push(record);
          const next = listed.at(-1);
          if (next === undefined || listed.length < most || found.length >= limit) return found;
          return go(next);
        });
      },
    );
  };
  return go(start);
}

/** What has expired is not read again. */
function startOf(now: number, last: ApprovalQuery['after']): NonNullable<Store.List['after']> {
  const live = { expiresAt: Math.max(0, Math.floor(now)) + rememberedMs, key: '\u{10ffff}' };
  if (last === undefined || endOf(last.expiresAt) <= live.expiresAt) return live;
  return { expiresAt: endOf(last.expiresAt), key: nameOf(last.id) };
}

/** Reads those as a whole whose beginning does not say enough. */
function recordsOf(
  store: Store,
  listed: readonly Store.Listed[],
  { row }: Reading,
): MaybePromise<readonly JsonObject[]> {
  const rows = listed.map(({ value }) => row(value));
  const keys = listed.flatMap(({ key }, at) => (rows[at] === undefined ? [key] : []));
  if (keys.length === 0) return rows as readonly JsonObject[];
  return after(store.apply(space, [{ op: 'get', keys }]), ({ results }) => {
    const read = new Map(keys.map((key, at) => [key, results?.[0][at]]));
    return listed.flatMap(({ key }, at) => {
      const document = read.get(key);
      // One that was taken meanwhile waits no longer.
      const record = rows[at] ?? (document && readableIn(document.value));
      return record !== undefined && isOpen(record) ? [record] : [];
    });
  });
}

function contended(): Error {
  return new Error(`The approval changed ${mostTries} times while it was written. Try again.`);
}
