/** The limits on the size of a schema. */
import type { PatternLimits } from './pattern-budget.ts';

/** The limits of one schema. */
export interface SchemaLimits extends PatternLimits {
  /** Maximum nesting of sub-schemas. */
  readonly depth: number;
  /** Maximum number of sub-schemas. */
  readonly schemas: number;
  /** Maximum members of one `properties`, `patternProperties`, `$defs`, … */
  readonly properties: number;
  /** Maximum values of one `enum`. */
  readonly enum: number;
  /**
   * Maximum number of schemas that apply to one value through `allOf`, `$ref` and the like, counted
   * with repetition.
   */
  readonly expansion: number;
  /** `uniqueItems` needs a `maxItems` of at most this. */
  readonly uniqueItems: number;
  /** Whether the list of a `type` must name each type only once. */
  readonly uniqueTypes: boolean;
  /**
   * Whether `$id`, `$dynamicRef` and `$dynamicAnchor` are refused, and a `$ref` must start with
   * `#`.
   */
  readonly plainReferences: boolean;
}

/**
 * Maximum nesting of sub-schemas, chains of references included. A document has at most 1 000
 * levels. The call stack is not a reliable bound, because the number of frames that fit depends on
 * what the engine has optimised.
 */
export const maxSchemaDepth = 2_000;
