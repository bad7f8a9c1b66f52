/** The state of one conversion to a strict mode, which its parts share. */

import type { JsonObject, JsonValue } from '../../../core.ts';
import { nullReader } from '../../../values/schema/schema-places.ts';
import type { SchemaLoss } from '../listing.ts';
import { budgetOf } from '../merged-parts.ts';
import type { StrictRules } from './rules.ts';

/**
 * The most places, keywords and values that are looked at for one schema. They count again wherever
 * a reference in `allOf` repeats them.
 */
export const maxWork = 50_000;

/** One conversion. Its parts call back through `convert`, so that they do not import each other. */
export interface StrictConversion {
  readonly rules: StrictRules;
  /** The schema as it was given: references start at it. */
  readonly document: JsonObject;
  /** What the strict schema says less of than the tool's own. */
  readonly losses: SchemaLoss[];
  /** What the mode cannot express. One refusal makes the tool non-strict. */
  readonly refusals: SchemaLoss[];
  /** The name of each schema that is referred to, however the reference is written. */
  readonly names: Map<JsonObject, string>;
  readonly definitions: Map<string, JsonObject>;
  /** Schemas that are being converted: a reference to one of them is recursion. */
  readonly open: Set<JsonObject>;
  /** Whether null is a value of a schema. */
  readonly takesNull: (schema: JsonValue) => boolean;
  /** Takes steps from the budget of work; false when it is used up. */
  readonly spend: (steps?: number) => boolean;
  /** Converts the schema at a place. */
  readonly convert: (schema: JsonValue | undefined, path: string) => JsonObject;
  /** Null means "left out" for some property. */
  nullable: boolean;
  /** Places around the current one. */
  depth: number;
}

/** A conversion that has not begun. */
export function openConversion(
  document: JsonObject,
  rules: StrictRules,
  convert: (
    conversion: StrictConversion,
    schema: JsonValue | undefined,
    path: string,
  ) => JsonObject,
): StrictConversion {
  const conversion: StrictConversion = {
    rules,
    document,
    losses: [],
    refusals: [],
    names: new Map(),
    definitions: new Map(),
    open: new Set([document]),
    takesNull: nullReader(document),
    spend: budgetOf(maxWork),
    convert: (schema, path) => convert(conversion, schema, path),
    nullable: false,
    depth: 0,
  };
  return conversion;
}

/** Notes that the schema says less than the tool's own at a place. */
export function lose({ losses }: StrictConversion, path: string, message: string): void {
  losses.push({ path, message });
}

/** Notes that the mode cannot express what a place accepts. The result is never shown. */
export function refuse({ refusals }: StrictConversion, path: string, message: string): JsonObject {
  refusals.push({ path, message });
  return {};
}
