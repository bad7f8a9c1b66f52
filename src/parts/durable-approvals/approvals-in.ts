/** Suspended calls, and how they ended, in a store. */
import type {
  ApprovalQuery,
  ApprovalRecord,
  InboxStore,
  SettledApproval,
} from '../../api/approval-store.ts';
import type { Store } from '../../api/store.ts';
import { nameFor, type Use } from '../../stores/shared/use-store.ts';
import type { JsonObject } from '../../values/json/index.ts';
import { after, type MaybePromise } from '../../values/maybe-promise.ts';
import { headBytes, rememberedMs, rowIn } from './store.ts';

const space = { shared: 'approvals' } as const;

/** The list of all suspended calls. Those of a session and of a principal have their own. */
const everything = 'all';
/** How often a step is tried when others change the record at the same time. */
const mostTries = 8;
/** Whole records that are read at once, which may have megabytes. */
const wholeAtOnce = 20;
const rowsAtOnce = 1_000;

/**
 * One document for each approval: the suspended call, then a mark that it was taken, then its
 * outcome. Only calls that wait are in lists.
 * @param now The time in epoch milliseconds; earlier ends are not looked for.
 */
export function approvalsIn(now: () => number): Use<InboxStore> {
  return {
    what: 'approvals',
    needs: ['set', 'get', 'list'],
    over: (store) => ({
      put: (record) => put(store, record, 0, mostTries),
      take: (id) => take(store, id, mostTries),
      list: (sessionId) => page(store, now(), { sessionId, limit: Infinity }, whole, true),
      settle: (outcome) => settle(store, outcome),
      read: (id) => after(read(store, id), (found) => found && recordIn(found.value)),
      page: (query) => page(store, now(), query, whole, false),
      heads: (query) => page(store, now(), query, heads, false),
    }),
  };
}

function nameOf(id: string): string {
  return nameFor('approval', id);
}

/** It stays for an hour after it has expired, because clocks differ. */
function endOf(expiresAt: number): number {
  return Math.ceil(expiresAt) + rememberedMs;
}

function recordIn(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}

/** Whether a record is a suspended call, or the mark of a store without outcomes. */
function isOpen(record: JsonObject): boolean {
  return Object.hasOwn(record, 'token') || Object.hasOwn(record, 'used');
}

/** @param version of the record that is replaced; 0 if there should be none */
function put(
  store: Store,
  record: ApprovalRecord,
  version: number,
  tries: number,
): MaybePromise<void> {
  const { id, sessionId, principal, expiresAt } = record;
  const ofSession = nameFor('session', sessionId);
  const set = {
    op: 'set',
    key: nameOf(id),
    value: JSON.stringify(record),
    version,
    expiresAt: endOf(expiresAt),
    lists: Object.hasOwn(record, 'used')
      ? [ofSession]
      : [everything, ofSession, nameFor('principal', principal)],
  } as const;
  return after(store.apply(space, [set]), (outcome) => {
    if (outcome.results !== undefined) return undefined;
    const { found } = outcome;
    // It was taken, so its token must not be used again.
    if (found !== undefined && !isOpen(recordIn(found.value))) return undefined;
    if (tries === 1) throw contended();
    return put(store, record, found?.version ?? 0, tries - 1);
  });
}

function read(store: Store, id: string): MaybePromise<Store.Document | undefined> {
  return after(
    store.apply(space, [{ op: 'get', keys: [nameOf(id)] }]),
    ({ results }) => results?.[0][0],
  );
}

function take(store: Store, id: string, tries: number): MaybePromise<JsonObject | undefined> {
  return after(read(store, id), (found): MaybePromise<JsonObject | undefined> => {
    const record = found && recordIn(found.value);
    if (found === undefined || record === undefined || !isOpen(record)) return undefined;
    const { sessionId, principal, expiresAt } = record;
    const mark = {
      op: 'set',
      key: nameOf(id),
      value: JSON.stringify({ id, sessionId, principal, expiresAt }),
      version: found.version,
      expiresAt: endOf(Number(expiresAt)),
    } as const;
    return after(store.apply(space, [mark]), ({ results }) => {
      if (results !== undefined) return record;
      // Someone else was first, and the next look finds its mark.
      if (tries === 1) throw contended();
      return take(store, id, tries - 1);
    });
  });
}

function settle(store: Store, outcome: SettledApproval): MaybePromise<void> {
  const { id, expiresAt } = outcome;
  const value = JSON.stringify(outcome);
  const set = { op: 'set', key: nameOf(id), value, expiresAt: endOf(expiresAt) } as const;
  return after(store.apply(space, [set]), () => {});
}

/** How much is read of each record. */
interface Reading {
  readonly bytes: number | undefined;
  readonly atOnce: number;
  /** Undefined if the record must be read as a whole. */
  row(text: string): JsonObject | undefined;
}

const whole: Reading = { bytes: undefined, atOnce: wholeAtOnce, row: recordIn };
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

/** Reads as many calls as are asked for. @param marked whether marks are among them */
function page(
  store: Store,
  now: number,
  query: ApprovalQuery,
  reading: Reading,
  marked: boolean,
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
            if (
              (marked || !Object.hasOwn(record, 'used')) &&
              (principal === undefined || record.principal === principal)
            )
              found.push(record);
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
      const record = rows[at] ?? (document && recordIn(document.value));
      return record !== undefined && isOpen(record) ? [record] : [];
    });
  });
}

function contended(): Error {
  return new Error(`The approval changed ${mostTries} times while it was written. Try again.`);
}
