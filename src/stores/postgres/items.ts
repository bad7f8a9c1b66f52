/** Items that are due at a time. */
import type { Store } from '../../api/store.ts';
import { checkDue, checkSchedule } from '../shared/check-operations.ts';
import { decodeText, encodeText } from '../shared/escaped-text.ts';
import type { PostgresCommands } from './connection.ts';
import { itemLocks } from './step.ts';

/** @param run adds the version that all functions begin with */
export function postgresItems(
  run: PostgresCommands['run'],
  waitMs: number,
): Pick<Store, 'schedule' | 'due'> {
  return {
    async schedule(items, delayMs, done = []) {
      checkSchedule(items, delayMs, done);
      const { alone, locks } = itemLocks([...items, ...done]);
      const values = [alone, locks, waitMs, itemsJson(items), delayMs, itemsJson(done)];
      await run('schedule', values);
    },
    async due(limit, delayMs) {
      checkDue(limit, delayMs);
      const found = JSON.parse(await run('due', [limit, delayMs])) as Store.Item[];
      return found.map(({ owner, key }) => ({ owner: decodeText(owner), key: decodeText(key) }));
    },
  };
}

function itemsJson(items: readonly Store.Item[]): string {
  return JSON.stringify(
    items.map(({ owner, key }) => ({ owner: encodeText(owner), key: encodeText(key) })),
  );
}
