/** What entries that a log has dropped were about, until it is removed together. */
import type { LogRecord } from '../ports/documents.ts';

/** Documents that are removed together: one by one would cost as much as the calls themselves. */
const atOnce = 64;
/** Most sessions of which this is kept. What is forgotten goes with its session. */
const mostSessions = 1_000;

/**
 * Gathers the ids of dropped entries of one kind.
 * @param dropped ids by session
 * @returns those of the session once there are enough of them to be removed
 */
export function gather(
  dropped: Map<string, string[]>,
  code: string,
  values: readonly string[],
  kind: 'call' | 'result',
): readonly string[] | undefined {
  if (values.length === 0) return undefined;
  const ids = dropped.get(code) ?? [];
  for (const value of values) {
    const record = JSON.parse(value) as LogRecord;
    if (record.kind === kind) ids.push(record.id);
  }
  dropped.delete(code);
  if (ids.length >= atOnce) return ids;
  dropped.set(code, ids);
  if (dropped.size > mostSessions) dropped.delete(dropped.keys().next().value as string);
  return undefined;
}
