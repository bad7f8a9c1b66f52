/** Which tools a model is shown: a pure, deterministic function of tools, profile, overrides and facts. */
import { createHash } from 'node:crypto';
import { describe, MisuseError } from '../errors.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { didYouMean, nearestNames } from '../names.ts';
import type { FactRule } from '../tool-config.ts';

/** What planning may know of a tool. */
export interface ToolSpec {
  /** The tool's id. One spec a name. */
  readonly name: string;
  /** What a model is told of it. */
  readonly description?: string | undefined;
  /** Its JSON Schema. */
  readonly parameters?: JsonObject | undefined;
  /** Every one of these facts must hold, else the tool is dropped as `fact_unmet:<fact>`. @default none */
  readonly requires?: readonly FactRule[] | undefined;
  /** The facts that running it brings about. @default none */
  readonly provides?: readonly string[] | undefined;
  /** Whether it may run beside other calls. @default false */
  readonly parallelSafe?: boolean | undefined;
  /** Two calls of one key never stand in one group. @default none */
  readonly resourceKey?: string | undefined;
  /** What listing it costs the model. From 0. @default a quarter of its JSON's characters */
  readonly tokens?: number | undefined;
  /** What only a session knows. */
  readonly blocked?: readonly Block[] | undefined;
}
/** Drop codes that are not worked out from the spec: whoever makes it says so. */
export type Block = 'disabled' | 'denied' | 'not_registered' | 'knobs_missing';

/** Lists of names that change the profile's choice for a session or a run. `force` equals `enable`; neither beats `disable`, and nothing beats a gate. */
export interface Overrides {
  /** Names to add to the profile's choice. */
  readonly enable?: readonly string[] | undefined;
  /** Names to hide and refuse (`disabled`). */
  readonly disable?: readonly string[] | undefined;
  /** Names to add, as `enable`. */
  readonly force?: readonly string[] | undefined;
}

/** Bounds on what a model is shown. */
export interface EffectiveBudget {
  /** Most tools. From 0. @default no limit */
  readonly maxTools?: number | undefined;
  /** Most tokens, over all tools. From 0. @default no limit */
  readonly maxTokens?: number | undefined;
  /** Kept before all others, and counted; no limit drops them, a gate does. @default none */
  readonly required?: readonly string[] | undefined;
}

/** All that the effective set depends on. */
export interface EffectiveInput {
  /** In the order in which they were registered. */
  readonly tools: readonly ToolSpec[];
  /** Names in order. Absent: every tool given. */
  readonly profile?: readonly string[] | undefined;
  /** Added and taken away, for the session and for the run; both scopes count alike. */
  readonly overrides?: { readonly session?: Overrides | undefined; readonly run?: Overrides | undefined } | undefined;
  /** Flat, with dotted keys. */
  readonly facts?: JsonObject | undefined;
  /** Absent: everything that passes the gates is shown. */
  readonly budget?: EffectiveBudget | undefined;
}

/** A tool that is not effective, and why. */
export interface Dropped {
  /** The tool's name. */
  readonly name: string;
  /** The first that applies: `disabled`, `denied`, `not_in_profile`, `fact_unmet:<fact>`, `not_registered`, `knobs_missing`, `tool_budget`, `token_budget`. */
  readonly code: string;
}
/** A fact that dropped tools wait for and an effective tool provides. */
export interface Prerequisite {
  /** The effective tool that provides the fact. */
  readonly tool: string;
  /** The fact's dotted key, such as `hostSession.status`. */
  readonly fact: string;
  /** The dropped tools that wait for it. */
  readonly unlocks: readonly string[];
}
/** Which tools a model is shown, and why not the others. Every tool given is in `names` or in `dropped`, once. */
export interface EffectiveSet {
  /** Profile order, then extras by code unit. */
  readonly names: readonly string[];
  /** What a gate hides, in the order of the listing; then what a budget does. */
  readonly dropped: readonly Dropped[];
  /** Facts that dropped tools wait for and an effective tool provides. */
  readonly prerequisites: readonly Prerequisite[];
  /** `sha256:` and hex over names, dropped and prerequisites. */
  readonly hash: string;
}

/** The first fact that a tool requires and that does not hold. */
export function unmetFact(requires: readonly FactRule[] | undefined, facts: JsonObject): string | undefined {
  if (requires === undefined) return undefined;
  for (const rule of requires) {
    const value = Object.hasOwn(facts, rule.fact) ? facts[rule.fact] : undefined;
    const holds = 'in' in rule ? rule.in.some((item) => item === value) : rule.equals === value;
    if (!holds) return rule.fact;
  }
  return undefined;
}

/** What decides whether one tool is dropped, budgets aside. */
export interface Standing {
  readonly disabledByOverride: boolean;
  readonly inProfile: boolean;
  readonly facts: JsonObject;
}

/** Why a tool is not effective, or undefined when it is. The one place that knows the order of the codes. */
export function dropCode(spec: Pick<ToolSpec, 'requires' | 'blocked'>, standing: Standing): string | undefined {
  const { blocked } = spec;
  if (standing.disabledByOverride || blocked?.includes('disabled') === true) return 'disabled';
  if (blocked?.includes('denied') === true) return 'denied';
  if (!standing.inProfile) return 'not_in_profile';
  const fact = unmetFact(spec.requires, standing.facts);
  if (fact !== undefined) return `fact_unmet:${fact}`;
  if (blocked?.includes('not_registered') === true) return 'not_registered';
  if (blocked?.includes('knobs_missing') === true) return 'knobs_missing';
  return undefined;
}

