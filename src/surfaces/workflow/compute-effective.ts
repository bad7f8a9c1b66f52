/** `computeEffective` for hosts. It checks the input, so that the computation can rely on it. */

import type { Dropped } from '../../api/session.ts';
import type { Overrides } from '../../api/session-options.ts';
import {
  checkNames,
  type EffectiveSet,
  effectiveSet,
  notDiscovered,
} from '../../core/toolset/effective.ts';
import { own, ownMembers, specsByName, type ToolSpec } from '../../core/toolset/tool-spec.ts';
import type { JsonObject, ToolSession } from '../../core.ts';
import { inspectSession, inspectTool } from '../../extend.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { reading, readMembers } from '../../values/options/index.ts';
import { budget, type Check, fields, object, optional, planSpecs, strings } from './shape.ts';

/** Bounds on what a model sees. */
export interface EffectiveBudget {
  /** The most tools. From 0. @default no limit */
  readonly maxTools?: number | undefined;
  /** The most tokens of all tools together. From 0. @default no limit */
  readonly maxTokens?: number | undefined;
  /** Tools that the limits count but never drop. Gates may still drop them. @default none */
  readonly required?: readonly string[] | undefined;
}

/** Everything that the effective set depends on. */
export interface EffectiveInput {
  /** In the order of registration. */
  readonly tools: readonly ToolSpec[];
  /** Names in order. @default every given tool */
  readonly profile?: readonly string[] | undefined;
  /** Changes for the session and for the run. Both scopes count equally. */
  readonly overrides?:
    | { readonly session?: Overrides | undefined; readonly run?: Overrides | undefined }
    | undefined;
  /** A flat map with dotted keys. @default {} */
  readonly facts?: JsonObject | undefined;
  /** Bounds on what the model sees. @default no bounds */
  readonly budget?: EffectiveBudget | undefined;
}

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
  return setOf(read as EffectiveInput);
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

/**
 * The {@link EffectiveSet} of an input that was checked.
 * @param listed The names to which discovery narrows the set, in their order. @default all
 * @throws MisuseError `unknown_tool`, `duplicate_name`
 */
export function setOf(input: EffectiveInput, listed?: readonly string[]): EffectiveSet {
  const { tools, profile, overrides, facts = {}, budget } = ownMembers(input);
  const byName = specsByName(tools, 'computeEffective');
  checkNames(profile, byName, 'profile');
  checkNames(budget && own(budget, 'required'), byName, 'budget.required');
  const changes: Overrides[] = [];
  for (const scope of ['session', 'run'] as const) {
    const lists = overrides && own(overrides, scope);
    if (lists === undefined) continue;
    changes.push(lists);
    for (const list of ['enable', 'disable', 'force'] as const)
      checkNames(own(lists, list), byName, `overrides.${scope}.${list}`);
  }
  return effectiveSet(byName, profile, changes, facts, (names, dropped) => {
    const shown = listed === undefined ? names : listedOf(names, listed, dropped);
    return budget === undefined ? shown : withinBudget(shown, byName, budget, dropped);
  });
}

function listedOf(
  names: readonly string[],
  listed: readonly string[],
  dropped: Dropped[],
): string[] {
  const available = new Set(names);
  const shown = new Set(listed.filter((name) => available.has(name)));
  for (const name of names) if (!shown.has(name)) dropped.push({ name, code: notDiscovered });
  return [...shown];
}

function withinBudget(
  names: readonly string[],
  byName: ReadonlyMap<string, ToolSpec>,
  budget: EffectiveBudget,
  dropped: Dropped[],
): string[] {
  const {
    maxTools = Number.POSITIVE_INFINITY,
    maxTokens = Number.POSITIVE_INFINITY,
    required = [],
  } = ownMembers(budget);
  const must = new Set(required);
  const taken = new Set(names.filter((name) => must.has(name)));
  const costOf = (name: string): number => tokenCost(byName.get(name) as ToolSpec);
  let tokens = 0;
  for (const name of taken) tokens += costOf(name);
  for (const name of names) {
    if (taken.has(name)) continue;
    const cost = costOf(name);
    if (taken.size >= maxTools) dropped.push({ name, code: 'tool_budget' });
    else if (tokens + cost > maxTokens) dropped.push({ name, code: 'token_budget' });
    else {
      taken.add(name);
      tokens += cost;
    }
  }
  return names.filter((name) => taken.has(name));
}

function tokenCost(spec: ToolSpec): number {
  const { name, description, parameters, tokens } = ownMembers(spec);
  if (tokens !== undefined) return tokens;
  return Math.ceil(JSON.stringify({ name, description, parameters }).length / 4);
}

// The tools of a session as specs for a workflow.

/**
 * The specs of all tools that a model could see in this session: first those of the registry in its
 * order, then the session's own, then those that the session brings, which are `find_tools` with
 * `discovery` and `run_code` with `code`. They are what `createWorkflow` needs. A `resourceKey`
 * that depends on the input is left out; the session's locks apply anyway.
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
  const finder = view.findable?.finder;
  const all = new Map(view.specs);
  const brought = new Set(view.brought);
  for (const name of brought) all.set(name, { name, parallelSafe: name === finder });
  const found: ToolSpec[] = [];
  for (const [name, { requires = [], provides = [], parallelSafe = false, resourceKey }] of all) {
    const definition = view.definition(name);
    // A profile may name a tool that is not registered.
    if (definition === undefined) continue;
    // What a program can call is in the description that the session gives.
    const own = brought.has(name) ? session.tool(name)?.description : undefined;
    found.push({
      name,
      description: own ?? inspectTool(definition).description,
      parameters: definition.parameters as JsonObject,
      ...(requires.length === 0 ? {} : { requires }),
      ...(provides.length === 0 ? {} : { provides }),
      ...(parallelSafe ? { parallelSafe } : {}),
      ...(resourceKey === undefined ? {} : { resourceKey }),
    });
  }
  return found;
}
