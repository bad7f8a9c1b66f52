/** Keywords of objects. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import {
  type Check,
  type Context,
  charge,
  exhausted,
  fail,
  isDone,
  issueCount,
  pathSegment,
  typeOf,
  under,
} from './compile-context.ts';
import { matches, type Pattern } from './keywords-value.ts';

/** One named member, from `properties` and `required`. */
export interface Member {
  readonly name: string;
  readonly required: boolean;
  /** False when only `required` names the member. It then counts as additional. */
  readonly declared: boolean;
  /** Undefined accepts any value. */
  readonly check: Check | undefined;
  /** The type that the check requires, if it requires nothing else. */
  readonly plain: string | undefined;
}

export interface NamePattern extends Pattern {
  readonly check: Check;
}

export interface ObjectShape {
  readonly members: readonly Member[];
  readonly patterns: readonly NamePattern[];
  /** The check of `additionalProperties`. False accepts none, undefined accepts any. */
  readonly additional: Check | false | undefined;
  /** True when the schema's only type is object. A value of another type is then refused here. */
  readonly demanded: boolean;
}

/** Maximum names listed in a message. */
const listed = 20;

/** Codes of the types that the hot loop tests itself, without a function call. */
const plainCodes: ReadonlyMap<string | undefined, number> = new Map([
  ['string', 1],
  ['number', 2],
  ['boolean', 3],
]);

/**
 * All keywords of an object are checked in one pass. Longer than 60 lines, since the returned
 * closure is the hottest loop of validation and reads what is prepared here once.
 */
export function objectCheck(shape: ObjectShape): Check {
  const { members, patterns, additional, demanded } = shape;
  const size = members.length;
  const cost = 1 + (size >> 3);
  const names = members.map(({ name }) => name);
  const checks = members.map(({ check }) => check);
  const codes = members.map(({ check, plain }) =>
    check === undefined ? 0 : plainCodes.get(plain),
  );
  const required = members.map((member) => member.required);
  const declared = members.map((member) => (member.declared ? 1 : 0));
  // For a name that every object inherits, the loop must check that the member is an own one.
  const inherited = names.map((name) => name in Object.prototype);
  const rest = patterns.length > 0 || additional !== undefined ? restCheck(shape) : undefined;
  const closed = patterns.length === 0 && additional === false;
  const explain = explainMembers(members);

  return (value, context) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      if (!demanded) return true;
      return context.issues === undefined
        ? false
        : fail(context, `must be an object, got ${typeOf(value)}`);
    }
    context.steps -= cost;
    if (context.steps < 0) throw exhausted;
    const object = value as JsonObject;
    if (context.issues !== undefined) {
      const valid = explain(object, context);
      return (rest === undefined || isDone(context) || rest(object, context)) && valid;
    }
    const { polluted } = context;
    let present = 0;
    for (let index = 0; index < size; index++) {
      const item = object[names[index] as string];
      // JSON has no undefined, so an undefined member is absent.
      if (
        item === undefined ||
        ((polluted || inherited[index] === true) && !Object.hasOwn(object, names[index] as string))
      ) {
        if (required[index] === true) return false;
        continue;
      }
      present += declared[index] as number;
      switch (codes[index]) {
        case 0:
          break;
        case 1:
          if (typeof item !== 'string') return false;
          break;
        case 2:
          if (typeof item !== 'number') return false;
          break;
        case 3:
          if (typeof item !== 'boolean') return false;
          break;
        default:
          if (!(checks[index] as Check)(item, context)) return false;
      }
    }
    if (rest === undefined) return true;
    if (closed) {
      let count = 0;
      for (const _ in object) count++;
      charge(context, count >> 3);
      if (count === present) return true;
    }
    return rest(object, context);
  };
}

/** Finds the issues of the named members, on the second pass. */
function explainMembers(
  members: readonly Member[],
): (object: JsonObject, context: Context) => boolean {
  return (object, context) => {
    let valid = true;
    for (const { name, required, check } of members) {
      const from = issueCount(context);
      if (!Object.hasOwn(object, name)) {
        if (!required) continue;
        valid = fail(context, 'is required', pathSegment(name));
      } else if (check !== undefined && !check(object[name] as JsonValue, context)) {
        under(context, from, name);
        valid = false;
      }
      if (isDone(context)) return false;
    }
    return valid;
  };
}

/** Checks the members that are not named, by pattern or as additional ones. */
function restCheck({ members, patterns, additional }: ObjectShape): Check {
  const known = new Set(members.filter((member) => member.declared).map(({ name }) => name));
  const allowed = [...known].slice(0, listed).join(', ');
  const unknown =
    known.size === 0 || known.size > listed
      ? 'is not allowed here'
      : `is not allowed here; allowed: ${allowed}`;
  return (value, context) => {
    const object = value as JsonObject;
    let valid = true;
    for (const key in object) {
      if (!Object.hasOwn(object, key)) continue;
      context.steps -= 1;
      if (context.steps < 0) throw exhausted;
      const from = issueCount(context);
      let found = known.has(key);
      let good = true;
      for (let index = 0; index < patterns.length; index++) {
        const pattern = patterns[index] as NamePattern;
        if (!matches(pattern, key, context)) continue;
        found = true;
        if (!pattern.check(object[key] as JsonValue, context)) good = false;
      }
      if (!found && additional === false) good = fail(context, unknown);
      else if (
        !found &&
        additional !== undefined &&
        !(additional as Check)(object[key] as JsonValue, context)
      )
        good = false;
      if (good) continue;
      under(context, from, key);
      if (isDone(context)) return false;
      valid = false;
    }
    return valid;
  };
}

/** Checks `minProperties` and `maxProperties`. */
export function sizeCheck(least: number, most: number): Check {
  return (value, context) => {
    if (!isJsonObject(value)) return true;
    const count = Object.keys(value).length;
    charge(context, count >> 3);
    if (count < least) return fail(context, `must have at least ${least} properties`);
    return count <= most || fail(context, `must have at most ${most} properties`);
  };
}

/** Checks `propertyNames`. */
export function namesCheck(check: Check): Check {
  return (value, context) => {
    if (!isJsonObject(value)) return true;
    let valid = true;
    for (const key of Object.keys(value)) {
      charge(context, 1);
      const from = issueCount(context);
      if (check(key, context)) continue;
      under(context, from, key);
      if (isDone(context)) return false;
      valid = false;
    }
    return valid;
  };
}

/** Checks `dependentRequired`, and the name lists of `dependencies`. */
export function dependentNamesCheck(
  lists: readonly (readonly [name: string, needs: readonly string[]])[],
): Check {
  const messages = lists.map(([name]) => `is required where ${JSON.stringify(name)} is given`);
  return (value, context) => {
    if (!isJsonObject(value)) return true;
    charge(context, 1 + (lists.length >> 3));
    let valid = true;
    for (const [index, [name, needs]] of lists.entries()) {
      if (!Object.hasOwn(value, name)) continue;
      for (const need of needs)
        if (!Object.hasOwn(value, need))
          valid = fail(context, messages[index] as string, pathSegment(need));
    }
    return valid;
  };
}

/** Checks `dependentSchemas`, and the schemas of `dependencies`. */
export function dependentSchemasCheck(
  entries: readonly (readonly [name: string, check: Check])[],
): Check {
  return (value, context) => {
    if (!isJsonObject(value)) return true;
    charge(context, 1 + (entries.length >> 3));
    let valid = true;
    for (const [name, check] of entries) {
      if (!Object.hasOwn(value, name) || check(value, context)) continue;
      if (isDone(context)) return false;
      valid = false;
    }
    return valid;
  };
}
