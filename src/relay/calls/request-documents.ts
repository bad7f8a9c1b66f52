/**
 * The documents of agents' requests. Only the node that has the current version of a document can
 * write it, so a node that was given up for dead overwrites nothing.
 */
import type { ToolResult } from '../../index.ts';
import { keys, type LogRecord, logKeep, type RequestDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** A document, and the version that a write has to name. */
export interface FoundRequest {
  readonly document: RequestDocument;
  readonly version: number;
}

/** Reads and writes the documents of requests. */
export interface RequestDocuments {
  /**
   * Writes a request down and schedules it to be looked after. @returns its version; undefined when
   * the id is known already, or the session is gone
   */
  create(
    code: string,
    id: string,
    document: RequestDocument,
    dueMs: number,
  ): Promise<number | undefined>;
  find(code: string, id: string): Promise<FoundRequest | undefined>;
  /** @returns the new version; undefined when another node has the request now */
  write(
    code: string,
    id: string,
    document: RequestDocument,
    version: number,
  ): Promise<number | undefined>;
  /** Writes the result and announces it. False when another node has the request now. */
  finish(code: string, id: string, found: FoundRequest, result: ToolResult): Promise<boolean>;
  /**
   * Announces a written result in the agent's log, and ends the looking after. Does no harm when it
   * runs twice.
   */
  tell(code: string, id: string): Promise<void>;
}

/**
 * The log of large results. Only those with an entry in it are kept, so that the results of a
 * session stay below about 130 MB.
 */
const largeResults = 'large-results';
const largeKeep = 16;
const largeChars = 65_536;

/** Each method rejects when the store does. */
export function createRequestDocuments(store: RelayStore): RequestDocuments {
  const write: RequestDocuments['write'] = (code, id, document, version) =>
    store.set(code, keys.request(id), JSON.stringify(document), version);
  const tell: RequestDocuments['tell'] = async (code, id) => {
    const record: LogRecord = { kind: 'result', id };
    const added = await store.append(code, 'agent', JSON.stringify(record), logKeep);
    // Only after the announcement: if the node dies in between, another one announces it.
    await store.unschedule(code, id);
    // A result is kept for as long as the log has its entry.
    for (const value of added?.dropped ?? []) {
      const dropped = JSON.parse(value) as LogRecord;
      if (dropped.kind === 'result') await store.delete(code, keys.request(dropped.id));
    }
  };
  const find: RequestDocuments['find'] = async (code, id) => {
    const [stored] = await store.get(code, [keys.request(id)]);
    return stored === undefined
      ? undefined
      : { document: JSON.parse(stored.value) as RequestDocument, version: stored.version };
  };
  /** Keeps the last few large results. Of older ones, only the status is kept. */
  const keepLarge = async (code: string, id: string): Promise<void> => {
    const added = await store.append(code, largeResults, id, largeKeep);
    for (const old of added?.dropped ?? []) {
      const found = await find(code, old);
      if (found?.document.status !== 'done') continue;
      const { result: _result, ...rest } = found.document;
      await write(code, old, rest, found.version);
    }
  };
  return {
    async create(code, id, document, dueMs) {
      // In this order: if the node dies in between, a missing request is due, and not a request
      // without anyone to look after it.
      await store.schedule(code, id, dueMs);
      return write(code, id, document, 0);
    },
    find,
    write,
    tell,
    async finish(code, id, { document, version }, result) {
      const { args: _args, ...rest } = document;
      const text = JSON.stringify({ ...rest, status: 'done', result } satisfies RequestDocument);
      if ((await store.set(code, keys.request(id), text, version)) === undefined) return false;
      // The request is done. If it cannot be announced now, it is still due, and the node that looks
      // after it announces it.
      await tell(code, id).catch(() => {});
      if (text.length > largeChars) await keepLarge(code, id).catch(() => {});
      return true;
    },
  };
}
