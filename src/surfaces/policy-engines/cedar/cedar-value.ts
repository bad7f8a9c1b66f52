/**
 * JSON as Cedar values. A value that Cedar cannot express is refused, and never left out or
 * rounded.
 */
import type { JsonObject, JsonValue } from '../../../values/json/index.ts';
import { placeOf } from '../policy-document.ts';

/** Paths whose numbers are always decimals: segments, where `*` is any item of a list. */
export type DecimalPaths = readonly (readonly string[])[];

/** Why a value is not a Cedar value. */
export class ValueFault extends Error {
  readonly path: (string | number)[] = [];
  /** What is wrong, and where. */
  get told(): string {
    return `${this.message} (at ${placeOf(this.path)})`;
  }
}

/**
 * Names with a meaning in Cedar's JSON. An object with one of them becomes an entity or a function.
 */
const escapes: readonly string[] = ['__entity', '__extn', '__expr'];

/**
 * Converts a record. The document has bounded its texts and its depth before.
 * @throws ValueFault
 */
export function toCedarRecord(record: JsonObject, decimals: DecimalPaths): JsonObject {
  return toRecord(record, decimals);
}

function toCedar(value: JsonValue, decimals: DecimalPaths): JsonValue {
  if (typeof value === 'number') return toNumber(value, isDecimal(decimals));
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? toSet(value, decimals) : toRecord(value as JsonObject, decimals);
}

function toRecord(record: JsonObject, decimals: DecimalPaths): JsonObject {
  // Without a prototype, `__proto__` is a member like any other.
  const copy = Object.create(null) as Record<string, JsonValue>;
  for (const key of Object.keys(record)) {
    const value = record[key] as JsonValue;
    if (value === null) continue;
    try {
      if (escapes.includes(key))
        throw new ValueFault(`a member named \`${key}\`, which has a meaning in Cedar's JSON`);
      copy[key] = toCedar(value, below(decimals, key));
    } catch (error) {
      throw placed(error, key);
    }
  }
  return copy;
}

function toSet(list: readonly JsonValue[], decimals: DecimalPaths): readonly JsonValue[] {
  const inside = below(decimals, '*');
  const set: JsonValue[] = [];
  for (let index = 0; index < list.length; index++) {
    const item = list[index] as JsonValue;
    if (item === null) continue;
    try {
      set.push(toCedar(item, inside));
    } catch (error) {
      throw placed(error, index);
    }
  }
  return set;
}

/**
 * Integers are longs, and other numbers are decimals. Beyond 2^53, JSON shows other digits than the
 * number has, so Cedar would compare a different number from the one that the tool gets.
 */
function toNumber(value: number, decimal: boolean): JsonValue {
  if (Number.isInteger(value)) {
    if (!Number.isSafeInteger(value))
      throw new ValueFault('an integer beyond 2^53 - 1, which is not exact');
    return decimal ? toDecimal(`${value}.0`) : value;
  }
  const text = String(value);
  if (!/^-?\d+\.\d{1,4}$/.test(text))
    throw new ValueFault('a number with more than the 4 decimal places of a Cedar decimal');
  return toDecimal(text);
}

function toDecimal(text: string): JsonObject {
  return { __extn: { fn: 'decimal', arg: text } };
}

function isDecimal(decimals: DecimalPaths): boolean {
  return decimals.some((segments) => segments.length === 0);
}

const none: DecimalPaths = [];

/** The paths that continue below a member or an item. */
function below(decimals: DecimalPaths, segment: string): DecimalPaths {
  if (decimals.length === 0) return none;
  return decimals.filter(([first]) => first === segment).map(([, ...rest]) => rest);
}

function placed(error: unknown, segment: string | number): unknown {
  if (error instanceof ValueFault) error.path.unshift(segment);
  return error;
}
