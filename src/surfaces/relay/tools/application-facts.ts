/** Turns the capabilities that an application declares into facts of its session. */
import type { JsonValue, ToolSession } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { learnDeclared } from '../../shared/declared-facts.ts';

/**
 * Sets the facts `app.capabilities.<type>`: true, or the level if one is declared. Facts of an
 * earlier registration are removed if they are no longer declared.
 */
export function learnApplication(session: ToolSession, capabilities: readonly JsonValue[]): void {
  const declared = new Map<string, JsonValue>();
  for (const one of capabilities) {
    const { type, level } = typeof one === 'string' ? { type: one, level: true } : claimOf(one);
    // If several have the same type, the first one with a level counts.
    if (typeof type === 'string' && (declared.get(type) ?? true) === true)
      declared.set(type, level ?? true);
  }
  learnDeclared(session, 'app.capabilities.', Object.fromEntries(declared));
}

function claimOf(one: JsonValue): { readonly type?: JsonValue; readonly level?: JsonValue } {
  return isJsonObject(one) ? Object.assign(Object.create(null), one) : {};
}
