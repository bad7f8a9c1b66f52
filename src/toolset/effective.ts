/**
 * Which tools a model is shown: a pure, deterministic function of tools, profile, overrides and
 * facts.
 */
import { createHash } from 'node:crypto';
import { MisuseError } from '../errors.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../json.ts';
import { didYouMean, nearestNames } from '../text/names.ts';
import type { FactRule } from '../tool/tool-config.ts';
import { own, ownMembers } from './own.ts';

/** What planning may know of a tool. */
export interface ToolSpec {
  /** The tool's id. One spec a name. */
  readonly name: string;
  /** What a model is told of it. */
  readonly description?: string | undefined;
  /** Its JSON Schema. */
  readonly parameters?: JsonObject | undefined;
  /**
   * Every one of these facts must hold, else the tool is dropped as `fact_unmet:<fact>`. @default
   * none
   */
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

/**
 * Lists of names that change the profile's choice for a session or a run. `force` equals `enable`;
 * neither beats `disable`, and nothing beats a gate.
 */
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
  readonly overrides?:
    | { readonly session?: Overrides | undefined; readonly run?: Overrides | undefined }
    | undefined;
  /** Flat, with dotted keys. */
  readonly facts?: JsonObject | undefined;
  /** Absent: everything that passes the gates is shown. */
  readonly budget?: EffectiveBudget | undefined;
}

/** A tool that is not effective, and why. */
export interface Dropped {
  /** The tool's name. */
  readonly name: string;
  /**
   * The first that applies: `disabled`, `denied`, `not_in_profile`, `fact_unmet:<fact>`,
   * `not_registered`, `knobs_missing`, `tool_budget`, `token_budget`.
   */
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
/**
 * Which tools a model is shown, and why not the others. Every tool given is in `names` or in
 * `dropped`, once.
 */
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
export function unmetFact(
  requires: readonly FactRule[] | undefined,
  facts: JsonObject,
): string | undefined {
  if (requires === undefined) return undefined;
  for (const rule of requires) {
    const value = own(facts, rule.fact);
    const { in: among, equals } = ownMembers<{
      readonly in?: readonly unknown[];
      readonly equals?: unknown;
    }>(rule);
    const holds =
      among === undefined ? equals !== undefined && equals === value : among.includes(value);
    if (!holds) return rule.fact;
  }
  return undefined;
}

/** What decides whether one tool is dropped, budgets aside. */
export interface ToolState {
  readonly disabledByOverride: boolean;
  readonly inProfile: boolean;
  readonly facts: JsonObject;
}

/**
 * Why a tool is not effective, or undefined when it is. The one place that knows the order of the
 * codes.
 */
export function dropCode(
  spec: Pick<ToolSpec, 'requires' | 'blocked'>,
  standing: ToolState,
): string | undefined {
  const blocked = own(spec, 'blocked');
  if (standing.disabledByOverride || blocked?.includes('disabled') === true) return 'disabled';
  if (blocked?.includes('denied') === true) return 'denied';
  if (!standing.inProfile) return 'not_in_profile';
  const fact = unmetFact(own(spec, 'requires'), standing.facts);
  if (fact !== undefined) return `fact_unmet:${fact}`;
  if (blocked?.includes('not_registered') === true) return 'not_registered';
  if (blocked?.includes('knobs_missing') === true) return 'knobs_missing';
  return undefined;
}

/**
 * {@link EffectiveSet} of an input that was checked, or that the library made itself. @throws
 * MisuseError `unknown_tool`, `duplicate_name`
 */
export function effectiveSet(input: EffectiveInput): EffectiveSet {
  const { tools, profile, overrides, facts = {}, budget } = ownMembers(input);
  const byName = specsByName(tools, 'computeEffective');
  const check = (names: readonly string[] | undefined, where: string): void =>
    checkNames(names, byName, where);
  check(profile, 'profile');
  const required = budget === undefined ? undefined : own(budget, 'required');
  check(required, 'budget.required');
  const extras = new Set<string>();
  const disabled = new Set<string>();
  for (const scope of ['session', 'run'] as const) {
    const lists = overrides === undefined ? undefined : own(overrides, scope);
    if (lists === undefined) continue;
    for (const list of ['enable', 'disable', 'force'] as const) {
      const names = own(lists, list);
      check(names, `overrides.${scope}.${list}`);
      for (const name of names ?? []) (list === 'disable' ? disabled : extras).add(name);
    }
  }
  const ordered = new Set(profile ?? byName.keys());
  for (const name of [...extras].sort(byCodeUnit)) ordered.add(name);
  const chosen = new Set(ordered);
  for (const name of byName.keys()) ordered.add(name);

  const names: string[] = [];
  const dropped: Dropped[] = [];
  for (const name of ordered) {
    const spec = byName.get(name) as ToolSpec;
    const code = dropCode(spec, {
      disabledByOverride: disabled.has(name),
      inProfile: chosen.has(name),
      facts,
    });
    if (code === undefined) names.push(name);
    else dropped.push({ name, code });
  }
  const kept = budget === undefined ? names : withinBudget(names, byName, budget, dropped);
  const prerequisites = findPrerequisites(kept, dropped, byName);
  const hash = digest({
    names: kept,
    dropped: dropped as unknown as JsonValue,
    prerequisites: prerequisites as unknown as JsonValue,
  });
  return { names: kept, dropped, prerequisites, hash };
}

/** @throws MisuseError `duplicate_name`: which of two specs would count is nobody's guess. */
export function specsByName(
  tools: readonly ToolSpec[],
  action: string,
): ReadonlyMap<string, ToolSpec> {
  const byName = new Map<string, ToolSpec>();
  for (const tool of tools) {
    if (byName.has(tool.name))
      throw new MisuseError(
        'duplicate_name',
        `${action}: expected one spec a tool, got two of \`${tool.name}\`. Give each name once.`,
      );
    byName.set(tool.name, tool);
  }
  return byName;
}

/** @throws MisuseError `unknown_tool` naming the nearest known names. */
export function checkNames(
  names: readonly string[] | undefined,
  known: { has(name: string): boolean; keys(): Iterable<string> },
  where: string,
): void {
  for (const name of names ?? []) {
    if (known.has(name)) continue;
    const hint = didYouMean(nearestNames(name, known.keys()));
    throw new MisuseError(
      'unknown_tool',
      `\`${where}\`: expected names of known tools, got \`${name}\`.${hint}`,
    );
  }
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

function findPrerequisites(
  names: readonly string[],
  dropped: readonly Dropped[],
  byName: ReadonlyMap<string, ToolSpec>,
): Prerequisite[] {
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
    for (const fact of new Set(own(byName.get(tool) as ToolSpec, 'provides'))) {
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
