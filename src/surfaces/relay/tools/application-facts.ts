/** What an application declares that it can do becomes facts of its session. */
import type { JsonValue, ToolSession } from '../../../index.ts';
import { isJsonObject } from '../../../json/index.ts';
import { learnDeclared } from '../../shared/declared-facts.ts';

/**
 * Sets the facts `app.capabilities.<type>`: true, or the level if one is declared. Those of an
 * earlier registration that no longer hold are removed.
 */
export function learnApplication(session: ToolSession, capabilities: readonly JsonValue[]): void {
  const declared = new Map<string, JsonValue>();
  for (const one of capabilities) {
    const { type, level } = typeof one === 'string' ? { type: one, level: true } : claimOf(one);
    // Of several with one type, the first that has a level counts.
    if (typeof type === 'string' && (declared.get(type) ?? true) === true)
      declared.set(type, level ?? true);
  }
  learnDeclared(session, 'app.capabilities.', Object.fromEntries(declared));
}

function claimOf(one: JsonValue): { readonly type?: JsonValue; readonly level?: JsonValue } {
  return isJsonObject(one) ? Object.assign(Object.create(null), one) : {};
}
