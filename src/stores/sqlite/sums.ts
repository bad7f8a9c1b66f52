/** Sums in SQLite. Amounts are text, since they have more digits than its integers. */
import type { Store } from '../../api/store.ts';
import type { Sql, Step } from './step.ts';

const maxExact = 1_024;
const keepMs = 30 * 86_400_000;

interface Sum {
  total: bigint;
  buckets: number;
  /** The time that counts: it never goes back. */
  readonly at: number;
}

interface Bucket {
  readonly id: number;
  readonly since: number;
  readonly at: number;
  readonly amount: string;
}

const oldest = `SELECT id, since, at, amount FROM host_tools_amounts WHERE space = ? AND key = ?
  ORDER BY id`;
const newest = `${oldest} DESC LIMIT 1`;

/** Reads a sum without the amounts that are too old, and removes those. */
function slide(step: Step, key: string, windowMs: number | undefined): Sum {
  const { sql, space, now } = step;
  const found = sql.get<{ total: string; buckets: number; latest: number; ends: number }>(
    'SELECT total, buckets, latest, ends FROM host_tools_sums WHERE space = ? AND key = ?',
    space,
    key,
  );
  if (found === undefined) return { total: 0n, buckets: 0, at: now };
  const sum: Sum = {
    total: BigInt(found.total),
    buckets: found.buckets,
    at: Math.max(now, found.latest),
  };
  const isOver = (at: number): boolean =>
    windowMs === undefined ? found.ends <= sum.at : at + windowMs <= sum.at;
  for (;;) {
    const old = sql.all<Bucket>(`${oldest} LIMIT 32`, space, key).filter(({ at }) => isOver(at));
    for (const { id, amount } of old) {
      sql.run('DELETE FROM host_tools_amounts WHERE id = ?', id);
      sum.total -= BigInt(amount);
      sum.buckets -= 1;
    }
    if (old.length > 0) write(sql, space, key, sum, windowMs, found.latest);
    if (old.length < 32) return sum;
  }
}

function write(
  sql: Sql,
  space: string,
  key: string,
  { total, buckets }: Sum,
  windowMs: number | undefined,
  latest: number,
): void {
  sql.run(
    `INSERT INTO host_tools_sums VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
     total = excluded.total, buckets = excluded.buckets, latest = excluded.latest,
     ends = excluded.ends`,
    space,
    key,
    String(total),
    buckets,
    latest,
    latest + (windowMs ?? keepMs),
  );
}

/** @returns the place of the amount; undefined if it does not fit */
export function addAmount(step: Step, add: Store.Add): string | undefined {
  const { sql, space } = step;
  const { key, amount, max, windowMs } = add;
  const sum = slide(step, key, windowMs);
  if (max !== undefined && sum.total + amount > max) return undefined;
  const last = sql.get<Bucket>(newest, space, key);
  const joins =
    last !== undefined &&
    (windowMs === undefined ||
      last.at === sum.at ||
      (sum.buckets >= maxExact && sum.at - last.since <= windowMs / maxExact));
  sum.total += amount;
  if (!joins) sum.buckets += 1;
  write(sql, space, key, sum, windowMs, sum.at);
  if (joins) {
    const together = String(BigInt(last.amount) + amount);
    sql.run(
      'UPDATE host_tools_amounts SET at = ?, amount = ? WHERE id = ?',
      sum.at,
      together,
      last.id,
    );
    return String(last.id);
  }
  const made = sql.get<{ readonly id: number }>(
    `INSERT INTO host_tools_amounts (space, key, since, at, amount) VALUES (?, ?, ?, ?, ?)
     RETURNING id`,
    space,
    key,
    sum.at,
    sum.at,
    String(amount),
  );
  return String(made?.id);
}

export function subtractAmount({ sql, space, now }: Step, subtract: Store.Subtract): void {
  const { key, amount, place } = subtract;
  const bucket = sql.get<Bucket>(
    'SELECT id, since, at, amount FROM host_tools_amounts WHERE id = ? AND space = ? AND key = ?',
    place,
    space,
    key,
  );
  const sum = sql.get<{ readonly total: string; readonly ends: number; readonly latest: number }>(
    'SELECT total, ends, latest FROM host_tools_sums WHERE space = ? AND key = ?',
    space,
    key,
  );
  // The end of a sum is as long after its latest amount as each amount counts.
  if (bucket === undefined || sum === undefined || bucket.at + sum.ends - sum.latest <= now) return;
  const kept = BigInt(bucket.amount);
  const back = amount < kept ? amount : kept;
  sql.run('UPDATE host_tools_amounts SET amount = ? WHERE id = ?', String(kept - back), bucket.id);
  sql.run(
    'UPDATE host_tools_sums SET total = ? WHERE space = ? AND key = ?',
    String(BigInt(sum.total) - back),
    space,
    key,
  );
}

/** How a sum and an amount compare. */
export function useOf(step: Step, { key, amount, max, windowMs }: Store.Sliding): Store.Use {
  const { total: used, at } = slide(step, key, windowMs);
  if (max === undefined || used + amount <= max) return { used, retryAfterMs: 0 };
  if (windowMs === undefined || amount > max) return { used, retryAfterMs: undefined };
  let left = used;
  let latest = at;
  for (const bucket of step.sql.all<Bucket>(oldest, step.space, key)) {
    left -= BigInt(bucket.amount);
    latest = bucket.at;
    if (left + amount <= max) break;
  }
  return { used, retryAfterMs: Math.max(1, latest + windowMs - step.now) };
}
