/** Each operation on the tables. */
import type { Store } from '../../api/store.ts';
import {
  deleteDocument,
  documentOf,
  listDocuments,
  setDocument,
  touchDocument,
} from './documents.ts';
import { appendEntry, readLog } from './logs.ts';
import { Misfit, type Sql, type Step } from './step.ts';
import { addAmount, subtractAmount, useOf } from './sums.ts';

const messageMs = 60_000;

/** @returns what the operation returns, or a {@link Misfit} */
export function runOperation(step: Step, operation: Store.Operation): unknown {
  const { sql, space, session } = step;
  switch (operation.op) {
    case 'open':
      if (exists(step)) return new Misfit();
      dropSession(sql, session as string, space);
      sql.run(
        'INSERT INTO host_tools_sessions VALUES (?, ?)',
        session as string,
        operation.expiresAt,
      );
      return true;
    case 'extend':
      sql.run(
        'UPDATE host_tools_sessions SET ends = max(ends, ?) WHERE name = ?',
        operation.expiresAt,
        session as string,
      );
      return true;
    case 'drop': {
      const existed = exists(step);
      dropSession(sql, session as string, space);
      return existed;
    }
    case 'get':
      return operation.keys.map((key) => documentOf(step, key));
    case 'set':
      return setDocument(step, operation);
    case 'touch':
      return touchDocument(step, operation);
    case 'delete':
      return deleteDocument(step, operation);
    case 'list':
      return listDocuments(step, operation);
    case 'append':
      return appendEntry(step, operation);
    case 'read':
      return readLog(step, operation);
    case 'count':
      return countUse(step, operation);
    case 'add':
      return addAmount(step, operation) ?? new Misfit();
    case 'subtract':
      subtractAmount(step, operation);
      return true;
    case 'sum':
      return useOf(step, operation);
    case 'publish':
      return true;
  }
}

/** Whether the session exists; true for a shared space. */
export function exists({ sql, session, now }: Step): boolean {
  return (
    session === undefined ||
    sql.get('SELECT 1 FROM host_tools_sessions WHERE name = ? AND ends > ?', session, now) !==
      undefined
  );
}

/** Removes a session with everything in it. */
function dropSession(sql: Sql, name: string, space: string): void {
  sql.run('DELETE FROM host_tools_sessions WHERE name = ?', name);
  for (const table of ['documents', 'logs', 'entries', 'counts'])
    sql.run(`DELETE FROM host_tools_${table} WHERE space = ?`, space);
}

function countUse({ sql, space, now }: Step, { key, limit, windowMs }: Store.Count): true | Misfit {
  const found = sql.get<{ readonly used: number; readonly ends: number }>(
    'SELECT used, ends FROM host_tools_counts WHERE space = ? AND key = ? AND ends > ?',
    space,
    key,
    now,
  );
  if (found !== undefined && found.used >= limit) return new Misfit(found.ends - now);
  sql.run(
    `INSERT INTO host_tools_counts VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET used = excluded.used, ends = excluded.ends`,
    space,
    key,
    (found?.used ?? 0) + 1,
    found?.ends ?? now + windowMs,
  );
  return true;
}

/** Writes the messages of a step that takes place. */
export function writeMessages(
  { sql, space, now }: Step,
  operations: readonly Store.Operation[],
  results: readonly unknown[],
): void {
  for (const operation of operations)
    if (operation.op === 'publish') {
      const { message, versionOf } = operation;
      const text = versionOf === undefined ? message : `${message} ${results[versionOf]}`;
      sql.run(
        'INSERT INTO host_tools_messages (space, message, ends) VALUES (?, ?, ?)',
        space,
        text,
        now + messageMs,
      );
    }
}

/** The answer of a step that does not take place. */
export function refusal(
  step: Step,
  operations: readonly Store.Operation[],
  refused: number,
  gone: boolean,
  { retryAfterMs, found }: Misfit,
): Store.Refused {
  const base = { refused, gone, retryAfterMs };
  if (operations[refused]?.op !== 'add') return found === undefined ? base : { ...base, found };
  const uses = operations.flatMap((operation) =>
    operation.op === 'add' ? [useOf(step, operation)] : [],
  );
  return { ...base, uses };
}
