/** How a registry hides secrets, without the code that does. */

import { registryStateOf } from '../../core/registry/state-of.ts';
import { Slot, type SlotHolder } from '../../core/slot.ts';
import type { Secrets } from '../../values/redaction/secrets.ts';
import type { SecretMasking } from './secret-masking.ts';

export const maskingSlot = new Slot<SecretMasking>();

/** Undefined without the part. */
export function maskingOf(registry: SlotHolder): SecretMasking | undefined {
  return maskingSlot.of(registry);
}

/**
 * From now on, a registry also hides the texts that a surface knows to be secret.
 * @param where What needs the part.
 * @throws MisuseError `missing_part`
 */
export function hideSecrets(registry: unknown, where: string, known: Secrets): void {
  const state = registryStateOf(registry);
  const masking = maskingOf(state);
  if (masking === undefined) throw state.parts.missing('registry', 'redact', where);
  masking.known = known;
}
