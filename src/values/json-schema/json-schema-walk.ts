/** The state of a walk over a schema, and what happens to a place that is refused. */
import { escapePointer, type JsonObject } from '../json/index.ts';
import { type Dialect, SchemaError, schemaError } from '../schema/dialect.ts';
import type { OwnSchema, Wider } from './json-schema-removal.ts';
import type { PatternBudget, PatternLimits } from './pattern-budget.ts';

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

/** A part of a schema that was removed, because it cannot be checked here. */
export interface LeftPart {
  /** JSON pointer into the schema. */
  readonly path: string;
  /** Why it cannot be checked. */
  readonly message: string;
}

/** What a walk removes instead of refusing the schema. */
export interface Leaving extends Wider {
  readonly parts: LeftPart[];
  readonly loosened: Set<JsonObject>;
  readonly unsure: Set<JsonObject>;
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
  /** Undefined if a fault refuses the whole schema. */
  readonly leaving: Leaving | undefined;
}

/**
 * Refuses the present place: the whole schema, or only this part if the walk leaves parts out.
 * @throws MisuseError `invalid_schema`
 */
export function refuse(walk: Walk, message: string, cause?: unknown): never {
  throw schemaError(pointerOf(walk), message, cause);
}

/** Refuses a schema that is beyond a limit. @throws MisuseError `invalid_schema` */
export function refuseSchema(walk: Walk, message: string): never {
  throw new BeyondLimit(pointerOf(walk), message, undefined);
}

class BeyondLimit extends SchemaError {}

/**
 * Checks one part of a schema. If the walk leaves parts out, a part that is refused is noted and
 * removed.
 * @param holder the schema that the part belongs to
 */
export function attempt(
  walk: Walk,
  holder: JsonObject,
  check: () => void,
  remove: (holder: OwnSchema) => void,
): void {
  const { leaving, path } = walk;
  if (leaving === undefined) return check();
  const depth = path.length;
  try {
    check();
  } catch (error) {
    if (!(error instanceof SchemaError) || error instanceof BeyondLimit) throw error;
    leaving.parts.push({ path: error.pointer, message: error.fault });
    leaving.loosened.add(holder);
    path.length = depth;
    remove(holder as OwnSchema);
  }
}

/** The pointer to the present place. */
export function pointerOf(walk: Walk): string {
  return walk.base + walk.path.map((key) => `/${escapePointer(key)}`).join('');
}

// The limits on the size of a schema.

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
