/**
 * The `tools` document and its definitions, which are kept apart: sessions of one application then
 * share them where the store holds equal values once.
 */
import { randomUUID } from 'node:crypto';
import { keys, type RelayedDefinition, type ToolsDocument } from '../ports/documents.ts';
import type { RelayStore } from '../ports/store.ts';

/** As it is kept: under which key the definitions are. */
type KeptTools = Omit<ToolsDocument, 'definitions'> & { readonly definitionsKey: string };

/** The document, and what entitles to write the next one. */
export interface FoundTools {
  readonly document: ToolsDocument;
  readonly version: number;
  readonly definitionsKey: string;
}

/** Changes that one reading may be overtaken by. */
const mostTries = 20;

/** Undefined before a registration, and where there is no such session. */
export async function readTools(store: RelayStore, code: string): Promise<FoundTools | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const [stored] = await store.get(code, [keys.tools]);
    if (stored === undefined) return undefined;
    const { definitionsKey, ...rest } = JSON.parse(stored.value) as KeptTools;
    const [definitions] = await store.get(code, [definitionsKey]);
    // They go when a later document is there.
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
 * Writes the document that follows `before`. False where another was faster, or the session is
 * gone.
 */
export async function writeTools(
  store: RelayStore,
  code: string,
  { definitions, ...rest }: ToolsDocument,
  before: FoundTools | undefined,
): Promise<boolean> {
  // A key of its own: whoever loses the race leaves the winner's alone.
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
