/** Quotas as a part of a registry: limits on counts and sums within a window of time. */
import type { Quota, QuotaLevel, QuotaStore } from '../../api/quotas.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { ToolGates, TriedStart, Unshared } from '../../core/call/ports.ts';
import { definePart, type Part } from '../../core/part.ts';
import type { Ports } from '../../core/registry/ports.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { canKeep, keeper, kept, storeOption, storeOr } from '../../stores/shared/use-store.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { isInProcess } from '../../values/limits/in-process.ts';
import { anything, reading, withDefault } from '../../values/options/index.ts';
import { callEnded, giveBackQuota, lookAll } from './ask-quota-store.ts';
import { memoryQuotas } from './memory-quotas.ts';
import type { CompiledQuota } from './quota.ts';
import { quotaJudge } from './quota-judge.ts';
import { QuotaLayers } from './quota-layers.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf, spendingsWithoutInput } from './quota-spending.ts';
import { everyQuota, ownQuotas, quotasOf, registryQuotas } from './quota-state.ts';
import { compileQuotas } from './quotas.ts';
import { quotasIn } from './quotas-in.ts';
import { reserveQuota } from './reserve-quota.ts';

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);
const quotaList = withDefault(anything<readonly Quota[]>(), none);
const options = {
  registry: {
    quotas: quotaList,
    quotaStore: storeOr<QuotaStore>(['reserve', 'giveBack', 'look']),
    store: storeOption,
  },
  session: { quotas: anything<readonly Quota[]>() },
  profile: { quotas: quotaList },
};

/**
 * The part that adds quotas: the options `quotas` and `quotaStore` of a registry, `quotas` of
 * sessions and profiles, and `registry.addQuotas`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { quotas } from 'host-tools/quotas';
 *
 * const registry = new HostToolRegistry({
 *   parts: [quotas()],
 *   quotas: [{ id: 'per-minute', max: 60, per: 'minute', by: 'principal' }],
 * });
 * ```
 */
export function quotas(): Part {
  return part;
}

const part = definePart({
  name: 'quotas',
  options,
  install(ports, registry, given) {
    const { parts } = registry;
    const list = given.quotas as readonly Quota[];
    const layers = reading(where, 'quotas', () => new QuotaLayers(list, parts));
    const { store, counting } = storeOf(given as Stores, registry, ports);
    counting(list);
    registryQuotas.set(registry, { layers, store });
    ports.sessions.push((setup, { quotas: added }, place) => {
      if (added === undefined) return;
      const compiled = reading(place, 'quotas', () =>
        compileQuotas(added as readonly Quota[], 'session', parts),
      );
      counting(compiled);
      if (compiled.length > 0) ownQuotas.set(setup, compiled);
    });
    ports.profiles.push((profile, { quotas: added }, parents) => {
      const compiled = compileQuotas(added as readonly Quota[], `profile:${profile.id}`, parts);
      counting(compiled);
      // A quota that two parents share is one quota.
      const all = new Set([...parents.flatMap((parent) => quotasOf(parent)), ...compiled]);
      if (all.size > 0) ownQuotas.set(profile, Object.freeze([...all]));
    });
    ports.tools.push(({ profile, setup }, { name }) => {
      const all = [
        ...layers.all,
        ...(profile === undefined ? none : quotasOf(profile)),
        ...quotasOf(setup),
      ].filter((quota) => quota.appliesTo({ name }));
      return all.length === 0 ? undefined : gatesOf(all, store);
    });
    ports.release.push(giveBackQuota);
    ports.details.add('quotas');
    ports.conditioned.push((from) => ('hub' in from ? everyQuota(from) : quotasOf(from)));
    ports.copies.push((from) => {
      const taken = registryQuotas.of(from);
      if (taken !== undefined) layers.takeOver(taken.layers);
    });
    ports.registryMethods.set('addQuotas', (state, added: readonly Quota[]) =>
      state.added(
        layers.add(added, (compiled) => {
          counting(compiled);
          ports.review?.added(compiled);
        }),
      ),
    );
  },
});

/** The options that say where quotas are counted. */
type Stores = Readonly<Record<string, unknown>> & {
  readonly quotaStore?: QuotaStore | Store | undefined;
  readonly store?: Store | undefined;
};

/** Where quotas are counted, and what throws for quotas that cannot be. */
function storeOf({ quotaStore, store }: Stores, { now }: RegistryState, ports: Ports) {
  if (quotaStore !== undefined || store === undefined || canKeep(store, quotasIn)) {
    const own = keeper(where, 'quotaStore', quotaStore, store, quotasIn, ports);
    return {
      store: own ?? memoryQuotas({ now }),
      counting: (_added: readonly unknown[]): void => {},
    };
  }
  // A store that cannot count is no fault as long as nothing is to be counted.
  const counting = (added: readonly unknown[]): void => {
    if (added.length > 0) kept(where, 'store', store, quotasIn);
  };
  return { store: memoryQuotas({ now }), counting };
}

function gatesOf(quotas: readonly CompiledQuota[], store: QuotaStore): ToolGates {
  const [first] = quotas as readonly [CompiledQuota];
  return {
    judges: quotas.some(({ over }) => over === 'ask') ? [quotaJudge(quotas)] : none,
    attributes: quotas.flatMap(({ attributes }) => attributes),
    start: (call) => reserveQuota(call, quotas),
    tryStart: (call) => tryReserve(call, quotas),
    conditioned: quotas,
    unshared: isInProcess(store) ? () => unshared(first) : undefined,
  };
}

function unshared({ id }: CompiledQuota): Unshared {
  return {
    kind: 'quotas',
    data: { quota: id },
    text:
      'quotas in the memory of this one: a process that resumes a call counts it for itself, so ' +
      `\`${id}\` can be exceeded. Give the registries of all processes one ` +
      '`quotaStore`, such as `redisQuotas`',
  };
}

// What `explain` shows of the quotas of a call. Nothing is reserved.

/** Looks at all quotas of a call. Without an input, it looks only at those that need none. */
async function tryReserve(call: FoundCall, quotas: readonly CompiledQuota[]): Promise<TriedStart> {
  const spendings =
    call.input === undefined ? spendingsWithoutInput(call, quotas) : spendingsOf(call, quotas);
  if (hasOwn(spendings, 'unreadable')) return tried([], unreadableError(spendings));
  if (spendings.length === 0) return tried([], undefined);
  const looked = await lookAll(call, spendings);
  if (looked === callEnded) return tried([], undefined);
  if (hasOwn(looked, 'unavailable'))
    return tried([], unavailableError(spendings[0] as Spending, looked));
  const compared = compare(spendings, looked);
  const refused = compared.find(({ quota, over }) => over && quota.over === 'deny');
  return tried(
    compared.map(({ level }) => level),
    refused === undefined ? undefined : exceededError(refused),
  );
}

function tried(levels: readonly QuotaLevel[], error: ToolError | undefined): TriedStart {
  const shown = levels.length === 0 ? {} : { quotas: Object.freeze(levels) };
  return { stage: 'quotas', error, shown };
}
