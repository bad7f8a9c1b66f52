/**
 * The documents of agents' requests. Only the node that has the current version of a document can
 * write it, so a node that was wrongly considered dead overwrites nothing.
 */
import type { ToolResult } from '../../index.ts';
import { keys, type LogRecord, logKeep, type RequestDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';
import { countedBytes, countResult } from './kept-results.ts';

/** A document, and the version that the next write has to name. */
export interface FoundRequest {
  readonly document: RequestDocument;
  readonly version: number;
}

/** Reads and writes the documents of requests. */
export interface RequestDocuments {
  /**
   * Stores a request and schedules a later check of it.
   * @returns its version; undefined if the id is already in use or the session is gone
   */
  create(
    code: string,
    id: string,
    document: RequestDocument,
    dueMs: number,
  ): Promise<number | undefined>;
  find(code: string, id: string): Promise<FoundRequest | undefined>;
  /** @returns the new version; undefined if another node has taken over the request */
  write(
    code: string,
    id: string,
    document: RequestDocument,
    version: number,
  ): Promise<number | undefined>;
  /** Stores the result and announces it. False if another node has taken over the request. */
  finish(code: string, id: string, found: FoundRequest, result: ToolResult): Promise<boolean>;
  /**
   * Announces a stored result in the agent's log, and ends the scheduled checks. It is harmless to
   * run this twice.
   */
  tell(code: string, id: string): Promise<void>;
}

/**
 * Makes the documents of requests. Each method rejects when the store does.
 * @param mostBytes of the results of a session
 */
export function createRequestDocuments(store: RelayStore, mostBytes: number): RequestDocuments {
  const write: RequestDocuments['write'] = (code, id, document, version) =>
    store.set(code, keys.request(id), JSON.stringify(document), version);
  const tell = async (code: string, id: string): Promise<number | undefined> => {
    const record: LogRecord = { kind: 'result', id };
    const added = await store.append(code, 'agent', JSON.stringify(record), logKeep);
    // This must follow the announcement: if the node dies in between, another one announces the
    // result.
    await store.unschedule(code, id);
    // A result is kept for as long as the log contains its entry.
    for (const value of added?.dropped ?? []) {
      const dropped = JSON.parse(value) as LogRecord;
      if (dropped.kind === 'result') await store.delete(code, keys.request(dropped.id));
    }
    return added?.id;
  };
  const find: RequestDocuments['find'] = async (code, id) => {
    const [stored] = await store.get(code, [keys.request(id)]);
    return stored === undefined
      ? undefined
      : { document: JSON.parse(stored.value) as RequestDocument, version: stored.version };
  };
  return {
    async create(code, id, document, dueMs) {
      // The order matters. If the node dies in between, a scheduled request is missing, which is
      // harmless. A stored request without a schedule would never be checked.
      await store.schedule(code, id, dueMs);
      return write(code, id, document, 0);
    },
    find,
    write,
    tell: async (code, id) => void (await tell(code, id)),
    async finish(code, id, { document, version }, result) {
      const { args: _args, ...rest } = document;
      const text = JSON.stringify({ ...rest, status: 'done', result } satisfies RequestDocument);
      if ((await store.set(code, keys.request(id), text, version)) === undefined) return false;
      // The request is done. If it cannot be announced now, it is still scheduled, and the node
      // that checks it announces it.
      const entry = await tell(code, id).catch(() => undefined);
      if (entry !== undefined && text.length * 3 >= countedBytes)
        await countResult(
          store,
          code,
          { id, bytes: Buffer.byteLength(text), entry },
          mostBytes,
        ).catch(() => {});
      return true;
    },
  };
}
