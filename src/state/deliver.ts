/**
 * How an event reaches the listeners of its session and of the registry, without one of them
 * changing what another reads.
 */
import type { EventHub, EventType } from '../events.ts';
import { cloneJson, frozenJson, type JsonValue } from '../json.ts';

/** A session, as far as events go: its own listeners, and the registry's. */
interface Told {
  readonly registry: { readonly hub: EventHub };
  readonly hub: EventHub | undefined;
}

/** Whether several listeners would hear an event, in the session and on the registry together. */
export function isShared({ registry, hub }: Told, type: EventType): boolean {
  return registry.hub.audience(type) + (hub?.audience(type) ?? 0) > 1;
}

/**
 * A copy of JSON for an event of this type: the listener's own, or frozen where several read it. No
 * host code may run between this and {@link deliver}.
 */
export function copyFor(session: Told, type: EventType, value: JsonValue): JsonValue {
  return isShared(session, type) ? frozenJson(value) : cloneJson(value);
}

/**
 * Delivers an event that is complete, its base fields too.
 * @param event Written in one literal, which is several times cheaper to make and to freeze. What
 * it holds comes from {@link copyFor}.
 */
export function deliver({ registry, hub }: Told, type: EventType, event: object): void {
  const above = registry.hub.audience(type);
  const here = hub?.audience(type) ?? 0;
  if (above + here > 1) Object.freeze(event);
  // Counted first: who subscribes while an event is told does not hear that one, which may be its
  // only listener's own by now.
  if (here > 0) hub?.emit(type, event);
  if (above > 0) registry.hub.emit(type, event);
}
