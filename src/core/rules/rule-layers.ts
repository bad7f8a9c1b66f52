/** The rules of a registry and its scopes, in the order in which they were added. */

import type { Rule } from '../../api/rule.ts';
import type { CompiledRule } from './rule.ts';
import type { RuleParts } from './rule-check.ts';
import { keepUse, unusedCopies } from './rule-use.ts';
import { compileRules } from './rules.ts';

export interface RuleLayer {
  readonly rules: readonly CompiledRule[];
  /** A scope's rules only apply to tools of this source; undefined for rules of the registry. */
  readonly source: string | undefined;
}

export class RuleLayers {
  /** Set by {@link RuleLayers.setLayers}. */
  layers: readonly RuleLayer[];
  /** Whether one of the rules tests the principal. */
  testsPrincipal = false;
  /** Whether one of the rules denies calls. */
  denies = false;
  /** Numbers the rules without an id. A number is never reused. */
  #count: number;
  readonly parts: RuleParts;

  constructor(rules: readonly Rule[], parts: RuleParts) {
    this.parts = parts;
    this.layers = [{ rules: compileRules(rules, 'registry', parts), source: undefined }];
    this.#count = rules.length;
    this.#look();
  }

  /** The rules that apply to tools of this source. */
  of(source: string): readonly CompiledRule[] {
    const rules: CompiledRule[] = [];
    for (const layer of this.layers)
      if (layer.source === undefined || layer.source === source) rules.push(...layer.rules);
    return rules;
  }

  /** All rules. */
  all(): readonly CompiledRule[] {
    return this.layers.flatMap(({ rules }) => rules);
  }

  /**
   * Adds rules after the existing ones. The returned function removes them.
   * @param review Sees the new rules. If it throws, nothing is added.
   */
  add(
    rules: readonly Rule[],
    layer: string,
    source: string | undefined,
    review: (added: readonly CompiledRule[]) => void,
  ): () => void {
    const added: RuleLayer = {
      rules: compileRules(rules, layer, this.parts, source === undefined ? this.#count : 0),
      source,
    };
    keepUse(this.all(), added.rules);
    const before = this.layers;
    this.setLayers([...before, added]);
    try {
      review(added.rules);
    } catch (error) {
      this.setLayers(before);
      throw error;
    }
    if (source === undefined) this.#count += added.rules.length;
    return () => this.setLayers(this.layers.filter((one) => one !== added));
  }

  setLayers(layers: readonly RuleLayer[]): void {
    this.layers = layers;
    this.#look();
  }

  #look(): void {
    const rules = this.all();
    this.testsPrincipal = rules.some(({ hasPrincipal }) => hasPrincipal);
    this.denies = rules.some(({ effect }) => effect === 'deny');
  }
}

/**
 * Takes over the layers of another registry, as rules of which none has matched yet.
 * @param own Replaces the other registry's own rules. The rules of its scopes are taken over in any
 * case. @default its own rules
 */
export function takeOverRules(
  to: RuleLayers,
  { layers: all }: RuleLayers,
  own: readonly Rule[] | undefined,
): void {
  const kept = own === undefined ? all : all.filter(({ source }) => source);
  const layers = kept.map(({ rules, source }) => ({ rules: unusedCopies(rules), source }));
  if (own !== undefined)
    layers.unshift({ rules: compileRules(own, 'registry', to.parts), source: undefined });
  to.setLayers(layers);
}
