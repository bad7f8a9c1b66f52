/** What quotas keep in registries, profiles, sessions and calls. */

import type { Store } from '../../api/store.ts';
import type { Call } from '../../core/call/call.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { Slot, type SlotHolder } from '../../core/slot.ts';
import type { CompiledQuota, QuotaLayers } from './quota-layers.ts';
import type { QuotaReader } from './quota-reader.ts';
import type { QuotaSpend, Reservation } from './quotas-in.ts';

/** The quotas of a registry, and where they are counted. */
export const registryQuotas = new Slot<{
  readonly layers: QuotaLayers;
  readonly store: Store;
}>();

/** The quotas of a resolved profile, its parents' first, or of a session. */
export const ownQuotas = new Slot<readonly CompiledQuota[]>();

/** What a call has reserved, until its handler starts. */
export const reservedQuota = new Slot<{
  readonly reservation: Reservation;
  /** The amounts, in their order. */
  readonly spends: readonly QuotaSpend[];
}>();

/** What has been read from the input of a call. */
export const readQuota = new Slot<QuotaReader>();

const none: readonly never[] = Object.freeze([]);

/** The store of the call's registry. */
export function quotaStoreOf({ session }: Call): Store {
  return (registryQuotas.of(session.registry) as { readonly store: Store }).store;
}

export function quotasOf(holder: Readonly<SlotHolder>): readonly CompiledQuota[] {
  return ownQuotas.of(holder) ?? none;
}

/** The quotas of a registry and its profiles. */
export function everyQuota(registry: RegistryState): readonly CompiledQuota[] {
  const all = [...registry.profiles.values()].flatMap(({ resolved }) => quotasOf(resolved));
  return [...new Set([...(registryQuotas.of(registry)?.layers.all ?? none), ...all])];
}
