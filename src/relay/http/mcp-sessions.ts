/**
 * The MCP sessions of a relay session, in the relay's store: every node goes on with what another
 * has begun.
 */
import type { McpSessionRecord, McpSessionStore } from '../../mcp/index.ts';
import { keys } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { hashOf } from '../secrets.ts';

/**
 * Those that are kept, by the hashes of their ids; the one that was begun or looked for last stands
 * last.
 */
type Index = readonly string[];

/**
 * Over so many the one that nobody has looked for for longest is forgotten, and ends with its node.
 */
const kept = 100;
const mostTries = 20;

/** @param store rejects where it cannot be reached, and so do these */
export function mcpSessionStore(store: RelayStore, code: string): McpSessionStore {
  const readIndex = async (): Promise<{ readonly index: Index; readonly version: number }> => {
    const [stored] = await store.get(code, [keys.mcpSessions]);
    return {
      index: stored === undefined ? [] : (JSON.parse(stored.value) as Index),
      version: stored?.version ?? 0,
    };
  };
  /** Moves one to the end, or takes it out. */
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
