/**
 * What surfaces tell a session about texts, and ask about them, without loading the part; and where
 * the part keeps what it knows.
 */

import type { RegistryState } from '../../core/registry/registry-state.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { JsonPrimitive, JsonValue } from '../../values/json/index.ts';
import type { FilledForm } from './own-words.ts';
import type { SessionOrigins } from './session-origins.ts';

export interface OriginsPort {
  /** Whether a rule of the registry or of its scopes tests the origins of values. */
  isTestedIn(registry: RegistryState): boolean;
  /** Whether the session remembers texts, as one with a rule about origins does. */
  remembers(session: SessionState): boolean;
  /** Remembers a text, if the session remembers any. */
  heard(session: SessionState, heard: string | FilledForm, origin: 'user' | 'trusted'): void;
  /** Remembers an output. False if there is no such tool. */
  seen(
    session: SessionState,
    toolName: string,
    output: JsonValue,
    about: { readonly callId?: string; readonly input?: JsonValue },
  ): boolean;
  /** A person has approved a value. */
  approved(session: SessionState, value: JsonPrimitive, by: string): void;
}

export const originsPort = new Slot<OriginsPort>();

/** What the part knows about a registry. */
export interface RegistryOrigins {
  /** The most characters that a session remembers, unless it has a limit of its own. */
  readonly maxChars: number | undefined;
  /** Some present or former tool has labels about origins, so sessions remember texts. */
  isLabelled: boolean;
  /** Whether a rule of the registry tested origins in this epoch. */
  isTested: boolean;
  epoch: number;
}

export const ofRegistry = new Slot<RegistryOrigins>();
/** What a session remembers of texts. It has none as long as nothing asks about origins. */
export const ofSession = new Slot<SessionOrigins>();
/** Set for a profile with a rule that tests origins, or with labels. */
export const ofProfile = new Slot<true>();
