/** Where the part keeps its data. */

import { Slot } from '../../core/slot.ts';
import type { SessionOrigins } from './session-origins.ts';

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
