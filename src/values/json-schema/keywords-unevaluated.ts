/**
 * Tracks which members of a valid value its schema has evaluated, for `unevaluatedProperties` and
 * `unevaluatedItems`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  type Check,
  type Context,
  charge,
  fail,
  holds,
  isDone,
  issueCount,
  under,
} from './compile-context.ts';
import type { NamePattern } from './keywords-object.ts';
import { matches } from './keywords-value.ts';

/** The members of one value that schemas have evaluated. */
export interface Evaluated {
  allNames: boolean;
  readonly names: Set<string>;
  /** All items before this index are evaluated. */
  items: number;
  readonly indexes: Set<number>;
}

/** Adds the members that a schema evaluates in a value that it accepts. */
export type Mark = (value: JsonValue, context: Context, evaluated: Evaluated) => void;

function nothingEvaluated(): Evaluated {
  return { allNames: false, names: new Set(), items: 0, indexes: new Set() };
}

/** The mark of `properties`, `patternProperties` and `additionalProperties`. */
export function markNames(
  names: readonly string[],
  patterns: readonly NamePattern[],
  hasAdditional: boolean,
): Mark {
  return (value, context, evaluated) => {
    if (!isJsonObject(value)) return;
    if (hasAdditional) evaluated.allNames = true;
    charge(context, 1 + (names.length >> 3));
    for (const name of names) if (Object.hasOwn(value, name)) evaluated.names.add(name);
    if (patterns.length === 0) return;
    for (const key of Object.keys(value)) {
      charge(context, 1);
      for (const pattern of patterns) if (matches(pattern, key, context)) evaluated.names.add(key);
    }
  };
}

/**
 * The mark of `prefixItems` and `items`.
 * @param count the number of items that they evaluate; Infinity for all
 */
export function markItems(count: number): Mark {
  return (_value, _context, evaluated) => {
    evaluated.items = Math.max(evaluated.items, count);
  };
}

/** The mark of `contains`. */
export function markContained(check: Check): Mark {
  return (value, context, evaluated) => {
    if (!Array.isArray(value)) return;
    charge(context, 1 + (value.length >> 1));
    for (let index = 0; index < value.length; index++)
      if (holds(check, value[index] as JsonValue, context)) evaluated.indexes.add(index);
  };
}

/** The mark of a branch that counts only if its check holds. */
export function markWhere(check: Check, mark: Mark): Mark {
  return (value, context, evaluated) => {
    charge(context, 1);
    if (holds(check, value, context)) mark(value, context, evaluated);
  };
}

/**
 * Checks `unevaluatedProperties` and `unevaluatedItems`, after all other keywords of their schema.
 */
export function unevaluatedCheck(
  marks: readonly Mark[],
  names: Check | undefined,
  items: Check | undefined,
): Check {
  return (value, context) => {
    if (typeof value !== 'object' || value === null) return true;
    const isArray = Array.isArray(value);
    const check = isArray ? items : names;
    if (check === undefined) return true;
    const evaluated = nothingEvaluated();
    for (const mark of marks) mark(value, context, evaluated);
    charge(context, (isArray ? value.length : Object.keys(value).length) >> 3);
    let valid = true;
    const test = (key: string | number, item: JsonValue): boolean => {
      charge(context, 1);
      const from = issueCount(context);
      if (check(item, context)) return true;
      under(context, from, key);
      valid = false;
      return !isDone(context);
    };
    if (isArray) {
      const list = value as readonly JsonValue[];
      for (let index = evaluated.items; index < list.length; index++)
        if (!evaluated.indexes.has(index) && !test(index, list[index] as JsonValue)) break;
    } else if (!evaluated.allNames) {
      const object = value as JsonObject;
      for (const key of Object.keys(object))
        if (!evaluated.names.has(key) && !test(key, object[key] as JsonValue)) break;
    }
    return valid;
  };
}

/** The check of the schema `false`. */
export const refuseAll: Check = (_value, context) => fail(context, 'is not allowed here');
