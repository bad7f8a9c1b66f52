/** The registry with the parts that a host names. */

import type { RegistryCredentials } from '../api/credentials.ts';
import type { Quota } from '../api/quotas.ts';
import type { RegistryOptions } from '../api/registry.ts';
import type { Part } from '../core/part.ts';
import { RegistryParts } from '../core/registry/define-part.ts';
import { Registry } from '../core/registry/registry.ts';
import type { RegistryApprovals } from '../parts/durable-approvals/registry-approvals.ts';
import { reading, wrongOption } from '../values/options/index.ts';
import { partOf } from './part-table.ts';

/** Options of a registry of `host-tools/core`. */
export type CoreOptions<S = unknown> = RegistryOptions<S> & {
  /** What the registry can do beside the core. Each part at most once. @default none */
  readonly parts?: readonly Part[] | undefined;
};

/** Options with parts that a host did not name. */
export class Given {
  readonly options: object;
  readonly parts: RegistryParts;

  constructor(options: object, parts: RegistryParts) {
    this.options = options;
    this.parts = parts;
  }
}

/**
 * The registry, with the parts that a host names. What belongs to another part is refused with
 * `missing_part`, and the error names the line to add. `HostToolRegistry` of `host-tools` is this
 * class with all parts given.
 * @typeParam S What its tools need as `context.services`.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools/core';
 * import { quotas } from 'host-tools/quotas';
 * import { z } from 'zod';
 *
 * const registry = new HostToolRegistry({
 *   parts: [quotas()],
 *   quotas: [{ id: 'payments', tools: 'pay', max: 10, per: 'day', by: 'principal' }],
 * });
 * registry.register(
 *   defineTool({
 *     name: 'pay',
 *     description: 'Pays an invoice.',
 *     parameters: z.object({ amount: z.number().positive() }),
 *     handler: ({ amount }) => `paid ${amount}`,
 *   }),
 * );
 * ```
 */
export class HostToolRegistry<S = unknown> extends Registry<S> {
  // Methods of parts.
  /**
   * Adds quotas for every session. The returned function removes them. The counts are kept.
   * @throws MisuseError `invalid_quota`, also for an id that another quota of the registry has.
   */
  declare readonly addQuotas: (quotas: readonly Quota[]) => () => void;
  /** The credentials of tools with `credentials`. */
  declare readonly credentials: RegistryCredentials;
  /** The calls of all sessions that wait for a person, in the store and in this process. */
  declare readonly approvals: RegistryApprovals;

  constructor(options: CoreOptions<S> = {}) {
    const { options: own, parts } = options instanceof Given ? options : readParts(options);
    super(own as RegistryOptions<S>, parts);
  }
}

const where = 'HostToolRegistry';

/** Takes the parts from the options. What else is wrong with those is found when they are read. */
function readParts(options: object): Given {
  if (typeof options !== 'object' || options === null || !Object.hasOwn(options, 'parts'))
    return new Given(options, new RegistryParts([], partOf));
  const given: unknown = reading(where, 'parts', () => (options as CoreOptions).parts);
  const { parts: _, ...others } = Object.getOwnPropertyDescriptors(options as CoreOptions);
  const rest = Object.defineProperties({}, others);
  if (given === undefined) return new Given(rest, new RegistryParts([], partOf));
  if (!Array.isArray(given)) throw wrongOption(where, 'parts', 'a list of parts', given);
  return new Given(rest, new RegistryParts([...given] as readonly Part[], partOf));
}

/** Makes an empty registry with the parts of another one, to try things. */
export function registryBeside({
  parts,
}: {
  readonly parts: RegistryParts;
}): HostToolRegistry<never> {
  return new HostToolRegistry<never>(new Given({}, parts) as RegistryOptions<never>);
}
