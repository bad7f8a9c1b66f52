/** Removes what is over, some of it at a time. Nobody sees it any more when it goes. */
import type { Sql } from './step.ts';

/** How many rows one step of expiry removes at most. */
const maxExpired = 500;
/** A document with its lists. */
const rowsOfDocument = 9;

/** @returns whether more may be over than was removed */
export function expire(sql: Sql, now: number, limit = maxExpired): boolean {
  let left = limit;
  left -= expireDocuments(sql, now, left);
  left -= expireSums(sql, now, left);
  left -= removeSome(sql, 'counts', 'space, key', 'ends <= ?', now, left);
  left -= removeSome(sql, 'messages', 'id', 'ends <= ?', now, left);
  left -= expireSessions(sql, now, left);
  return left < rowsOfDocument;
}

function expireDocuments(sql: Sql, now: number, limit: number): number {
  let removed = 0;
  for (const { space, key } of sql.all<{ readonly space: string; readonly key: string }>(
    'SELECT space, key FROM host_tools_documents WHERE ends <= ? LIMIT ?',
    now,
    limit,
  )) {
    if (removed + rowsOfDocument > limit) break;
    for (const table of ['documents', 'lists'])
      removed += sql.run(`DELETE FROM host_tools_${table} WHERE space = ? AND key = ?`, space, key);
  }
  return removed;
}

function expireSums(sql: Sql, now: number, limit: number): number {
  let removed = 0;
  for (const { space, key, total } of sql.all<{
    readonly space: string;
    readonly key: string;
    readonly total: string;
  }>('SELECT space, key, total FROM host_tools_sums WHERE ends <= ? LIMIT ?', now, limit)) {
    if (removed >= limit) break;
    const amounts = sql.all<{ readonly id: number; readonly amount: string }>(
      `SELECT id, amount FROM host_tools_amounts WHERE space = ? AND key = ? ORDER BY id LIMIT ?`,
      space,
      key,
      limit - removed,
    );
    for (const { id } of amounts) sql.run('DELETE FROM host_tools_amounts WHERE id = ?', id);
    removed += amounts.length;
    if (removed < limit)
      removed += sql.run('DELETE FROM host_tools_sums WHERE space = ? AND key = ?', space, key);
    // More amounts may be left: the sum stays true of them.
    else
      sql.run(
        `UPDATE host_tools_sums SET total = ?, buckets = buckets - ? WHERE space = ? AND key = ?`,
        String(amounts.reduce((sum, { amount }) => sum - BigInt(amount), BigInt(total))),
        amounts.length,
        space,
        key,
      );
  }
  return removed;
}

function expireSessions(sql: Sql, now: number, limit: number): number {
  let removed = 0;
  for (const { name } of sql.all<{ readonly name: string }>(
    'SELECT name FROM host_tools_sessions WHERE ends <= ? LIMIT ?',
    now,
    limit,
  )) {
    if (removed >= limit) break;
    // A clock that goes back must not bring back half of it.
    sql.run('UPDATE host_tools_sessions SET ends = 0 WHERE name = ?', name);
    for (const [table, key] of [
      ['documents', 'space, key'],
      ['entries', 'space, log, id'],
      ['logs', 'space, log'],
      ['counts', 'space, key'],
    ] as const)
      removed += removeSome(sql, table, key, 'space = ?', `session ${name}`, limit - removed);
    if (removed < limit) removed += sql.run('DELETE FROM host_tools_sessions WHERE name = ?', name);
  }
  return removed;
}

/** @returns how many rows it has removed */
function removeSome(
  sql: Sql,
  table: string,
  key: string,
  where: 'ends <= ?' | 'space = ?',
  value: string | number,
  limit: number,
): number {
  return sql.run(
    `DELETE FROM host_tools_${table} WHERE (${key}) IN
     (SELECT ${key} FROM host_tools_${table} WHERE ${where} LIMIT ?)`,
    value,
    limit,
  );
}
