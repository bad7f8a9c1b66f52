/** What a session that was delegated to takes over from its outer session. */

import type { ToolStatus } from '../../core/call/binding.ts';
import { boundSlots } from '../../core/call/session-limits.ts';
import { tightestLimits } from '../../core/rules/limits.ts';
import type { Acting } from '../../core/session/session-ports.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { ToolEntry } from '../../core/tool/tool-entry.ts';
import { unmetFact } from '../../core/toolset/effective.ts';
import { mergeFacts } from '../../core/toolset/facts.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { scopeFact } from '../../values/options/scope-names.ts';

/** What a session that was delegated to may use. */
export interface Delegated {
  /** The tools that it may use; undefined for those of its outer session. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Its scopes are its own, so those of the outer session do not follow. */
  readonly hasScopes: boolean;
  /** The facts of the outer session that were taken over. */
  facts: JsonObject;
}

/** Kept in the setup, so that the session shares no view with others. */
export const delegated = new Slot<Delegated>();

export const acting: Acting = { follow, narrow };

function ownOf({ setup }: SessionState): Delegated {
  return delegated.of(setup) as Delegated;
}

function follow(session: SessionState, outer: SessionState): void {
  session.tools.own = outer.tools.own;
  session.tools.gone = outer.tools.gone;
  const { setup, registry, profile } = session;
  session.limits = tightestLimits(registry.limitsOf(setup.limits, profile), outer.limits);
  boundSlots(session);
  const own = ownOf(session);
  const { facts } = own;
  if (facts === outer.facts) return;
  own.facts = outer.facts;
  session.facts = mergeFacts(session.facts, changesIn(facts, outer.facts, own.hasScopes));
}

/** What turns the facts `before` into those `after`. A fact that is gone is null. */
function changesIn(before: JsonObject, after: JsonObject, hasScopes: boolean): JsonObject {
  const changes = new Map<string, JsonValue>();
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (hasScopes && key.startsWith(scopeFact)) continue;
    const [was, is] = [before, after].map((facts) =>
      Object.hasOwn(facts, key) ? (facts[key] as JsonValue) : null,
    ) as [JsonValue, JsonValue];
    if (canonicalJson(was) !== canonicalJson(is)) changes.set(key, is);
  }
  return Object.fromEntries(changes);
}

function narrow(
  session: SessionState,
  outer: SessionState,
  entry: ToolEntry,
  own: ToolStatus,
): ToolStatus {
  const { name } = entry;
  const outerEntry = outer.entryOf(name);
  const above =
    outerEntry === undefined ? undefined : session.registry.toolStatusOf(outer, outerEntry);
  const mine = session.profile?.tools.get(name);
  if (above === undefined || !isSameTool(session, outer, entry, outerEntry) || !fits(above, outer))
    return { ...own, drop: 'not_delegated', open: false };
  // Without knobs of its own it has those of the outer session, which are there.
  const ownDrop = own.drop === 'knobs_missing' ? undefined : own.drop;
  // What parts bring, such as `find_tools`, is there for the tools that it may use.
  const isBrought = session.tools.brought?.get(name) === entry;
  const isLeftOut =
    above.drop !== undefined || (!isBrought && ownOf(session).tools?.has(name) === false);
  return {
    ...own,
    drop: ownDrop ?? (isLeftOut ? 'not_in_profile' : undefined),
    // The default of the registry applies where the outer session is asked.
    default: session.profile?.default ?? 'allow',
    defaultAsks: session.profile?.default === 'ask' && own.defaultAsks,
    rulesAsk: own.rulesAsk || above.rulesAsk || above.profileAsks || above.defaultAsks,
    knobs: above.knobs,
    open: false,
    timeoutMs:
      mine?.timeoutMs === undefined ? above.timeoutMs : Math.min(mine.timeoutMs, above.timeoutMs),
    maxOutputChars: Math.min(own.maxOutputChars, above.maxOutputChars),
  };

  function fits({ drop, knobs }: ToolStatus, { facts }: SessionState): boolean {
    // A tool outside a profile can still be used by one inside it, as far as facts allow.
    if (drop === 'not_in_profile')
      return unmetFact(entry.internals.requires, facts) === undefined && knobs !== undefined;
    return drop === undefined;
  }
}

/** Whether both sessions mean one tool by a name, with the same settings. */
function isSameTool(
  session: SessionState,
  outer: SessionState,
  entry: ToolEntry,
  outerEntry: ToolEntry | undefined,
): boolean {
  const { name } = entry;
  if (session.tools.brought?.get(name) === entry)
    return outerEntry !== undefined && outer.tools.brought?.get(name) === outerEntry;
  const range = session.profile?.ranges?.get(name);
  if (entry !== outerEntry) return false;
  if (range !== undefined && session.registry.catalogue.names.pick(name, range) !== entry)
    return false;
  const knobs = session.profile?.tools.get(name)?.knobs;
  return knobs === undefined || canonicalJson(knobs) === canonicalJson(knobsIn(outer, name));
}

/** The knobs of a tool, as the innermost profile that has some gives them. */
function knobsIn(session: SessionState, name: string): JsonObject {
  const own = session.profile?.tools.get(name)?.knobs;
  return own ?? (session.outer === undefined ? {} : knobsIn(session.outer, name));
}