/**
 * Enabled are the profile's tools and what the overrides add, but for what an override disables; each of them is shown unless a gate or a budget drops it.
 * Pure and deterministic: equal inputs give equal sets, in whatever order the keys of an object and the names of an override come.
 * @throws MisuseError `unknown_tool` when the profile, an override or a required name is not among the tools, `duplicate_name` for two specs of one name,
 * `invalid_option` for limits and costs that are no numbers from 0.
 */
export function computeEffective(input: EffectiveInput): EffectiveSet {
  const { tools, profile, overrides, facts = {}, budget } = input;
  const byName = specsByName(tools, 'computeEffective');
  const check = (names: readonly string[] | undefined, where: string): void => checkNames(names, byName, where);
  check(profile, 'profile');
  check(budget?.required, 'budget.required');
  const extras = new Set<string>();
  const disabled = new Set<string>();
  for (const scope of ['session', 'run'] as const) {
    const lists = overrides?.[scope];
    checkLists(lists, `overrides.${scope}`);
    check(lists?.enable, `overrides.${scope}.enable`);
    check(lists?.disable, `overrides.${scope}.disable`);
    check(lists?.force, `overrides.${scope}.force`);
    for (const name of [...(lists?.enable ?? []), ...(lists?.force ?? [])]) extras.add(name);
    for (const name of lists?.disable ?? []) disabled.add(name);
  }
  const ordered = new Set(profile ?? byName.keys());
  for (const name of [...extras].sort(byCodeUnit)) ordered.add(name);
  const chosen = new Set(ordered);
  for (const name of byName.keys()) ordered.add(name);

  const names: string[] = [];
  const dropped: Dropped[] = [];
  for (const name of ordered) {
    const spec = byName.get(name) as ToolSpec;
    const code = dropCode(spec, { disabledByOverride: disabled.has(name), inProfile: chosen.has(name), facts });
    if (code === undefined) names.push(name);
    else dropped.push({ name, code });
  }
  const kept = budget === undefined ? names : withinBudget(names, byName, budget, dropped);
  const prerequisites = findPrerequisites(kept, dropped, byName);
  const hash = digest({ names: kept, dropped: dropped as unknown as JsonValue, prerequisites: prerequisites as unknown as JsonValue });
  return { names: kept, dropped, prerequisites, hash };
}

/** @throws MisuseError `duplicate_name`: which of two specs would count is nobody's guess. */
export function specsByName(tools: readonly ToolSpec[], action: string): ReadonlyMap<string, ToolSpec> {
  const byName = new Map<string, ToolSpec>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new MisuseError('duplicate_name', `${action}: expected one spec a tool, got two of \`${tool.name}\`. Give each name once.`);
    byName.set(tool.name, tool);
  }
  return byName;
}

/** A misspelt list would lift what it was to disable. */
function checkLists(lists: Overrides | undefined, where: string): void {
  for (const key of Object.keys(lists ?? {}))
    if (key !== 'enable' && key !== 'disable' && key !== 'force')
      throw new MisuseError('invalid_option', `computeEffective: expected \`${where}\` to have enable, disable and force, got \`${key}\`.`);
}

/** @throws MisuseError `unknown_tool` naming the nearest known names. */
export function checkNames(names: readonly string[] | undefined, known: { has(name: string): boolean; keys(): Iterable<string> }, where: string): void {
  for (const name of names ?? []) {
    if (known.has(name)) continue;
    const hint = didYouMean(nearestNames(name, known.keys()));
    throw new MisuseError('unknown_tool', `\`${where}\`: expected names of known tools, got \`${name}\`.${hint}`);
  }
}

function withinBudget(names: readonly string[], byName: ReadonlyMap<string, ToolSpec>, budget: EffectiveBudget, dropped: Dropped[]): string[] {
  const { maxTools = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY, required = [] } = budget;
  checkAmount('budget.maxTools', maxTools);
  checkAmount('budget.maxTokens', maxTokens);
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

/** A number that is none would let everything through, or nothing. */
function checkAmount(field: string, value: unknown): void {
  if (!(typeof value === 'number' && value >= 0))
    throw new MisuseError('invalid_option', `computeEffective: expected \`${field}\` to be a number from 0, got ${describe(value)}.`);
}

function tokenCost(spec: ToolSpec): number {
  if (spec.tokens !== undefined) {
    checkAmount(`tokens\` of \`${spec.name}`, spec.tokens);
    return spec.tokens;
  }
  const shown: Record<string, JsonValue> = { name: spec.name };
  if (spec.description !== undefined) shown.description = spec.description;
  if (spec.parameters !== undefined) shown.parameters = spec.parameters;
  return Math.ceil(JSON.stringify(shown).length / 4);
}

function findPrerequisites(names: readonly string[], dropped: readonly Dropped[], byName: ReadonlyMap<string, ToolSpec>): Prerequisite[] {
  const waiting = new Map<string, string[]>();
  for (const { name, code } of dropped) {
    if (!code.startsWith('fact_unmet:')) continue;
    const fact = code.slice('fact_unmet:'.length);
    const unlocked = waiting.get(fact);
    if (unlocked === undefined) waiting.set(fact, [name]);
    else unlocked.push(name);
  }
  const found: Prerequisite[] = [];
  if (waiting.size === 0) return found;
  for (const tool of names) {
    for (const fact of new Set(byName.get(tool)?.provides)) {
      const unlocks = waiting.get(fact);
      if (unlocks !== undefined) found.push({ tool, fact, unlocks });
    }
  }
  return found;
}

/** Orders strings by UTF-16 code unit: the same on every machine and locale. */
export function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** `sha256:` and hex over canonical JSON. */
export function digest(value: JsonValue): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}
