/** Keywords that check a value by itself: type, enum, const, numbers, strings. */
import { canonicalJson, type JsonValue } from '../json/index.ts';
import type { Matcher } from '../text/regex.ts';
import { type Check, type Context, charge, fail, show, typeOf } from './compile-context.ts';

const article: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function failType(context: Context, expected: string, value: JsonValue): false {
  if (context.issues === undefined) return false;
  return fail(context, `must be ${expected}, got ${article[typeOf(value)]}`);
}

/** Checks `type`. */
export function typeCheck(type: string | readonly string[]): Check {
  const names = typeof type === 'string' ? [type] : [...new Set(type)];
  if (names.length === 1) return singleTypeCheck(names[0] as string);
  const expected = names.map((name) => article[name]).join(' or ');
  const tests = names.map((name) => singleTypeCheck(name));
  return (value, context) => {
    const { issues } = context;
    context.issues = undefined;
    let found = false;
    for (let index = 0; index < tests.length && !found; index++)
      found = (tests[index] as Check)(value, context);
    context.issues = issues;
    return found || failType(context, expected, value);
  };
}

function singleTypeCheck(name: string): Check {
  switch (name) {
    case 'string':
      return (value, context) => typeof value === 'string' || failType(context, 'a string', value);
    case 'number':
      return (value, context) => typeof value === 'number' || failType(context, 'a number', value);
    case 'integer':
      return (value, context) =>
        Number.isInteger(value) ||
        (typeof value === 'number'
          ? fail(context, 'must be an integer')
          : failType(context, 'an integer', value));
    case 'boolean':
      return (value, context) =>
        typeof value === 'boolean' || failType(context, 'a boolean', value);
    case 'null':
      return (value, context) => value === null || failType(context, 'null', value);
    case 'array':
      return (value, context) => Array.isArray(value) || failType(context, 'an array', value);
    default:
      return (value, context) =>
        (typeof value === 'object' && value !== null && !Array.isArray(value)) ||
        failType(context, 'an object', value);
  }
}

/**
 * Checks `enum`, and `const` as an enum with one value. Values are compared deeply, and the order
 * of an object's members does not matter.
 */
export function enumCheck(values: readonly JsonValue[]): Check {
  const message = enumMessage(values);
  if (values.every((value) => typeof value !== 'object' || value === null)) {
    if (values.length === 1) {
      const [only] = values;
      return (value, context) => value === only || fail(context, message);
    }
    if (values.length <= 4)
      return (value, context) =>
        (values as readonly unknown[]).includes(value) || fail(context, message);
  }
  const primitives = new Set<JsonValue>();
  const texts = new Set<string>();
  for (const value of values) {
    if (typeof value === 'object' && value !== null) texts.add(canonicalJson(value));
    else primitives.add(value);
  }
  return (value, context) => {
    if (typeof value !== 'object' || value === null)
      return primitives.has(value) || fail(context, message);
    if (texts.size === 0) return fail(context, message);
    return texts.has(chargedText(value, context)) || fail(context, message);
  };
}

function enumMessage(values: readonly JsonValue[]): string {
  if (values.length === 1) return `must be ${show(values[0] as JsonValue)}`;
  if (values.length === 0) return 'no value is allowed here';
  const shown = values.slice(0, 20).map(show).join(', ');
  return `must be one of ${shown}${values.length > 20 ? `, ... (${values.length} values)` : ''}`;
}

/** The canonical text of a value. Takes the steps for writing it from the budget. */
export function chargedText(value: JsonValue, context: Context): string {
  const text = canonicalJson(value);
  charge(context, text.length >> 4);
  return text;
}

type NumberTest = (value: number, context: Context) => boolean;

/**
 * Checks `minimum`, `maximum`, their exclusive forms and `multipleOf`. Undefined when there are
 * none.
 */
export function numberCheck(get: (name: string) => JsonValue | undefined): Check | undefined {
  const tests: NumberTest[] = [];
  const messages: string[] = [];
  const add = (name: string, message: string, test: (limit: number) => NumberTest): void => {
    const limit = get(name);
    if (typeof limit !== 'number') return;
    tests.push(test(limit));
    messages.push(`must be ${message} ${limit}`);
  };
  add('minimum', 'at least', (limit) => (value) => value >= limit);
  add('maximum', 'at most', (limit) => (value) => value <= limit);
  add('exclusiveMinimum', 'above', (limit) => (value) => value > limit);
  add('exclusiveMaximum', 'below', (limit) => (value) => value < limit);
  add(
    'multipleOf',
    'a multiple of',
    (limit) => (value, context) => isMultiple(value, limit, context),
  );
  if (tests.length === 0) return undefined;
  const [first] = tests as [NumberTest];
  if (tests.length === 1)
    return (value, context) =>
      typeof value !== 'number' || first(value, context) || fail(context, messages[0] as string);
  return (value, context) => {
    if (typeof value !== 'number') return true;
    let valid = true;
    for (let index = 0; index < tests.length; index++)
      if (!(tests[index] as NumberTest)(value, context))
        valid = fail(context, messages[index] as string);
    return valid;
  };
}

/** Computes with decimal digits, as people write numbers, so that 0.3 is a multiple of 0.1. */
function isMultiple(value: number, divisor: number, context: Context): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  charge(context, 8);
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const least = Math.min(exponent, divisorExponent);
  return (
    (digits * 10n ** BigInt(exponent - least)) %
      (divisorDigits * 10n ** BigInt(divisorExponent - least)) ===
    0n
  );
}

function decimal(value: number): readonly [digits: bigint, exponent: number] {
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

/**
 * Checks `minLength`, `maxLength` (in code points) and `pattern`. Undefined when there are none.
 */
export function stringCheck(
  minLength: number,
  maxLength: number,
  pattern: Pattern | undefined,
): Check | undefined {
  if (minLength === 0 && maxLength === Number.POSITIVE_INFINITY && pattern === undefined)
    return undefined;
  const short =
    minLength === 1 ? 'must not be empty' : `must have at least ${minLength} characters`;
  const long = `must have at most ${maxLength} characters`;
  const mismatch = pattern === undefined ? '' : `must match the pattern ${show(pattern.source)}`;
  return (value, context) => {
    if (typeof value !== 'string') return true;
    let valid = true;
    const { length } = value;
    if (length < minLength * 2 || length > maxLength) {
      // A code point has one or two units, so code points are counted only if the number of units
      // leaves it open.
      const points =
        length < minLength || length > maxLength * 2 ? length : codePoints(value, context);
      if (points < minLength) valid = fail(context, short);
      else if (points > maxLength) valid = fail(context, long);
    }
    if (
      pattern !== undefined &&
      (valid || context.issues !== undefined) &&
      !matches(pattern, value, context)
    )
      valid = fail(context, mismatch);
    return valid;
  };
}

function codePoints(text: string, context: Context): number {
  charge(context, text.length >> 4);
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if (
      (text.charCodeAt(index) & 0xfc00) === 0xd800 &&
      (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
    )
      count--;
  }
  return count;
}

/** A pattern of a schema. */
export interface Pattern {
  readonly source: string;
  readonly matcher: Matcher;
  /**
   * Instructions that each character costs. 0 for a pattern that only the native engine can run,
   * because that cost is unknown.
   */
  readonly weight: number;
}

/** Runs a pattern, and takes its steps from the budget. */
export function matches({ matcher, weight }: Pattern, text: string, context: Context): boolean {
  if (weight !== 0) charge(context, 8 + ((weight * (text.length + 8)) >> 4));
  return matcher.test(text);
}
