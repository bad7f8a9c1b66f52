/** How large a schema may be: the host's own, and one from outside. */
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
  /** Schemas that apply to one value through `allOf`, `$ref` and the like, counted with repetition. */
  readonly expansion: number;
  /** `uniqueItems` needs a `maxItems` of at most this. */
  readonly uniqueItems: number;
  /** The list of a `type` names each type once. */
  readonly uniqueTypes: boolean;
  /** `$id`, `$dynamicRef` and `$dynamicAnchor` are refused, and a `$ref` must start with `#`. */
  readonly plainReferences: boolean;
}

const { POSITIVE_INFINITY } = Number;
/** Of the host's own schema: generous, only what keeps the compiler within its stack. */
export const trustedLimits: SchemaLimits = {
  depth: 400,
  schemas: 200_000,
  properties: POSITIVE_INFINITY,
  enum: POSITIVE_INFINITY,
  expansion: POSITIVE_INFINITY,
  uniqueItems: POSITIVE_INFINITY,
  patterns: POSITIVE_INFINITY,
  patternSize: POSITIVE_INFINITY,
  uniqueTypes: false,
  plainReferences: false,
};

/** Of a schema from outside. */
export const untrustedLimits: SchemaLimits = {
  depth: 32,
  schemas: 5_000,
  properties: 500,
  enum: 1_000,
  expansion: 10_000,
  uniqueItems: 1_000,
  patterns: 200,
  patternSize: 20_000,
  uniqueTypes: true,
  plainReferences: true,
};
