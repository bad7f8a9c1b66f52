/**
 * Keeps the MCP sessions of a relay session in the relay's store, so that every node can continue a
 * session that another one has started.
 */
import type { McpSessionRecord, McpSessionStore } from '../../mcp/index.ts';
import { keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { hashOf } from '../secrets.ts';

/**
 * The hashes of the ids of the kept sessions. The most recently started or loaded one comes last.
 */
type Index = readonly string[];

/**
 * Most sessions that are kept. Beyond that, the least recently used one is removed and lives only
 * as long as its node.
 */
const kept = 100;
const mostTries = 20;

/** Makes the store of MCP sessions for a relay session. Its methods reject when `store` does. */
export function mcpSessionStore(store: RelayStore, code: string): McpSessionStore {
  const readIndex = async (): Promise<{ readonly index: Index; readonly version: number }> => {
    const [stored] = await store.get(code, [keys.mcpSessions]);
    return {
      index: stored === undefined ? [] : (JSON.parse(stored.value) as Index),
      version: stored?.version ?? 0,
    };
  };
  /** Moves a session to the end of the index, or removes it. */
  const change = async (hash: string, stays: boolean): Promise<void> => {
    for (let tries = 0; tries < mostTries; tries++) {
      const { index, version } = await readIndex();
      const next = [...index.filter((one) => one !== hash), ...(stays ? [hash] : [])];
      const forgotten = next.splice(0, Math.max(0, next.length - kept));
      if ((await store.set(code, keys.mcpSessions, JSON.stringify(next), version)) === undefined)
        continue;
      for (const old of forgotten) await store.delete(code, keys.mcpSession(old));
      return;
    }
  };
  return {
    async save(id, record) {
      const hash = hashOf(id);
      if ((await store.set(code, keys.mcpSession(hash), JSON.stringify(record), 0)) !== undefined)
        await change(hash, true);
    },
    async load(id) {
      const hash = hashOf(id);
      const [stored] = await store.get(code, [keys.mcpSession(hash)]);
      if (stored === undefined) return undefined;
      await change(hash, true);
      return JSON.parse(stored.value) as McpSessionRecord;
    },
    async remove(id) {
      const hash = hashOf(id);
      await store.delete(code, keys.mcpSession(hash));
      await change(hash, false);
    },
  };
}
