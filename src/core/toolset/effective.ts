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
import { own, ownMembers, type ToolSpec } from './tool-spec.ts';

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
  if (blocked?.includes('not_delegated') === true) return 'not_delegated';
  if (state.disabledByOverride || blocked?.includes('disabled') === true) return 'disabled';
  if (blocked?.includes('denied') === true) return 'denied';
  if (!state.inProfile || blocked?.includes('not_in_profile') === true) return 'not_in_profile';
  const fact = unmetFact(own(spec, 'requires'), state.facts);
  if (fact !== undefined) return `fact_unmet:${fact}`;
  if (blocked?.includes('not_registered') === true) return 'not_registered';
  if (blocked?.includes('knobs_missing') === true) return 'knobs_missing';
  if (blocked?.includes('external') === true) return 'external';
  if (blocked?.includes('app_only') === true) return 'app_only';
  return undefined;
}

/**
 * The {@link EffectiveSet} of specs that were checked, or that the library made itself. Names
 * without a spec, in the profile and the changes, are left out.
 * @param profile Names in order. @default all
 * @param changes Those of all scopes, which count equally.
 * @param narrow Drops more of the effective names. @default none
 */
export function effectiveSet(
  specs: ReadonlyMap<string, ToolSpec>,
  profile: readonly string[] | undefined,
  changes: readonly Overrides[],
  facts: JsonObject,
  narrow?: (names: readonly string[], dropped: Dropped[]) => readonly string[],
): EffectiveSet {
  const extras: string[] = [];
  const disabled = new Set<string>();
  for (const change of changes) {
    const { enable = [], disable = [], force = [] } = ownMembers(change);
    extras.push(...enable, ...force);
    for (const name of disable) disabled.add(name);
  }
  // Sorted by UTF-16 code unit, which is independent of the locale.
  const chosen = new Set([...(profile ?? specs.keys()), ...extras.sort()]);
  const effective: string[] = [];
  const dropped: Dropped[] = [];
  for (const name of new Set([...chosen, ...specs.keys()])) {
    const spec = specs.get(name);
    if (spec === undefined) continue;
    const code = dropCode(spec, {
      disabledByOverride: disabled.has(name),
      inProfile: chosen.has(name),
      facts,
    });
    if (code === undefined) effective.push(name);
    else dropped.push({ name, code });
  }
  const names = narrow?.(effective, dropped) ?? effective;
  const prerequisites = findPrerequisites(names, dropped, specs);
  return { names, dropped, prerequisites, hash: digest({ names, dropped, prerequisites }) };
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

/** `sha256:` and hex of the canonical JSON. */
export function digest(value: JsonValue | object): string {
  return `sha256:${sha256(canonicalJson(value))}`;
}
