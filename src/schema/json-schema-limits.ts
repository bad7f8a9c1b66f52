/** How large a schema may be. */
import type { PatternLimits } from './pattern-budget.ts';

/** What a schema may hold at most. */
export interface SchemaLimits extends PatternLimits {
  /** Deepest nesting of sub-schemas. */
  readonly depth: number;
  /** Sub-schemas altogether. */
  readonly schemas: number;
  /** Members of one `properties`, `patternProperties`, `$defs`, … */
  readonly properties: number;
  /** Members of one `enum`. */
  readonly enum: number;
  /**
   * Schemas that apply to one value through `allOf`, `$ref` and the like, counted with repetition.
   */
  readonly expansion: number;
  /** `uniqueItems` needs a `maxItems` of at most this. */
  readonly uniqueItems: number;
  /** The list of a `type` names each type once. */
  readonly uniqueTypes: boolean;
  /** `$id`, `$dynamicRef` and `$dynamicAnchor` are refused, and a `$ref` must start with `#`. */
  readonly plainReferences: boolean;
}

/**
 * How deep sub-schemas may be nested, also by chains of references. A document has at most 1 000
 * levels. The stack is no such bound: how many frames fit depends on what the engine has optimised.
 */
export const maxSchemaDepth = 2_000;
