/**
 * Gathers the ids from entries that a log has dropped, so that their documents are removed
 * together.
 */
import type { LogRecord } from '../ports/documents.ts';

/**
 * How many documents are removed together. Removing them one by one would cost as much as the calls
 * themselves.
 */
const atOnce = 64;
/**
 * The most sessions whose ids are kept. Documents whose ids are forgotten are removed with their
 * session.
 */
const maxSessions = 1_000;

/**
 * Gathers the ids of dropped entries of one kind.
 * @param dropped the ids that were gathered so far, by session
 * @returns the ids of the session once there are enough of them to be removed
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
  if (dropped.size > maxSessions) dropped.delete(dropped.keys().next().value as string);
  return undefined;
}
