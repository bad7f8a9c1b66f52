/** Keywords of arrays. */
import type { JsonValue } from '../json/index.ts';
import {
  type Check,
  charge,
  exhausted,
  fail,
  holds,
  isDone,
  issueCount,
  typeOf,
  under,
} from './compile-context.ts';
import { chargedText } from './keywords-value.ts';

export interface ArrayShape {
  /** The checks of the first items, one for each. Undefined accepts any item. */
  readonly prefix: readonly (Check | undefined)[];
  /** The check of the items after those. Undefined accepts any item. */
  readonly rest: Check | undefined;
  readonly minItems: number;
  readonly maxItems: number;
  /** True when the schema's only type is array. A value of another type is then refused here. */
  readonly demanded: boolean;
}

/** Checks `items`, `prefixItems`, `minItems`, `maxItems` and `type: array` in one pass. */
export function arrayCheck({ prefix, rest, minItems, maxItems, demanded }: ArrayShape): Check {
  const first = prefix.length;
  return (value, context) => {
    if (!Array.isArray(value)) {
      if (!demanded) return true;
      return context.issues === undefined
        ? false
        : fail(context, `must be an array, got ${typeOf(value)}`);
    }
    const items = value as readonly JsonValue[];
    const { length } = items;
    let valid = true;
    if (length < minItems) valid = fail(context, `must have at least ${minItems} items`);
    else if (length > maxItems) valid = fail(context, `must have at most ${maxItems} items`);
    // The items of an array of the wrong length are not checked, because it may be huge.
    if (!valid) return false;
    const end = rest === undefined ? Math.min(first, length) : length;
    context.steps -= 1 + (end >> 1);
    if (context.steps < 0) throw exhausted;
    for (let index = 0; index < end; index++) {
      const check = index < first ? prefix[index] : rest;
      if (check === undefined) continue;
      const from = issueCount(context);
      if (check(items[index] as JsonValue, context)) continue;
      under(context, from, index);
      if (isDone(context)) return false;
      valid = false;
    }
    return valid;
  };
}

/**
 * Checks `uniqueItems: true`, by value, in time that is linear in the length of the items' text.
 */
export const uniqueCheck: Check = (value, context) => {
  if (!Array.isArray(value) || value.length < 2) return true;
  charge(context, value.length >> 2);
  const primitives = new Set<JsonValue>();
  const texts = new Set<string>();
  for (const item of value as readonly JsonValue[]) {
    const plain = typeof item !== 'object' || item === null;
    const seen: Set<JsonValue> = plain ? primitives : texts;
    const before = seen.size;
    seen.add(plain ? item : chargedText(item, context));
    if (seen.size === before) return fail(context, 'must not hold the same item twice');
  }
  return true;
};

/** Checks `contains` with `minContains` and `maxContains`. */
export function containsCheck(check: Check, least: number, most: number): Check {
  const few =
    least === 1
      ? 'must hold at least one item that matches `contains`'
      : `must hold at least ${least} items that match \`contains\``;
  const many = `must hold at most ${most} items that match \`contains\``;
  return (value, context) => {
    if (!Array.isArray(value)) return true;
    charge(context, 1 + (value.length >> 1));
    let count = 0;
    for (const item of value as readonly JsonValue[]) {
      if (!holds(check, item, context)) continue;
      count++;
      if (count > most) return fail(context, many);
      if (count >= least && most === Number.POSITIVE_INFINITY) return true;
    }
    return count >= least || fail(context, few);
  };
}
