/**
 * The capabilities that another party declares become facts of a session, which tools can require.
 */
import { capabilityFacts } from '../../capabilities.ts';
import type { JsonValue, ToolSession } from '../../index.ts';
import { canonicalJson } from '../../json/index.ts';
import { stateOf } from '../../surface-port.ts';

/**
 * Sets the facts of the session. Those of an earlier declaration that no longer hold are removed.
 * Does nothing for a session that is closed.
 * @param prefix The prefix of all these facts, such as `client.capabilities.`, with the dot.
 */
export function learnDeclared(session: ToolSession, prefix: string, declared: unknown): void {
  const state = stateOf(session);
  if (state.closed) return;
  const facts = capabilityFacts(prefix, declared);
  const changes = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(facts))
    if (
      !Object.hasOwn(state.facts, key) ||
      canonicalJson(state.facts[key] as JsonValue) !== canonicalJson(value)
    )
      changes.set(key, value);
  for (const key of Object.keys(state.facts))
    if (key.startsWith(prefix) && !Object.hasOwn(facts, key)) changes.set(key, null);
  if (changes.size > 0) session.setFacts(Object.fromEntries(changes));
}
