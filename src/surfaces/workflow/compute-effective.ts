/**
 * `computeEffective` for hosts. It checks the input, so that the computation can rely on it.
 */

import {
  type EffectiveInput,
  type EffectiveSet,
  effectiveSet,
} from '../../core/toolset/effective.ts';
import {
  budget,
  type Check,
  fields,
  object,
  optional,
  planSpecs,
  strings,
} from '../../core/toolset/shape.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { reading, readMembers } from '../../values/options/index.ts';

/**
 * The tools that a model sees: those of the profile and of the overrides, without those that an
 * override disables and those that a gate or the budget drops. Pure and deterministic: equal inputs
 * give equal sets, whatever the order of an object's keys and of the names in an override.
 * @example
 * ```ts
 * import { computeEffective } from 'host-tools/workflow';
 *
 * const { names, dropped } = computeEffective({
 *   tools: [{ name: 'look' }, { name: 'enter', requires: [{ fact: 'door', equals: 'open' }] }],
 *   facts: { door: 'shut' },
 * });
 * console.log(names, dropped); // ['look'], [{ name: 'enter', code: 'fact_unmet:door' }]
 * ```
 * @throws MisuseError `unknown_tool` if the profile, an override or `required` names a tool that is
 * not among the tools; `duplicate_name` for two specs with one name; `invalid_option` for an
 * unknown field at any depth, and for a value of the wrong type
 */
export function computeEffective(input: EffectiveInput): EffectiveSet {
  const read = readMembers('computeEffective', input, Object.keys(inputFields));
  for (const [key, check] of Object.entries(inputFields))
    reading('computeEffective', key, () =>
      check(read[key as keyof EffectiveInput] as JsonValue | undefined, key),
    );
  return effectiveSet(read as EffectiveInput);
}

const lists = optional(
  fields({ enable: optional(strings), disable: optional(strings), force: optional(strings) }),
);

const inputFields: Readonly<Record<keyof EffectiveInput, Check>> = {
  tools: planSpecs,
  profile: optional(strings),
  overrides: optional(fields({ session: lists, run: lists })),
  facts: optional(object),
  budget: optional(budget),
};
