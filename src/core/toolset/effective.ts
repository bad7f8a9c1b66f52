/**
 * Which tools a model sees: a pure, deterministic function of tools, profile, overrides and facts.
 */

import type { Dropped, Prerequisite } from '../../api/session.ts';
import type { Overrides } from '../../api/session-options.ts';
import type { FactRule } from '../../api/tool.ts';
import { sha256 } from '../../values/crypto.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { canonicalJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { didYouMean, nearestNames } from '../../values/text/names.ts';
import { own, ownMembers, specsByName, type ToolSpec } from './tool-spec.ts';

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
 * Which tools a model sees, and why not the others. Every given tool is once in `names` or in
 * `dropped`.
 */
export interface EffectiveSet {
  /** In profile order, followed by added tools in the order of code units. */
  readonly names: readonly string[];
  /** First those that a gate hides, in the order of listing, then those over the budget. */
  readonly dropped: readonly Dropped[];
  /** Facts that dropped tools wait for and an effective tool provides. */
  readonly prerequisites: readonly Prerequisite[];
  /** `sha256:` and hex over names, dropped and prerequisites. Equal for equal sets. */
  readonly hash: string;
}

/** Why a tool that a session with discovery may show is not listed. It can be called. */
export const notDiscovered = 'not_discovered';

/** The first required fact that does not hold. */
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

/** What decides whether a tool is dropped, apart from budgets. */
export interface ToolState {
  readonly disabledByOverride: boolean;
  readonly inProfile: boolean;
  readonly facts: JsonObject;
}

/** Why a tool is dropped, or undefined. This function alone defines the order of the codes. */
export function dropCode(
  spec: Pick<ToolSpec, 'requires' | 'blocked'>,
  state: ToolState,
): string | undefined {
  const blocked = own(spec, 'blocked');
  if (state.disabledByOverride || blocked?.includes('disabled') === true) return 'disabled';
  if (blocked?.includes('denied') === true) return 'denied';
  if (!state.inProfile) return 'not_in_profile';
  const fact = unmetFact(own(spec, 'requires'), state.facts);
  if (fact !== undefined) return `fact_unmet:${fact}`;
  if (blocked?.includes('not_registered') === true) return 'not_registered';
  if (blocked?.includes('knobs_missing') === true) return 'knobs_missing';
  if (blocked?.includes('external') === true) return 'external';
  return undefined;
}

/**
 * The {@link EffectiveSet} of an input that was checked, or that the library made itself.
 * @param listed The names to which discovery narrows the set, in their order. @default all
 * @throws MisuseError `unknown_tool`, `duplicate_name`
 */
export function effectiveSet(input: EffectiveInput, listed?: readonly string[]): EffectiveSet {
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
  const shown = listed === undefined ? names : listedOf(names, listed, dropped);
  const kept = budget === undefined ? shown : withinBudget(shown, byName, budget, dropped);
  const prerequisites = findPrerequisites(kept, dropped, byName);
  const hash = digest({
    names: kept,
    dropped: dropped as unknown as JsonValue,
    prerequisites: prerequisites as unknown as JsonValue,
  });
  return { names: kept, dropped, prerequisites, hash };
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

/** @throws MisuseError `unknown_tool`, which names the most similar names */
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

/** Compares strings by UTF-16 code unit, which is independent of the locale. */
function byCodeUnit(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** `sha256:` and hex of the canonical JSON. */
export function digest(value: JsonValue | object): string {
  return `sha256:${sha256(canonicalJson(value))}`;
}
