/**
 * What a session shows: the effective set, and the entries behind its names. Sessions that show the
 * same tools for the same reasons share one computed view.
 */

import type { PendingApproval } from '../../api/approval.ts';
import type { Dropped, Prerequisite } from '../../api/session.ts';
import { canonicalJson, deepFreeze, type JsonValue } from '../../values/json/index.ts';
import type { ToolStatus } from '../call/binding.ts';
import type { ToolEntry } from '../tool/tool-entry.ts';
import { effectiveSet } from '../toolset/effective.ts';
import type { Block, ToolSpec } from '../toolset/tool-spec.ts';
import type { SessionState } from './session-state.ts';

export interface View {
  readonly names: readonly string[];
  readonly entries: ReadonlyMap<string, ToolEntry>;
  readonly dropped: readonly Dropped[];
  readonly prerequisites: readonly Prerequisite[];
  readonly hash: string;
  /** The specs of every listed or dropped tool, for batch plans. */
  readonly specs: ReadonlyMap<string, ToolSpec>;
  /** Effective tools whose resource key depends on the input. */
  readonly keyed: ReadonlySet<string>;
}

/** What several sessions share: the status of each tool, and the view once a session lists it. */
export interface SharedView {
  readonly statuses: Map<ToolEntry, ToolStatus>;
  view: View | undefined;
}

/** Most shared views that are kept. When another one is needed, all are dropped. */
const maxViews = 64;

/** The shared views of one epoch of the registry. */
export class SharedViews {
  #epoch = -1;
  readonly #views = new Map<string, SharedView>();

  /** A session with tools or rules of its own, or data of parts, gets a view of its own. */
  get(session: SessionState): SharedView {
    const { registry } = session;
    if (this.#epoch !== registry.epoch) {
      this.#views.clear();
      this.#epoch = registry.epoch;
    }
    if (
      (session.tools.own !== undefined && session.tools.own.size > 0) ||
      session.rules.length > 0 ||
      session.setup.slots !== undefined
    )
      return { statuses: new Map(), view: undefined };
    const judgesPrincipal =
      registry.rules.testsPrincipal || session.profile?.testsPrincipal === true;
    const principal = judgesPrincipal ? session.principal : undefined;
    const key =
      principal === undefined &&
      session.profileId === undefined &&
      session.overrides === undefined &&
      session.tools.brought === undefined &&
      Object.keys(session.facts).length === 0
        ? ''
        : canonicalJson([
            session.profileId ?? null,
            session.facts,
            (session.overrides ?? null) as JsonValue,
            principal ?? null,
            session.tools.brought !== undefined,
          ]);
    let shared = this.#views.get(key);
    if (shared === undefined) {
      shared = { statuses: new Map(), view: undefined };
      if (this.#views.size >= maxViews) this.#views.clear();
      this.#views.set(key, shared);
    }
    return shared;
  }
}

export function computeView(session: SessionState): View {
  const { registry, profile } = session;
  const specs = new Map<string, ToolSpec>();
  const entryOf = (name: string): ToolEntry | undefined => session.entryOf(name);
  for (const name of [...registry.catalogue.tools.keys(), ...(session.tools.own?.keys() ?? [])]) {
    const entry = entryOf(name);
    // No version fits the range of the profile.
    if (entry === undefined) continue;
    if (entry.internals.internal) continue;
    if (registry.ports.tools.own.get(entry.definition)?.isListed(session) === false) continue;
    specs.set(name, specOf(session, name, entry));
  }
  for (const name of profile?.tools.keys() ?? [])
    if (!specs.has(name) && entryOf(name) === undefined)
      specs.set(name, { name, blocked: ['not_registered'] });
  const { names, dropped, prerequisites, hash } = effectiveSet(
    specs,
    profile && [...profile.tools.keys(), ...(session.tools.own?.keys() ?? [])],
    session.overrides === undefined ? [] : [session.overrides],
    session.facts,
  );
  const entries = new Map<string, ToolEntry>();
  const keyed = new Set<string>();
  for (const name of names) {
    const entry = entryOf(name);
    if (entry === undefined) continue;
    entries.set(name, entry);
    if (typeof entry.internals.execution.resourceKey === 'function') keyed.add(name);
  }
  return deepFreezeView({ names, dropped, prerequisites, hash, entries, specs, keyed });
}

function specOf(session: SessionState, name: string, entry: ToolEntry): ToolSpec {
  const { internals } = entry;
  const { drop } = session.registry.toolStatusOf(session, entry);
  // Only the session knows these reasons; `effectiveSet` finds facts by itself.
  const blocked =
    drop?.startsWith('fact_unmet:') === true ? undefined : (drop as Block | undefined);
  return {
    name,
    requires: internals.requires,
    provides: internals.provides,
    parallelSafe: internals.execution.parallelSafe,
    ...(typeof internals.execution.resourceKey === 'string'
      ? { resourceKey: internals.execution.resourceKey }
      : {}),
    ...(blocked === undefined ? {} : { blocked: [blocked] }),
  };
}

function deepFreezeView(view: View): View {
  deepFreeze(view.names);
  deepFreeze(view.dropped);
  deepFreeze(view.prerequisites);
  return Object.freeze(view);
}

/** The part of a view that is listed. */
export interface Listing {
  readonly names: readonly string[];
  readonly entries: ReadonlyMap<string, ToolEntry>;
  readonly dropped: readonly Dropped[];
  readonly prerequisites: readonly Prerequisite[];
  readonly hash: string;
}

/** All that the session may show, or what a part selects of it. */
export function listingOf(session: SessionState): Listing {
  const { registry } = session;
  const view = registry.viewOf(session);
  return registry.ports.sessions.listing?.(session, view) ?? view;
}

/** The calls that wait for a person: here and, if a part keeps some, elsewhere. */
export async function questionsOf(session: SessionState): Promise<readonly PendingApproval[]> {
  const here = [...(session.desk?.waiting.values() ?? [])].map(({ request }) => request);
  return [...here, ...((await session.registry.ports.calls.answers?.pending(session)) ?? [])];
}
