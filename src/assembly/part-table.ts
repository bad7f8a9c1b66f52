/**
 * What each part adds to hosts. A registry without the part refuses all of it (`missing_part`), and
 * names the import to add.
 */

import type { AbsentPart } from '../core/part.ts';
import { defineRegistryMethods } from '../core/registry/registry.ts';
import { coreRegistryOptions } from '../core/registry/registry-options.ts';
import { defineSessionMethods } from '../core/session/session.ts';
import { coreSessionOptions } from '../core/session/session-options.ts';

/** One part. Lists that are left out are empty. */
export interface PartRow {
  /** The name of its function. */
  readonly part: string;
  /** Its subpath of the package. */
  readonly subpath: string;
  /** Options of `new HostToolRegistry(…)`. */
  readonly registry?: readonly string[];
  /** Options of `createSession`. */
  readonly session?: readonly string[];
  /** Keys of a profile. */
  readonly profile?: readonly string[];
  readonly registryMethods?: readonly string[];
  readonly sessionMethods?: readonly string[];
}

export const partTable: readonly PartRow[] = [
  {
    part: 'quotas',
    subpath: 'quotas',
    registry: ['quotas', 'quotaStore'],
    session: ['quotas'],
    profile: ['quotas'],
    registryMethods: ['addQuotas'],
  },
  { part: 'ruleReview', subpath: 'rule-review', registry: ['strictRules'] },
];

/** The names of all options of a registry, for functions that accept them among their own. */
export const registryOptionNames: readonly string[] = [
  ...coreRegistryOptions,
  ...partTable.flatMap(({ registry = [] }) => registry),
];

/** The same of a session. */
export const sessionOptionNames: readonly string[] = [
  ...coreSessionOptions,
  ...partTable.flatMap(({ session = [] }) => session),
];

type Place = Exclude<keyof PartRow, 'part' | 'subpath'>;

/** The part that adds an option, a key or a method. */
export function partOf(place: string, name: string): AbsentPart | undefined {
  const row = partTable.find(
    (one) => Object.hasOwn(one, place) && one[place as Place]?.includes(name) === true,
  );
  if (row === undefined) return undefined;
  const { part, subpath } = row;
  return { part, importLine: `import { ${part} } from 'host-tools/${subpath}'` };
}

defineRegistryMethods(partTable.flatMap(({ registryMethods = [] }) => registryMethods));
defineSessionMethods(partTable.flatMap(({ sessionMethods = [] }) => sessionMethods));
