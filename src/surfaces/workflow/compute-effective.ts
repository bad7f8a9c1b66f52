/** `computeEffective` for hosts. It checks the input, so that the computation can rely on it. */
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
import type { ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { JsonObject, ToolSession } from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
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

// The tools of a session as specs for a workflow.

/**
 * The specs of all tools that a model could see in this session: first those of the registry in its
 * order, then the session's own, then `find_tools` of a session with `discovery`. They are what
 * `createWorkflow` needs. A `resourceKey` that depends on the input is left out; the session's
 * locks apply anyway.
 * @example
 * ```ts
 * import { createWorkflow, toolSpecs } from 'host-tools/workflow';
 *
 * const workflow = createWorkflow({ tools: toolSpecs(session), profiles: { all: ['add'] } });
 * ```
 * @throws MisuseError `foreign_definition` for a value that is not a session of this library
 */
export function toolSpecs(session: ToolSession): ToolSpec[] {
  const view = inspectSession(session);
  const { specs } = view;
  const finder = view.findable?.finder;
  const all = finder === undefined ? specs : new Map([...specs, [finder, finderSpec(finder)]]);
  const found: ToolSpec[] = [];
  for (const [name, { requires = [], provides = [], parallelSafe = false, resourceKey }] of all) {
    const definition = view.definition(name);
    // A profile may name a tool that is not registered.
    if (definition === undefined) continue;
    found.push({
      name,
      description: inspectTool(definition).description,
      parameters: definition.parameters as JsonObject,
      ...(requires.length === 0 ? {} : { requires }),
      ...(provides.length === 0 ? {} : { provides }),
      ...(parallelSafe ? { parallelSafe } : {}),
      ...(resourceKey === undefined ? {} : { resourceKey }),
    });
  }
  return found;
}

function finderSpec(name: string): ToolSpec {
  return { name, parallelSafe: true };
}
