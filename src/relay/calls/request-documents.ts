/**
 * The documents of agents' requests, each written by the node that has its version: a node that was
 * given up for dead writes nothing over.
 */
import type { ToolResult } from '../../index.ts';
import { keys, type LogRecord, logKeep, type RequestDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** A document and the version that entitles to write it. */
export interface FoundRequest {
  readonly document: RequestDocument;
  readonly version: number;
}

/** What is known of a request. */
export interface RequestStatus {
  readonly requestId: string;
  readonly status: 'queued' | 'running' | 'done';
  readonly result?: ToolResult;
}

/** Requests as they are written down. */
export interface RequestDocuments {
  /**
   * Writes one down and has it looked after from then on; undefined where the id is there already,
   * or the session is gone.
   */
  create(
    code: string,
    id: string,
    document: RequestDocument,
    dueMs: number,
  ): Promise<number | undefined>;
  find(code: string, id: string): Promise<FoundRequest | undefined>;
  /** The new version; undefined where another node has it now. */
  write(
    code: string,
    id: string,
    document: RequestDocument,
    version: number,
  ): Promise<number | undefined>;
  /** Writes the result, and tells the agent's listeners. False where another node has it now. */
  finish(code: string, id: string, found: FoundRequest, result: ToolResult): Promise<boolean>;
  /**
   * Tells the agent's listeners of a result that is written; after that, nobody looks after the
   * request any more. Twice does no harm.
   */
  tell(code: string, id: string): Promise<void>;
}

/**
 * The log of results that are large: as many as it has entries are kept, so that a session's
 * results stay below some 130 MB.
 */
const largeResults = 'large-results';
const largeKeep = 16;
const largeChars = 65_536;

/** @param store rejects where it cannot be reached, and so do these */
export function createRequestDocuments(store: RelayStore): RequestDocuments {
  const write: RequestDocuments['write'] = (code, id, document, version) =>
    store.set(code, keys.request(id), JSON.stringify(document), version);
  const tell: RequestDocuments['tell'] = async (code, id) => {
    const record: LogRecord = { kind: 'result', id };
    const added = await store.append(code, 'agent', JSON.stringify(record), logKeep);
    // Not before it is told: a node that dies in between leaves it to another.
    await store.unschedule(code, id);
    // As many results are kept as the log has entries.
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
  /** Of large results the last few are kept; of those before, that they are done. */
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
      // In this order: a node that dies in between leaves something due that is not there, and not
      // something that nobody looks after.
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
      // It is done; where it cannot be told now, it is still due, and told by whoever looks after
      // it then.
      await tell(code, id).catch(() => {});
      if (text.length > largeChars) await keepLarge(code, id).catch(() => {});
      return true;
    },
  };
}
