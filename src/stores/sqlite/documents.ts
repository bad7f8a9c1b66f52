/** Documents, and the lists that they are in. */
import type { Store } from '../../api/store.ts';
import { Misfit, type Step } from './step.ts';

interface Row {
  readonly key: string;
  readonly value: string;
  readonly version: number;
  readonly ends: number | null;
}

/** Sorts documents without an end last. */
const never = 9_007_199_254_740_991;
/** No value has more. */
const maxBytes = 8 * 1_024 ** 2;

function rowOf({ sql, space, now }: Step, key: string): Row | undefined {
  return sql.get<Row>(
    `SELECT key, value, version, ends FROM host_tools_documents
     WHERE space = ? AND key = ? AND (ends IS NULL OR ends > ?)`,
    space,
    key,
    now,
  );
}

export function documentOf(step: Step, key: string): Store.Document | undefined {
  return shown(rowOf(step, key), step.now);
}

function shown(row: Row | undefined, now: number): Store.Document | undefined {
  if (row === undefined) return undefined;
  const { value, version, ends } = row;
  return { value, version, remainingMs: ends === null ? undefined : ends - now };
}

export function setDocument(step: Step, set: Store.Set): number | Misfit {
  const { sql, space, now } = step;
  const { key, value, version, ttlMs, expiresAt, lists = [] } = set;
  if (version !== undefined) {
    const found = rowOf(step, key);
    if (version !== (found?.version ?? 0)) return new Misfit(0, shown(found, now));
  }
  const ends = ttlMs === undefined ? (expiresAt ?? null) : now + ttlMs;
  const next = sql.get<{ readonly value: number }>(
    `UPDATE host_tools_numbers SET value = value + 1 WHERE name = 'version' RETURNING value`,
  ) as { readonly value: number };
  sql.run(
    `INSERT INTO host_tools_documents VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET value = excluded.value, version = excluded.version, ends = excluded.ends`,
    space,
    key,
    value,
    next.value,
    ends,
  );
  sql.run('DELETE FROM host_tools_lists WHERE space = ? AND key = ?', space, key);
  for (const list of lists)
    sql.run('INSERT INTO host_tools_lists VALUES (?, ?, ?, ?)', space, list, ends ?? never, key);
  return next.value;
}

export function touchDocument(step: Step, { key, version, ttlMs }: Store.Touch): true | Misfit {
  const { sql, space, now } = step;
  const found = rowOf(step, key);
  if (found?.version !== version) return new Misfit(0, shown(found, now));
  for (const table of ['documents', 'lists'])
    sql.run(
      `UPDATE host_tools_${table} SET ends = ? WHERE space = ? AND key = ?`,
      now + ttlMs,
      space,
      key,
    );
  return true;
}

export function deleteDocument(
  step: Step,
  { key, version, required }: Store.Delete,
): boolean | Misfit {
  const { sql, space, now } = step;
  const found = rowOf(step, key);
  if (found === undefined || (version !== undefined && version !== found.version))
    return required === true ? new Misfit(0, shown(found, now)) : false;
  for (const table of ['documents', 'lists'])
    sql.run(`DELETE FROM host_tools_${table} WHERE space = ? AND key = ?`, space, key);
  return true;
}

export function listDocuments(step: Step, { list, after, limit, bytes }: Store.List): unknown {
  const { sql, space, now } = step;
  // As many characters as bytes were asked for, or twice as many if some stand for NUL.
  const most = bytes === undefined ? 2 * maxBytes : Math.min(bytes, maxBytes);
  const rows = sql.all<Row>(
    `SELECT l.key, d.version, d.ends,
     substr(d.value, 1, ? * (1 + (instr(substr(d.value, 1, ?), char(1)) > 0))) AS value
     FROM host_tools_lists l JOIN host_tools_documents d ON d.space = l.space AND d.key = l.key
     WHERE l.space = ? AND l.list = ? AND l.ends > ? AND (l.ends, l.key) > (?, ?)
     ORDER BY l.ends, l.key LIMIT ?`,
    most,
    most,
    space,
    list,
    now,
    after === undefined ? 0 : (after.expiresAt ?? never),
    after === undefined ? '' : after.key,
    limit,
  );
  return rows.map((row) => ({
    key: row.key,
    expiresAt: row.ends,
    ...(shown(row, now) as Store.Document),
  }));
}
