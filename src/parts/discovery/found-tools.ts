/** Finds the tools of a session by what they do. */

import type { Embed } from '../../api/session-options.ts';
import { type RegistryState, wholeRegistry } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { View } from '../../core/session/view.ts';
import { Slot } from '../../core/slot.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { createPause, nextTurn } from '../../values/limits/stretches.ts';
import { type Meanings, rankByMeaning } from './meanings.ts';
import { bestTools, fairOrder, type Hit, rankTools } from './rank.ts';
import { isCurrent, type Scope, scopeOf } from './scope.ts';
import { createToolIndex, type ToolIndex } from './tool-index.ts';
import { type Searchable, toolText } from './tool-text.ts';

/** What the searches of a registry know about tools. Created at the first search. */
export interface Finder {
  readonly index: ToolIndex<ToolEntry>;
  /** The epoch of the registry whose tools the index holds. */
  epoch: number;
  /** Set while tools are read in stretches. */
  reading: Promise<void> | undefined;
  /** What was computed for each view. */
  readonly scopes: WeakMap<View, Scope<ToolEntry>>;
  readonly meanings: Meanings<ToolEntry>;
}

/** Absent until a search, or a session that will search, needs it. */
export const finderSlot = new Slot<Finder>();

/** The words of tools that sessions have registered themselves. */
const ownIndexes = new WeakMap<SessionState, ToolIndex<ToolEntry>>();

/** The sources whose hits no other source can displace. They have no limit themselves. */
const ownSources: ReadonlySet<string> = new Set(['host', 'session']);

/** The best hits among the tools that a session may show now, by words alone. */
export function findTools(
  session: SessionState,
  query: string,
  limit: number,
): readonly Hit<ToolEntry>[] {
  return bestTools(currentScope(session), query, limit, limitedSource);
}

/**
 * The best hits by words and by meanings, which the host's model ranks. If that model fails, the
 * failure is logged and only words count.
 */
export async function findByMeaning(
  session: SessionState,
  query: string,
  limit: number,
  embed: Embed,
): Promise<readonly Hit<ToolEntry>[]> {
  const scope = currentScope(session);
  const { meanings } = finderOf(wholeRegistry(session.registry));
  const byWords = rankTools(scope, query);
  let ranked = byWords;
  try {
    ranked = await rankByMeaning(query, scope.tools, byWords, meaningText, embed, meanings);
  } catch (error) {
    session.registry.hostFault(error, { source: 'embed' }, 'the `embed` of a session failed');
  }
  return fairOrder(ranked, limit, ({ tool }) => limitedSource(tool));
}

/** A search reads this many unread tools at once, which takes less than 50 ms. */
const fewTools = 500;

/**
 * Reads the tools of a large registry before its first search. That search may be `session.search`,
 * which is synchronous and could only read them all at once. Other registries wait for a search,
 * because the index takes more memory than the tools.
 */
export function readManyTools(registry: RegistryState): void {
  const unread = registry.catalogue.tools.size - (finderSlot.of(registry)?.index.ids.size ?? 0);
  if (unread > fewTools) void readTools(registry);
}

/**
 * Reads tools that no search has read yet, in stretches, since reading thousands takes a while.
 * Undefined if there is nothing to wait for.
 */
export function readTools(registry: RegistryState): Promise<void> | undefined {
  const finder = finderOf(registry);
  if (finder.epoch === registry.epoch) return undefined;
  finder.reading ??= readInStretches(registry, finder).finally(() => {
    finder.reading = undefined;
  });
  return finder.reading;
}

async function readInStretches(registry: RegistryState, finder: Finder): Promise<void> {
  // Creating a session does not wait for this.
  await nextTurn();
  const pause = createPause();
  const { epoch } = registry;
  for (const tool of registry.catalogue.names.all()) {
    finder.index.add(tool);
    const pausing = pause();
    if (pausing === undefined) continue;
    await pausing;
    // Tools that were removed meanwhile must not be added again. The search reads the rest.
    if (registry.epoch !== epoch || registry.closed) return;
  }
  holdTools(registry, finder);
}

/**
 * What a session may show now, with the statistics that a search needs. A session's own tools have
 * their own index, which ends with the session.
 */
function currentScope(session: SessionState): Scope<ToolEntry> {
  const registry = wholeRegistry(session.registry);
  const finder = finderOf(registry);
  holdTools(registry, finder);
  const view = registry.viewOf(session);
  const indexes = [finder.index];
  if (session.tools.own !== undefined && session.tools.own.size > 0) {
    const own = ownIndexes.get(session) ?? createToolIndex<ToolEntry>(searchable);
    ownIndexes.set(session, own);
    own.hold(session.tools.own.values());
    indexes.push(own);
  }
  let scope = finder.scopes.get(view);
  if (scope === undefined || !isCurrent(scope)) {
    scope = scopeOf(indexes, [...view.entries.values()]);
    finder.scopes.set(view, scope);
  }
  return scope;
}

/** Updates the index to the registry's present tools. */
function holdTools(registry: RegistryState, finder: Finder): void {
  if (finder.epoch === registry.epoch) return;
  finder.index.hold(registry.catalogue.names.all());
  finder.epoch = registry.epoch;
}

function finderOf(registry: RegistryState): Finder {
  const known = finderSlot.of(registry);
  if (known !== undefined) return known;
  const finder: Finder = {
    index: createToolIndex(searchable),
    epoch: -1,
    reading: undefined,
    scopes: new WeakMap(),
    meanings: new WeakMap(),
  };
  finderSlot.set(registry, finder);
  return finder;
}

/** The source of a tool that may not fill all first places; undefined for the host's own tools. */
function limitedSource({ source }: ToolEntry): string | undefined {
  return ownSources.has(source) ? undefined : source;
}

function searchable({ definition, internals }: ToolEntry): Searchable {
  const { name, title, description, tags } = definition;
  return { name, title, description, tags, parameters: internals.input.json };
}

/** The text of a tool that a host's model reads. */
function meaningText(entry: ToolEntry): string {
  const { name, description, parameters, details } = toolText(searchable(entry));
  return `${name}\n${description}\n${parameters}\n${details}`;
}
