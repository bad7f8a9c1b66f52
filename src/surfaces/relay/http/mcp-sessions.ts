/**
 * Keeps the MCP sessions of a relay session in the relay's store, so that every node can continue a
 * session that another one has started.
 */

import type { Store } from '../../../extend.ts';
import type { McpSessionRecord, McpSessionStore } from '../../mcp/index.ts';
import { busy } from '../calls/session-document.ts';
import { keys } from '../ports/documents.ts';
import { documentsOf, type KeptStore, removeDocument } from '../ports/kept-store.ts';
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
const maxTries = 20;

/** Makes the store of MCP sessions for a relay session. Its methods reject when `store` does. */
export function mcpSessionStore(store: KeptStore, code: string): McpSessionStore {
  let last: Promise<unknown> = Promise.resolve();
  /**
   * Moves a session to the end of the index, or removes it. The changes of a node run one after
   * another, so that they compete only with those of other nodes.
   * @param record a new session's record, stored in the same step
   * @returns false if the index has changed before each write
   */
  const change = (hash: string, stays: boolean, record?: string): Promise<boolean> => {
    const turn = last.then(() => changeIndex(store, code, hash, stays, record));
    last = turn.catch(() => {});
    return turn;
  };
  return {
    async save(id, record) {
      if (!(await change(hashOf(id), true, JSON.stringify(record)))) throw busy();
    },
    async load(id) {
      const hash = hashOf(id);
      const [stored] = await documentsOf(store, code, [keys.mcpSession(hash)]);
      if (stored === undefined) return undefined;
      await change(hash, true);
      return JSON.parse(stored.value) as McpSessionRecord;
    },
    async remove(id) {
      const hash = hashOf(id);
      await removeDocument(store, code, keys.mcpSession(hash));
      await change(hash, false);
    },
  };
}

async function changeIndex(
  store: KeptStore,
  code: string,
  hash: string,
  stays: boolean,
  record: string | undefined,
): Promise<boolean> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [stored] = await documentsOf(store, code, [keys.mcpSessions]);
    const index = stored === undefined ? [] : (JSON.parse(stored.value) as Index);
    const next = [...index.filter((one) => one !== hash), ...(stays ? [hash] : [])];
    const forgotten = next.splice(0, Math.max(0, next.length - kept));
    const version = stored?.version ?? 0;
    const ops: readonly Store.Operation[] = [
      { op: 'set', key: keys.mcpSessions, value: JSON.stringify(next), version },
      ...forgotten.map((old): Store.Operation => ({ op: 'delete', key: keys.mcpSession(old) })),
      ...(record === undefined
        ? []
        : [{ op: 'set', key: keys.mcpSession(hash), value: record } as const]),
    ];
    const applied = await store.apply({ session: code }, ops);
    if (applied.results !== undefined || applied.gone) return true;
  }
  return false;
}
