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
  /** Whether `$dynamicRef` is refused. */
  readonly plainReferences: boolean;
}

const { POSITIVE_INFINITY } = Number;

/**
 * The limits of the host's own schema. They are generous and only keep the compiler within its
 * stack.
 */
export const trustedLimits: SchemaLimits = {
  depth: 400,
  schemas: 200_000,
  properties: POSITIVE_INFINITY,
  enum: POSITIVE_INFINITY,
  expansion: POSITIVE_INFINITY,
  patterns: POSITIVE_INFINITY,
  patternSize: POSITIVE_INFINITY,
  plainReferences: false,
};
