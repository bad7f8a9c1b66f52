/** Makes the next document of a session's tools and finds what has changed in it. */
import { canonicalJson } from '../../../values/json/index.ts';
import type { Pause } from '../../../values/limits/stretches.ts';
import type { RelayedDefinition, ToolsDocument } from '../ports/documents.ts';
import { definitionText } from './tools-document.ts';

/** Most characters of the kept definitions of removed tools, as JSON. */
const maxGoneChars = 65_536;

/** The names whose definitions have changed; each is in one list at most. */
export interface ToolsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly modified: readonly string[];
}

/** The part of a document that a registration or an update determines. */
export type ToolsContent = Omit<
  ToolsDocument,
  'revision' | 'registeredAt' | 'updatedAt' | 'changedAt' | 'gone'
>;

/** The content of a document: the part without its revision, times and removed definitions. */
export function contentOf({
  revision: _,
  registeredAt: _registeredAt,
  updatedAt: _updatedAt,
  changedAt: _changedAt,
  gone: _gone,
  ...content
}: ToolsDocument): ToolsContent {
  return content;
}

/** When and why a document changes. */
export interface DocumentStep {
  /** Epoch milliseconds. */
  readonly at: number;
  /** False for an update. */
  readonly registered: boolean;
  /** Called between definitions, because comparing many of them takes a while. */
  readonly pause: Pause;
}

/** The next document, or `before` itself if the content is the same. */
export async function nextDocument(
  before: ToolsDocument | undefined,
  content: ToolsContent,
  { at, registered, pause }: DocumentStep,
): Promise<{ readonly document: ToolsDocument; readonly change: ToolsChange }> {
  const change = await differenceOf(
    definitionsByName(before),
    new Map(content.definitions.map((one) => [one.name, one])),
    pause,
  );
  if (before !== undefined && isSame(before, content, change)) return { document: before, change };
  const { revision = 0, registeredAt = at } = before ?? {};
  const gone = goneOf(before, content.definitions);
  const kept = gone.length === 0 ? {} : { gone };
  const changedAt = registered ? {} : changeTimes(before, content, change, at);
  return {
    document: {
      ...content,
      ...kept,
      revision: revision + 1,
      registeredAt: registered ? at : registeredAt,
      updatedAt: at,
      ...changedAt,
    },
    change,
  };
}

/** When the remaining tools were added or changed since the registration. */
function changeTimes(
  before: ToolsDocument | undefined,
  { definitions }: ToolsContent,
  { added, modified }: ToolsChange,
  at: number,
): Pick<ToolsDocument, 'changedAt'> {
  const times = new Map(Object.entries(before?.changedAt ?? {}));
  for (const names of [added, modified]) for (const name of names) times.set(name, at);
  const left = definitions.flatMap(({ name }) => {
    const time = times.get(name);
    return time === undefined ? [] : [[name, time] as const];
  });
  return left.length === 0 ? {} : { changedAt: Object.fromEntries(left) };
}

/** The definitions that were removed most recently, as many as fit within the limit. */
function goneOf(
  before: ToolsDocument | undefined,
  definitions: readonly RelayedDefinition[],
): readonly RelayedDefinition[] {
  const there = new Set(definitions.map(({ name }) => name));
  const gone = [...(before?.gone ?? []), ...(before?.definitions ?? [])].filter(
    ({ name }) => !there.has(name),
  );
  let chars = 0;
  const from = gone.findLastIndex((one) => {
    chars += sizeOf(one);
    return chars > maxGoneChars;
  });
  return gone.slice(from + 1);
}

function isSame(
  before: ToolsDocument,
  content: ToolsContent,
  { added, removed, modified }: ToolsChange,
): boolean {
  if (added.length + removed.length + modified.length > 0) return false;
  if (!content.definitions.every(({ name }, index) => before.definitions[index]?.name === name))
    return false;
  const rest = ({
    pluginType,
    pluginVersion,
    capabilities,
    environment,
    constraints = {},
    pins = {},
  }: ToolsContent): string =>
    canonicalJson({ pluginType, pluginVersion, capabilities, environment, constraints, pins });
  return rest(before) === rest(content);
}

async function differenceOf(
  before: ReadonlyMap<string, RelayedDefinition>,
  after: ReadonlyMap<string, RelayedDefinition>,
  pause: Pause,
): Promise<ToolsChange> {
  const added: string[] = [];
  const modified: string[] = [];
  for (const [name, definition] of after) {
    await pause();
    const old = before.get(name);
    if (old === undefined) added.push(name);
    else if (old !== definition && definitionText(old) !== definitionText(definition))
      modified.push(name);
  }
  return { added, removed: [...before.keys()].filter((name) => !after.has(name)), modified };
}

/** The definitions by name. */
export function definitionsByName(
  document: ToolsDocument | undefined,
): Map<string, RelayedDefinition> {
  return new Map(document?.definitions.map((one) => [one.name, one]));
}

/** Characters of a definition, as JSON. */
export function sizeOf(definition: RelayedDefinition): number {
  return JSON.stringify(definition).length;
}
