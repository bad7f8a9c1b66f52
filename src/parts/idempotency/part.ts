/** Idempotency as a part of a registry: a call with a key runs at most once. */

import type { IdempotencyOptions } from '../../api/registry.ts';
import type { Store } from '../../api/store.ts';
import type { ToolGates, Unshared } from '../../core/call/ports.ts';
import { storeGates } from '../../core/call/store-step.ts';
import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { expectUse, isInProcess, storeOption } from '../../stores/shared/use-store.ts';
import { anything } from '../../values/options/index.ts';
import { claimOrReplay } from './claim-or-replay.ts';
import { readIdempotency } from './idempotency-options.ts';

/**
 * The part that adds the option `idempotency` of a registry, which keeps the outcomes of calls with
 * an `idempotencyKey`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools/core';
 * import { idempotency } from 'host-tools/idempotency';
 *
 * const registry = new HostToolRegistry({ parts: [idempotency()], idempotency: {} });
 * ```
 */
export function idempotency(): Part {
  return part;
}

const part = definePart({
  name: 'idempotency',
  // A call that ends as an earlier one did spends nothing.
  rank: -1,
  options: { registry: { idempotency: anything<IdempotencyOptions>(), store: storeOption } },
  install(ports, registry, { idempotency: given, store }) {
    expectUse(ports, store);
    if (given === undefined) return;
    const kept = readIdempotency(
      given as IdempotencyOptions,
      registry,
      'HostToolRegistry',
      store as Store | undefined,
      ports,
    );
    const gates: ToolGates = {
      keep: { ask: (call) => claimOrReplay(call, kept), all: storeGates },
      unshared: isInProcess(kept.store)
        ? ({ options }) => (options?.idempotencyKey === undefined ? undefined : unshared)
        : undefined,
    };
    ports.tools.gates.push((_session, { definition }) =>
      ports.tools.own.has(definition) ? undefined : gates,
    );
    // A host that ends its process after closing would otherwise lose the last outcomes.
    ports.closing.push(() => Promise.all(kept.saving));
  },
});

const unshared: Unshared = {
  kind: 'idempotency',
  data: {},
  text:
    'the outcomes of calls with an idempotency key in the memory of this one: a call that ' +
    'another process resumes can run again here, if it is repeated with its key. Give the ' +
    'registries of all processes one `idempotency.store`, such as `postgresStore` or `redisStore`',
};
