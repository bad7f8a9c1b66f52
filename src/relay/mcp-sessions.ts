/** The MCP sessions of a relay session, in the relay's store: every node goes on with what another has begun. */
import type { McpSessionRecord, McpSessionStore } from '../mcp.ts';
import { keys } from './documents.ts';
import { hashOf } from './secrets.ts';
import type { RelayStore } from './store.ts';

/** The log of those that are kept: over so many the oldest is forgotten, and ends with its node. */
const log = 'mcp-sessions';
const kept = 100;
/** Characters of what a client says of itself. One that says more stays with its node. */
const mostChars = 16_384;

/** @param store rejects where it cannot be reached, and so do these */
export function mcpSessionStore(store: RelayStore, code: string): McpSessionStore {
  return {
    async save(id, record) {
      const text = JSON.stringify(record);
      const key = keys.mcpSession(hashOf(id));
      if (text.length > mostChars || (await store.set(code, key, text, 0)) === undefined) return;
      const added = await store.append(code, log, key, kept);
      for (const old of added?.dropped ?? []) await store.delete(code, old);
    },
    async load(id) {
      const [stored] = await store.get(code, [keys.mcpSession(hashOf(id))]);
      return stored && (JSON.parse(stored.value) as McpSessionRecord);
    },
    async remove(id) {
      await store.delete(code, keys.mcpSession(hashOf(id)));
    },
  };
}
