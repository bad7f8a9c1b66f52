/** The state of a walk over a schema, and the refusal of its present place. */
import { escapePointer, type JsonObject } from '../json/index.ts';
import { type Dialect, schemaError } from './json-schema-dialect.ts';
import type { SchemaLimits } from './json-schema-limits.ts';
import type { PatternBudget } from './pattern-budget.ts';

/** A reference that the walk has met. */
export interface Reference {
  readonly holder: JsonObject;
  readonly text: string;
  readonly pointer: string;
  /**
   * True for a `$dynamicRef`. Its target is known only at validation, so the step budget bounds it
   * instead of the search for loops.
   */
  readonly dynamic: boolean;
}

/** The state of one walk. */
export interface Walk {
  readonly dialect: Dialect;
  readonly limits: SchemaLimits;
  /** The pointer at which the walk started: `''`, or that of the reference that led there. */
  base: string;
  /** The keys from the start to the present place, not escaped. */
  readonly path: string[];
  depth: number;
  schemas: number;
  readonly references: Reference[];
  identified: boolean;
  hasDefaults: boolean;
  hasUnevaluated: boolean;
  hasDynamicReferences: boolean;
  readonly nativePatterns: string[];
  readonly patterns: PatternBudget;
  /**
   * The schemas that were walked. It becomes a set only for references, because most schemas have
   * none.
   */
  seen: JsonObject[] | Set<JsonObject>;
}

/** Refuses the schema, with the present place. @throws MisuseError `invalid_schema` */
export function refuse(walk: Walk, message: string, cause?: unknown): never {
  throw schemaError(pointerOf(walk), message, cause);
}

/** The pointer to the present place. */
export function pointerOf(walk: Walk): string {
  return walk.base + walk.path.map((key) => `/${escapePointer(key)}`).join('');
}
