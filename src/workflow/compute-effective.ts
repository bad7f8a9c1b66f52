/**
 * `computeEffective` as hosts call it: the input is checked here, once, so that the computation can
 * trust it.
 */
import type { JsonValue } from '../json.ts';
import { readOptions } from '../options.ts';
import { type EffectiveInput, type EffectiveSet, effectiveSet } from '../toolset/effective.ts';
import {
  budget,
  type Check,
  fields,
  object,
  optional,
  planSpecs,
  strings,
} from '../toolset/shape.ts';

/**
 * The tools that a model is shown: the profile's and those that the overrides add, without those
 * that an override disables. Each of them is shown unless a gate or the budget drops it. Pure and
 * deterministic: equal inputs give equal sets, in whatever order the keys of an object and the
 * names of an override come.
 * @throws MisuseError `unknown_tool` when the profile, an override or a required name is not among
 * the tools; `duplicate_name` for two specs of one name; `invalid_option` for a field that does not
 * exist, at any depth, and for a value of the wrong type.
 *
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
 */
export function computeEffective(input: EffectiveInput): EffectiveSet {
  const read = readOptions('computeEffective', input, Object.keys(inputFields));
  for (const [key, check] of Object.entries(inputFields))
    check(read[key as keyof EffectiveInput] as JsonValue | undefined, key);
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
