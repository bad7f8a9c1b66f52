/**
 * Reads and writes the `tools` document. Its definitions are stored under a separate key, so that
 * sessions of the same application share them in a store that keeps equal values only once.
 */
import { randomUUID } from 'node:crypto';
import { keys, type RelayedDefinition, type ToolsDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** The stored document, which names the key of its definitions. */
type KeptTools = Omit<ToolsDocument, 'definitions'> & { readonly definitionsKey: string };

/** The document, with the version and key that the next write needs. */
export interface FoundTools {
  readonly document: ToolsDocument;
  readonly version: number;
  readonly definitionsKey: string;
}

/** Most attempts to read while other writers change the document. */
const maxTries = 20;

/** Reads the document. Undefined before a registration and for an unknown session. */
export async function readTools(store: RelayStore, code: string): Promise<FoundTools | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [stored] = await store.get(code, [keys.tools]);
    if (stored === undefined) return undefined;
    const { definitionsKey, ...rest } = JSON.parse(stored.value) as KeptTools;
    const [definitions] = await store.get(code, [definitionsKey]);
    // A later document has replaced this one and deleted its definitions.
    if (definitions === undefined) continue;
    return {
      document: { ...rest, definitions: JSON.parse(definitions.value) as RelayedDefinition[] },
      version: stored.version,
      definitionsKey,
    };
  }
  throw new Error('The definitions of a session are not where its tools say.');
}

/**
 * Writes the document that follows `before`. Returns false if another writer was faster, or if the
 * session is gone.
 */
export async function writeTools(
  store: RelayStore,
  code: string,
  { definitions, ...rest }: ToolsDocument,
  before: FoundTools | undefined,
): Promise<boolean> {
  // The key is unique, so that the loser of a race does not touch the winner's definitions.
  const definitionsKey = `definitions:${randomUUID()}`;
  if ((await store.set(code, definitionsKey, JSON.stringify(definitions))) === undefined)
    return false;
  const kept: KeptTools = { ...rest, definitionsKey };
  const wrote =
    (await store.set(code, keys.tools, JSON.stringify(kept), before?.version ?? 0)) !== undefined;
  const unused = wrote ? before?.definitionsKey : definitionsKey;
  if (unused !== undefined) await store.delete(code, unused);
  return wrote;
}
