/** Which rules of a registry have had an effect. */
import type { KnownProfile } from './lineage.ts';
import type { CompiledRule } from './rule.ts';
import type { RuleLayer } from './rule-layers.ts';

/** A rule that has not matched yet. */
export interface UnusedRule {
  /** The rule's id, given or made from its layer and index. */
  readonly id: string;
  /** Where the rule was written: `registry`, `scope:<source>` or `profile:<id>`. */
  readonly layer: string;
}

/**
 * Marks rules as used if they replace used rules of the same layer and id. So a file that is loaded
 * again, or a profile that is defined again, keeps what is known about use.
 */
export function keepUse(
  before: readonly CompiledRule[] | undefined,
  after: readonly CompiledRule[],
): void {
  if (before === undefined || before.length === 0 || after.length === 0) return;
  const used = new Map<string, Set<string>>();
  for (const { id, layer, use } of before) {
    if (!use.matched) continue;
    const ids = used.get(layer);
    if (ids === undefined) used.set(layer, new Set([id]));
    else ids.add(id);
  }
  for (const { id, layer, use } of after) if (used.get(layer)?.has(id) === true) use.matched = true;
}

/** The same rules for another registry, marked as not matched yet. */
export function unusedCopies(rules: readonly CompiledRule[]): readonly CompiledRule[] {
  return Object.freeze(rules.map((rule) => Object.freeze({ ...rule, use: { matched: false } })));
}

/** A registry's rules and those of its scopes, and its profiles. */
interface Layers {
  allRules(): readonly CompiledRule[];
  readonly profiles: ReadonlyMap<string, KnownProfile>;
}

/** The rules of the registry, its scopes and its profiles. */
export function everyRule(registry: Layers): readonly CompiledRule[] {
  // A rule that a profile inherits from a parent is the same object in both.
  const rules = new Set(registry.allRules());
  for (const { resolved } of registry.profiles.values())
    for (const rule of resolved.rules) rules.add(rule);
  return [...rules];
}

/** The rules of the registry, its scopes and its profiles that have not matched yet. */
export function unusedRules(registry: Layers): readonly UnusedRule[] {
  return everyRule(registry)
    .filter(({ use }) => !use.matched)
    .map(({ id, layer }) => Object.freeze({ id, layer }));
}

/** The source of the only tools that a rule is about; undefined for a rule of no scope. */
export function scopeOf(
  { layers }: { readonly layers: readonly RuleLayer[] },
  rule: CompiledRule,
): string | undefined {
  return layers.find(({ rules }) => rules.includes(rule))?.source;
}
