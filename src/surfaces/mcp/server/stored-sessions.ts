/**
 * MCP sessions of the 2025 era in a store: how each one began. Each is a session of the store,
 * under the hash of its id, which has the messages of its streams too.
 */
import type { Store } from '../../../extend.ts';
import { sha256 } from '../../../values/crypto.ts';

/** What sessions and streams need of a store. */
export const neededOperations = [
  'open',
  'extend',
  'drop',
  'get',
  'set',
  'delete',
  'append',
  'read',
  'publish',
] as const satisfies readonly Store.Operation['op'][];

/** Milliseconds that a session is kept after it was used. */
const sessionMs = 86_400_000;
const begun = 'begun';

/** Where a session is kept. Its id is as good as a credential, so the store does not have it. */
export function spaceOf(id: string): { readonly session: string } {
  return { session: `mcp ${sha256(id)}` };
}

export function open(): Store.Open {
  return { op: 'open', expiresAt: Date.now() + sessionMs };
}

export function extend(): Store.Extend {
  return { op: 'extend', expiresAt: Date.now() + sessionMs };
}

/** Keeps how sessions began, as an `McpSessionStore` does. */
export function storedSessions<R extends object>(store: Store) {
  return {
    async save(id: string, record: R): Promise<void> {
      const set = { op: 'set', key: begun, value: JSON.stringify(record) } as const;
      const opened = await store.apply(spaceOf(id), [open(), set]);
      // The first message has opened it.
      if (opened.results === undefined) await store.apply(spaceOf(id), [extend(), set]);
    },
    async load(id: string): Promise<R | undefined> {
      const get = { op: 'get', keys: [begun] } as const;
      const [found] = (await store.apply(spaceOf(id), [extend(), get])).results?.[1] ?? [];
      return found && (JSON.parse(found.value) as R);
    },
    async remove(id: string): Promise<void> {
      await store.apply(spaceOf(id), [{ op: 'drop' }]);
    },
  };
}
