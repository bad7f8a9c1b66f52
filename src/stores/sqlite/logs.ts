/** Logs, whose entries have ids without gaps. */
import type { Store } from '../../api/store.ts';
import { Misfit, type Step } from './step.ts';

export function appendEntry(step: Step, { log, value, keep, after }: Store.Append): unknown {
  const { sql, space } = step;
  const found = sql.get<{ readonly first: number; readonly last: number }>(
    'SELECT first, last FROM host_tools_logs WHERE space = ? AND log = ?',
    space,
    log,
  );
  const last = found?.last ?? 0;
  if (after !== undefined && after !== last) return new Misfit();
  const id = last + 1;
  const oldest = found?.first ?? 1;
  const first = keep === undefined ? oldest : Math.max(oldest, id - keep + 1);
  sql.run('INSERT INTO host_tools_entries VALUES (?, ?, ?, ?)', space, log, id, value);
  const dropped =
    first === oldest
      ? []
      : sql.all<{ readonly value: string }>(
          `SELECT value FROM host_tools_entries WHERE space = ? AND log = ? AND id < ? ORDER BY id`,
          space,
          log,
          first,
        );
  if (dropped.length > 0)
    sql.run(
      'DELETE FROM host_tools_entries WHERE space = ? AND log = ? AND id < ?',
      space,
      log,
      first,
    );
  sql.run(
    `INSERT INTO host_tools_logs VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET first = excluded.first, last = excluded.last`,
    space,
    log,
    first,
    id,
  );
  return { id, dropped: dropped.map((entry) => entry.value) };
}

export function readLog({ sql, space }: Step, { log, after, limit }: Store.Read): Store.Page {
  const found = sql.get<{ readonly first: number; readonly last: number }>(
    'SELECT first, last FROM host_tools_logs WHERE space = ? AND log = ?',
    space,
    log,
  );
  if (found === undefined) return { entries: [], first: 0, last: 0 };
  const rows = sql.all<Store.Entry>(
    `SELECT id, value FROM host_tools_entries WHERE space = ? AND log = ? AND id > ?
     ORDER BY id LIMIT ?`,
    space,
    log,
    after,
    limit,
  );
  const entries = rows.map(({ id, value }) => ({ id, value }));
  return { entries, first: found.first, last: found.last };
}
