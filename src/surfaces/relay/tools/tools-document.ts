/**
 * Reads and writes the `tools` document. Its definitions are stored under a separate key, so that
 * sessions of the same application share them in a store that keeps equal values only once.
 */
import { createHash, randomUUID } from 'node:crypto';
import { canonicalJson } from '../../../values/json/index.ts';
import type { Pause } from '../../../values/limits/stretches.ts';
import { keys, type RelayedDefinition, type ToolsDocument } from '../ports/documents.ts';
import { documentsOf, type KeptStore, removeDocument, writeDocument } from '../ports/kept-store.ts';
import type { FailedTool } from './read-definitions.ts';

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
export async function readTools(store: KeptStore, code: string): Promise<FoundTools | undefined> {
  for (let tries = 0; tries < maxTries; tries++) {
    const [stored] = await documentsOf(store, code, [keys.tools]);
    if (stored === undefined) return undefined;
    const { definitionsKey, ...rest } = JSON.parse(stored.value) as KeptTools;
    const [definitions] = await documentsOf(store, code, [definitionsKey]);
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
  store: KeptStore,
  code: string,
  { definitions, ...rest }: ToolsDocument,
  before: FoundTools | undefined,
): Promise<boolean> {
  // The key is unique, so that the loser of a race does not touch the winner's definitions.
  const definitionsKey = `definitions:${randomUUID()}`;
  const text = JSON.stringify(definitions);
  if ((await writeDocument(store, code, definitionsKey, text)) === undefined) return false;
  const kept: KeptTools = { ...rest, definitionsKey };
  const version = before?.version ?? 0;
  const wrote =
    (await writeDocument(store, code, keys.tools, JSON.stringify(kept), version)) !== undefined;
  const unused = wrote ? before?.definitionsKey : definitionsKey;
  if (unused !== undefined) await removeDocument(store, code, unused);
  return wrote;
}

// Pinned definitions: a name keeps the first definition it was registered with in a session.

/** Most names that a session remembers. */
const maxPins = 5_000;

/**
 * Accepts a definition if it is the first with its name or equal to the first. Other definitions
 * fail, and the pinned one remains.
 * @param pause called between definitions, because comparing many of them takes a while
 */
export async function pinDefinitions(
  definitions: readonly RelayedDefinition[],
  before: ToolsDocument['pins'],
  pause: Pause,
): Promise<{
  definitions: RelayedDefinition[];
  failed: FailedTool[];
  pins: Record<string, string>;
}> {
  const pins = new Map(Object.entries(before ?? {}));
  const failed: FailedTool[] = [];
  const kept: RelayedDefinition[] = [];
  for (const definition of definitions) {
    await pause();
    const { name } = definition;
    const hash = createHash('sha256').update(definitionText(definition)).digest('base64url');
    const pinned = pins.get(name);
    if (pinned === undefined && pins.size < maxPins) pins.set(name, hash);
    if (pins.get(name) === hash) {
      kept.push(definition);
      continue;
    }
    const error =
      pinned === undefined
        ? `definition_pinned: this session has had ${maxPins} names, and remembers no more.`
        : 'definition_pinned: this session had another definition under this name, and ' +
          'definitions are pinned. Use another name.';
    failed.push({ toolName: name, error, recoverable: false });
  }
  return { definitions: kept, failed, pins: Object.fromEntries(pins) };
}

/** The definition as canonical JSON, which does not depend on the order of members. */
export function definitionText(definition: RelayedDefinition): string {
  return canonicalJson({ ...definition });
}
