/**
 * Delivers an event to the listeners of its session and of the registry. No listener can change
 * what another one reads.
 */

import type { Actor } from '../../api/delegation.ts';
import type { EventBase, EventType } from '../../api/events.ts';
import { cloneJson, deepFreeze, frozenJson, type JsonValue } from '../../values/json/index.ts';
import type { EventHub } from '../events.ts';

/** The part of a session that events need: its own listeners and the registry's. */
interface Hubs {
  readonly registry: { readonly hub: EventHub };
  readonly hub: EventHub | undefined;
}

/** Whether the session and the registry together have several listeners for an event. */
export function isShared({ registry, hub }: Hubs, type: EventType): boolean {
  return registry.hub.audience(type) + (hub?.audience(type) ?? 0) > 1;
}

/**
 * Copies JSON for an event of this type. The copy is frozen if several listeners will read it. No
 * host code may run between this and {@link deliver}.
 */
export function copyFor(session: Hubs, type: EventType, value: JsonValue): JsonValue {
  return isShared(session, type) ? frozenJson(value) : cloneJson(value);
}

/** The part of a session that signs its events. */
interface Signing extends Hubs {
  readonly registry: Hubs['registry'] & { now(): number };
  readonly sessionId: string;
  readonly actor: Actor;
  readonly events: { seq: number };
}

/** Writes the common members of an event into it, and freezes it if several listeners share it. */
export function sign(session: Signing, type: EventType, event: object, surface: string): void {
  const full = event as { -readonly [K in keyof EventBase]: EventBase[K] } & { type: string };
  full.type = type;
  full.sessionId = session.sessionId;
  const { actor } = session;
  full.principal = actor.principal;
  full.actor = actor;
  full.surface = surface;
  full.at = session.registry.now();
  full.seq = ++session.events.seq;
  if (isShared(session, type)) deepFreeze(full);
}

/**
 * Delivers an event that already has all its fields, including the base fields.
 * @param event Written as one literal, which is several times cheaper to create and to freeze. Its
 * JSON values come from {@link copyFor}.
 */
export function deliver({ registry, hub }: Hubs, type: EventType, event: object): void {
  const above = registry.hub.audience(type);
  const here = hub?.audience(type) ?? 0;
  if (above + here > 1) Object.freeze(event);
  // The listeners are counted first, so that one that subscribes during delivery does not get this
  // event. The event may by then belong to its only listener, which can change it.
  if (here > 0) hub?.emit(type, event);
  if (above > 0) registry.hub.emit(type, event);
}
