/** Quotas as a part of a registry: limits on counts and sums within a window of time. */
import type { Quota, QuotaLevel } from '../../api/quotas.ts';
import type { Store } from '../../api/store.ts';
import type { FoundCall } from '../../core/call/call.ts';
import type { ToolGates, TriedStart, Unshared } from '../../core/call/ports.ts';
import { sessionsOf } from '../../core/call/session-limits.ts';
import { storeGates } from '../../core/call/store-step.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import type { Ports } from '../../core/registry/ports.ts';
import type { RegistryState } from '../../core/registry/registry-state.ts';
import { type SessionState, wholeSession } from '../../core/session/session-state.ts';
import { memoryStore } from '../../stores/memory/memory-store.ts';
import {
  canKeep,
  expectUse,
  isInProcess,
  keeper,
  storeOption,
} from '../../stores/shared/use-store.ts';
import type { ToolError } from '../../values/errors/index.ts';
import { hasOwn } from '../../values/json/value.ts';
import { anything, reading, withDefault } from '../../values/options/index.ts';
import { callEnded, giveBackQuota, lookAll } from './ask-quota-store.ts';
import { quotaJudge } from './quota-judge.ts';
import { type CompiledQuota, QuotaLayers } from './quota-layers.ts';
import { compare, exceededError, unavailableError, unreadableError } from './quota-levels.ts';
import { type Spending, spendingsOf, spendingsWithoutInput } from './quota-spending.ts';
import { everyQuota, ownQuotas, quotasOf, registryQuotas } from './quota-state.ts';
import { compileQuotas } from './quotas.ts';
import { quotaUse } from './quotas-in.ts';
import { reserveQuota } from './reserve-quota.ts';

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);
const quotaList = withDefault(anything<readonly Quota[]>(), none);
const options = {
  registry: {
    quotas: quotaList,
    quotaStore: storeOption,
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
    expectUse(ports, (given as Stores).store);
    const { store, counting } = storeOf(given as Stores, registry, ports);
    counting(list);
    registryQuotas.set(registry, { layers, store });
    ports.sessions.options.push((setup, { quotas: added }, place) => {
      if (added === undefined) return;
      const compiled = reading(place, 'quotas', () =>
        compileQuotas(added as readonly Quota[], 'session', parts),
      );
      counting(compiled);
      if (compiled.length > 0) ownQuotas.set(setup, compiled);
    });
    ports.profiles.options.push((profile, { quotas: added }, parents) => {
      const compiled = compileQuotas(added as readonly Quota[], `profile:${profile.id}`, parts);
      counting(compiled);
      // A quota that two parents share is one quota.
      const all = new Set([...parents.flatMap((parent) => quotasOf(parent)), ...compiled]);
      if (all.size > 0) ownQuotas.set(profile, Object.freeze([...all]));
    });
    ports.tools.gates.push((session, { name }) => {
      const applies = (quota: CompiledQuota): boolean => quota.appliesTo({ name });
      const own = ownQuotasIn(session, layers.all).filter(applies);
      const above = quotasAbove(session, layers.all).filter(applies);
      return own.length + above.length === 0 ? undefined : gatesOf(own, above, store);
    });
    ports.calls.release.push(giveBackQuota);
    ports.details.add('quotas');
    ports.conditioned.push((from) => ('hub' in from ? everyQuota(from) : quotasOf(from)));
    ports.copies.push((from) => {
      const taken = registryQuotas.of(from);
      if (taken !== undefined) layers.takeOver(taken.layers);
    });
    ports.methods.set('addQuotas', (state, added: readonly Quota[]) =>
      state.added(
        layers.add(added, (compiled) => {
          counting(compiled);
          ports.review?.added(compiled);
        }),
      ),
    );
  },
});

/** All quotas of a session. */
function quotasIn(
  { profile, setup }: SessionState,
  all: readonly CompiledQuota[],
): readonly CompiledQuota[] {
  return [...all, ...(profile === undefined ? none : quotasOf(profile)), ...quotasOf(setup)];
}

/** Those that are not counted by a session for which this one acts. */
function ownQuotasIn(
  session: SessionState,
  all: readonly CompiledQuota[],
): readonly CompiledQuota[] {
  const own = quotasIn(session, all);
  if (session.outer === undefined) return own;
  const others = sessionsOf(session.outer).flatMap((one) => quotasIn(wholeSession(one), all));
  const counted = new Set(others.map(({ key }) => key));
  return own.filter(({ by, key }) => by.includes('session') || !counted.has(key));
}

/** What the sessions count for which a session acts. */
function quotasAbove(
  { outer }: SessionState,
  all: readonly CompiledQuota[],
): readonly CompiledQuota[] {
  if (outer === undefined) return none;
  return sessionsOf(outer).flatMap((session) =>
    ownQuotasIn(wholeSession(session), all).map((quota) => Object.freeze({ ...quota, session })),
  );
}

/** The options that say where quotas are counted. */
type Stores = Readonly<Record<string, unknown>> & {
  readonly quotaStore?: Store | undefined;
  readonly store?: Store | undefined;
};

/** Where quotas are counted, and what throws for quotas that cannot be. */
function storeOf({ quotaStore, store }: Stores, { now }: RegistryState, ports: Ports) {
  const keep = (): Store | undefined =>
    keeper(where, 'quotaStore', quotaStore, store, quotaUse, ports);
  if (quotaStore !== undefined || store === undefined || canKeep(store, quotaUse)) {
    return {
      store: keep() ?? memoryStore({ now }),
      counting: (_added: readonly unknown[]): void => {},
    };
  }
  // A store that cannot count is no fault as long as nothing is to be counted.
  const counting = (added: readonly unknown[]): void => {
    if (added.length > 0) keep();
  };
  return { store: memoryStore({ now }), counting };
}

/** @param above Judged where the outer sessions are asked. */
function gatesOf(
  own: readonly CompiledQuota[],
  above: readonly CompiledQuota[],
  store: Store,
): ToolGates {
  const quotas = [...own, ...above];
  const [first] = quotas as readonly CompiledQuota[] as readonly [CompiledQuota];
  return {
    judges: own.some(({ over }) => over === 'ask') ? [quotaJudge(own)] : none,
    attributes: quotas.flatMap(({ attributes }) => attributes),
    keep: { ask: (call) => reserveQuota(call, quotas, store), all: storeGates },
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
      '`quotaStore`, such as `postgresStore` or `redisStore`',
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
