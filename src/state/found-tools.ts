/** Finds the tools of a session by what they do. */
import { createPause } from '../limits/stretches.ts';
import { fairOrder } from '../search/fair-order.ts';
import { type Embed, type Meanings, rankByMeaning } from '../search/meanings.ts';
import { createToolIndex, type Hit, type ToolIndex } from '../search/tool-index.ts';
import { type Searchable, toolText } from '../search/tool-text.ts';
import type { SessionState } from './session-state.ts';
import type { ToolEntry } from './tool-entry.ts';
import { allEntries } from './tool-versions.ts';

/** What a search knows of tools. Made at the first search. */
export interface Finder {
  readonly index: ToolIndex<ToolEntry>;
  /** The epoch of the registry whose tools the index holds. */
  epoch: number;
  readonly meanings: Meanings<ToolEntry>;
}

/** The sources that no other source can push away, and that have no limit themselves. */
const ownSources: ReadonlySet<string> = new Set(['host', 'session']);

/** The best hits among the tools that a session may be shown now, by words alone. */
export function findTools(
  session: SessionState,
  query: string,
  limit: number,
): readonly Hit<ToolEntry>[] {
  const visible = visibleTools(session);
  return fairly(finderOf(session, visible).index.rank(query, visible), limit);
}

/**
 * The best hits by words, and by what the host's model says about meanings. Falls back to the words
 * if that model fails, which is logged.
 */
export async function findByMeaning(
  session: SessionState,
  query: string,
  limit: number,
  embed: Embed,
): Promise<readonly Hit<ToolEntry>[]> {
  const visible = visibleTools(session);
  const { index, meanings } = finderOf(session, visible);
  const byWords = index.rank(query, visible);
  try {
    const ranked = rankByMeaning(query, visible, byWords, meaningText, embed, meanings);
    return fairly(await ranked, limit);
  } catch (error) {
    session.registry.hostFault(error, { source: 'embed' }, 'the `embed` of a session failed');
    return fairly(byWords, limit);
  }
}

/**
 * Reads tools that no search has read yet, in stretches: the words of thousands take half a second.
 * Undefined if there is nothing to wait for.
 */
export function readTools(session: SessionState): Promise<void> | undefined {
  const { registry } = session;
  const ofSession = hasOwnTools(session);
  if (!ofSession && registry.finder?.epoch === registry.epoch) return undefined;
  const { index } = ofSession ? sessionFinder(session) : registryFinder(session);
  const tools = ofSession ? visibleTools(session) : allEntries(registry);
  return readInStretches(session, index, tools);
}

async function readInStretches(
  { registry }: SessionState,
  index: ToolIndex<ToolEntry>,
  tools: readonly ToolEntry[],
): Promise<void> {
  const pause = createPause();
  const { epoch } = registry;
  for (const tool of tools) {
    index.add(tool);
    const pausing = pause();
    if (pausing === undefined) continue;
    await pausing;
    // What was removed meanwhile must not be added again. The search reads the rest.
    if (registry.epoch !== epoch) return;
  }
}

function visibleTools(session: SessionState): readonly ToolEntry[] {
  return [...session.registry.viewOf(session).entries.values()];
}

function fairly(hits: readonly Hit<ToolEntry>[], limit: number): readonly Hit<ToolEntry>[] {
  return fairOrder(hits, limit, ({ tool }) =>
    ownSources.has(tool.source) ? undefined : tool.source,
  );
}

/**
 * One for all sessions of a registry. A session with tools of its own has one of its own, so that
 * what it is told does not depend on which other sessions there are.
 */
function finderOf(session: SessionState, visible: readonly ToolEntry[]): Finder {
  const { registry } = session;
  if (hasOwnTools(session)) {
    const finder = sessionFinder(session);
    finder.index.hold(visible);
    return finder;
  }
  const finder = registryFinder(session);
  if (finder.epoch !== registry.epoch) {
    finder.index.hold(allEntries(registry));
    finder.epoch = registry.epoch;
  }
  return finder;
}

function hasOwnTools({ own }: SessionState): boolean {
  return own !== undefined && own.size > 0;
}

function sessionFinder(session: SessionState): Finder {
  session.finder ??= createFinder();
  return session.finder;
}

function registryFinder({ registry }: SessionState): Finder {
  registry.finder ??= createFinder();
  return registry.finder;
}

function createFinder(): Finder {
  return { index: createToolIndex(searchable), epoch: -1, meanings: new WeakMap() };
}

function searchable({ definition, internals }: ToolEntry): Searchable {
  const { name, title, description, tags } = definition;
  return { name, title, description, tags, parameters: internals.input.json };
}

/** What a host's model reads of a tool. */
function meaningText(entry: ToolEntry): string {
  const { name, description, parameters, details } = toolText(searchable(entry));
  return `${name}\n${description}\n${parameters}\n${details}`;
}
