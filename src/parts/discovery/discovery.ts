/**
 * What a session with discovery lists: the tools that are always shown, `find_tools`, and the tools
 * that it has found. Everything else can still be called by name, through the same gates.
 */

import type { Embed } from '../../api/session-options.ts';
import type { SessionRegistry } from '../../core/session/registry-port.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import type { Listing, View } from '../../core/session/view.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { digest, notDiscovered } from '../../core/toolset/effective.ts';
import { globTest } from '../../values/text/glob.ts';

/** The name of the tool that finds the others. */
export const findToolsName = 'find_tools';

/** What the options of a session say about discovery. */
export interface DiscoverySettings {
  readonly keep: readonly string[];
  readonly maxTokens: number;
  readonly limit: number;
  readonly embed: Embed | undefined;
}

/** A tool that was found. */
export interface FoundEntry {
  readonly name: string;
  /** Its cost for a model, in tokens. */
  readonly tokens: number;
  /** The last call to `find_tools` that found it. */
  readonly callId: string;
  /**
   * The words of the query that occur in the tool. Empty for a tool that was found by its meaning.
   */
  readonly words: readonly string[];
}

/** The tools that one session has found. */
export class Discovery {
  readonly settings: DiscoverySettings;
  /** The session's `find_tools`. */
  readonly entry: ToolEntry;
  readonly #keeps: readonly ((name: string) => boolean)[];
  /** Found tools in the order in which they joined, each with its last use. */
  readonly #found = new Map<string, { entry: FoundEntry; used: number }>();
  #uses = 0;
  #version = 0;
  #last: { view: View; version: number; shows: boolean; listing: Listing } | undefined;

  #lastFindable: { view: View; shows: boolean; findable: Findable } | undefined;

  constructor(settings: DiscoverySettings, entry: ToolEntry) {
    this.settings = settings;
    this.entry = entry;
    this.#keeps = settings.keep.map((glob) => globTest(glob, false));
  }

  /** Whether a tool is always listed. */
  keeps(name: string): boolean {
    return this.#keeps.some((test) => test(name));
  }

  /**
   * Notes that a tool was called. Tools that were not called for the longest time are removed
   * first.
   */
  used(name: string): void {
    const found = this.#found.get(name);
    if (found !== undefined) found.used = ++this.#uses;
  }

  /**
   * Adds tools after those that are listed. Others are removed if all together cost too many
   * tokens. True if the listing changes.
   */
  join(tools: readonly FoundEntry[]): boolean {
    const before = [...this.#found.keys()];
    // A Map keeps the place of a key that is set again.
    for (const entry of tools)
      if (!this.keeps(entry.name)) this.#found.set(entry.name, { entry, used: ++this.#uses });
    this.#evict();
    const after = [...this.#found.keys()];
    const isChanged =
      before.length !== after.length || before.some((name, at) => name !== after[at]);
    if (isChanged) this.#version++;
    return isChanged;
  }

  #evict(): void {
    let tokens = 0;
    for (const { entry } of this.#found.values()) tokens += entry.tokens;
    while (tokens > this.settings.maxTokens) {
      const [oldest] = [...this.#found].sort(([, a], [, b]) => a.used - b.used);
      if (oldest === undefined) return;
      this.#found.delete(oldest[0]);
      tokens -= oldest[1].entry.tokens;
    }
  }

  /**
   * The tools that are always listed, and those that can be found. The same object until one of
   * them changes.
   */
  findable(view: View, shows: boolean, isOwn: IsOwn): Findable {
    const last = this.#lastFindable;
    if (last?.view === view && last.shows === shows) return last.findable;
    const isKept = keptIn(this, view, isOwn);
    const findable = Object.freeze<Findable>({
      kept: view.names.filter(isKept),
      finder: shows ? this.entry.name : undefined,
      others: view.names.filter((name) => !isKept(name)),
      foundBy: (name: string) => this.#found.get(name)?.entry,
    });
    this.#lastFindable = { view, shows, findable };
    return findable;
  }

  /**
   * The listed part of what the session may be shown.
   * @param shows Whether `find_tools` is listed.
   * @param isOwn A tool that a part brings. It is always listed, since outputs may name it.
   */
  listing(view: View, shows: boolean, isOwn: IsOwn): Listing {
    const last = this.#last;
    if (last?.view === view && last.version === this.#version && last.shows === shows)
      return last.listing;
    const { name } = this.entry;
    const names = view.names.filter(keptIn(this, view, isOwn));
    if (shows) names.push(name);
    for (const one of this.#found.keys())
      if (view.entries.has(one) && !names.includes(one)) names.push(one);
    const entries = new Map<string, ToolEntry>();
    for (const one of names)
      entries.set(one, one === name && shows ? this.entry : (view.entries.get(one) as ToolEntry));
    const dropped = [
      ...view.dropped,
      ...view.names
        .filter((one) => !entries.has(one))
        .map((one) => Object.freeze({ name: one, code: notDiscovered })),
    ];
    const { prerequisites } = view;
    const listing = Object.freeze({
      names: Object.freeze(names),
      entries,
      dropped: Object.freeze(dropped),
      prerequisites,
      hash: digest({ names, dropped, prerequisites }),
    });
    this.#last = { view, version: this.#version, shows, listing };
    return listing;
  }
}

const discoveries = new WeakMap<SessionState, Discovery>();

/** Undefined for a session that lists everything that it may show. */
export function discoveryOf(session: SessionState): Discovery | undefined {
  return discoveries.get(session);
}

export function beginDiscovery(session: SessionState, discovery: Discovery): void {
  discoveries.set(session, discovery);
  session.tools.brought = new Map([[discovery.entry.name, discovery.entry]]);
}

/** What a session with discovery may show, by how a tool gets listed. */
export interface Findable {
  /** What is always listed. */
  readonly kept: readonly string[];
  /** The name of `find_tools`, unless it is hidden. */
  readonly finder: string | undefined;
  /** The tools that can be found, whether they were found or not, in the registry's order. */
  readonly others: readonly string[];
  /** How a tool was found; undefined for one that was not. */
  readonly foundBy: (name: string) => FoundEntry | undefined;
}

/** Undefined for a session that lists everything that it may show. */
export function findableIn(session: SessionState): Findable | undefined {
  const { registry } = session;
  const discovery = discoveryOf(session);
  if (discovery === undefined) return undefined;
  return discovery.findable(
    registry.viewOf(session),
    showsFinder(session, discovery),
    ownIn(registry),
  );
}

function keptIn(discovery: Discovery, view: View, isOwn: IsOwn): (name: string) => boolean {
  return (name) => discovery.keeps(name) || isOwn(view.entries.get(name) as ToolEntry);
}

type IsOwn = (entry: ToolEntry) => boolean;

function ownIn({ ports }: SessionRegistry): IsOwn {
  return ({ definition }) => ports.tools.own.has(definition);
}

/** A host's tool with this name replaces it. */
function showsFinder(session: SessionState, { entry }: Discovery): boolean {
  const binding = session.binding(entry.name);
  return binding?.entry === entry && binding.status.drop === undefined;
}

/** What a session with discovery lists of what it may show; undefined for another session. */
export function listingIn(session: SessionState, view: View): Listing | undefined {
  const discovery = discoveryOf(session);
  return discovery?.listing(view, showsFinder(session, discovery), ownIn(session.registry));
}
