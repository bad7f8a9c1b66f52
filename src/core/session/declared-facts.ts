/**
 * Facts that another party declares, such as an MCP client, a relay application or a coordinator.
 * They never replace a fact that the host has set itself.
 */
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { mergeFacts } from '../toolset/facts.ts';
import type { SessionState } from './session-state.ts';

/**
 * Sets facts that another party declares; null removes one. The host's own facts stay as they are.
 * Does nothing for a session that is closed.
 */
export function declareFacts(state: SessionState, declared: JsonObject): void {
  if (state.closed) return;
  const known = state.declared ?? new Set();
  const changes = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(declared)) {
    const before = Object.hasOwn(state.facts, key) ? (state.facts[key] as JsonValue) : null;
    if (before !== null && !known.has(key)) continue;
    if (value === null) known.delete(key);
    else known.add(key);
    if (canonicalJson(before) !== canonicalJson(value)) changes.set(key, value);
  }
  state.declared = known.size === 0 ? undefined : known;
  if (changes.size === 0) return;
  state.facts = mergeFacts(state.facts, Object.fromEntries(changes));
  state.touch('facts');
}

/** From now on these facts are the host's. */
export function ownFacts(state: SessionState, keys: Iterable<string>): void {
  for (const key of keys) state.declared?.delete(key);
}
