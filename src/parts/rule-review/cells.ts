/** Divides the values of a schema into those that the tests of a rule can tell apart. */

import { isScalar, type noElement } from '../../core/rules/scalar-tests.ts';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../values/json/index.ts';
import { boundOf, countOf, type View } from '../../values/json-schema/inclusion-view.ts';
import type { Sizes } from './reach.ts';

/** An object: no test of a scalar holds for it. */
const anObject = Symbol('object');

/** Values that the tests of one rule cannot tell apart. */
export type Cell =
  | { readonly kind: 'value'; readonly value: JsonPrimitive | typeof noElement | typeof anObject }
  /** All numbers between two that the tests name, of which `near` is one. */
  | { readonly kind: 'numbers'; readonly near: number }
  /** All texts that the tests do not name. `number` is what they are written for, if they are. */
  | { readonly kind: 'texts'; readonly number: number | undefined; readonly sizes: Sizes };

/** What the tests name: the values at which their answers may change. */
export interface Named {
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
}

export function namedIn(test: JsonValue): Named {
  const numbers = new Set<number>();
  const texts = new Set<string>();
  const add = (value: JsonValue | undefined): void => {
    if (!isScalar(value) || value === null) return;
    texts.add(String(value));
    const number = typeof value === 'boolean' ? Number.NaN : Number(value);
    if (Number.isFinite(number)) numbers.add(number);
  };
  const walk = (one: JsonValue): void => {
    if (isScalar(one)) add(one);
    else if (isJsonObject(one))
      for (const [name, operand] of Object.entries(one) as [string, JsonValue][]) {
        if (name === 'not') walk(operand);
        else if (name === 'any') (operand as JsonValue[]).forEach(walk);
        else if (name !== 'size') for (const each of [operand].flat() as JsonValue[]) add(each);
      }
  };
  walk(test);
  return { numbers: [...numbers].sort((a, b) => a - b), texts: [...texts] };
}

export function* cellsOf(view: View, named: Named): Generator<Cell> {
  const { kinds, values } = view;
  if (values !== undefined) {
    for (const value of values) yield { kind: 'value', value: value as JsonPrimitive };
    return;
  }
  if (kinds.has('null')) yield { kind: 'value', value: null };
  if (kinds.has('boolean')) for (const value of [true, false]) yield { kind: 'value', value };
  if (kinds.has('object')) yield { kind: 'value', value: anObject };
  if (kinds.has('integer') || kinds.has('fraction')) yield* numbersOf(view, named.numbers);
  if (kinds.has('string')) yield* textsOf(view, named);
}

/** The numbers that the tests name, and those between them, within the bounds of the schema. */
function* numbersOf(view: View, named: readonly number[]): Generator<Cell> {
  const low = boundOf(view, 'minimum');
  const high = boundOf(view, 'maximum');
  const isWhole = !view.kinds.has('fraction');
  const fits = (value: number): boolean =>
    (low === undefined || value > low.value || (value === low.value && !low.exclusive)) &&
    (high === undefined || value < high.value || (value === high.value && !high.exclusive)) &&
    (!isWhole || Number.isInteger(value));
  yield* numberCells(named, fits, [low?.value, high?.value], isWhole);
}

/** @param edges Bounds between which all values fit. */
export function* numberCells(
  named: readonly number[],
  fits: (value: number) => boolean,
  edges: readonly (number | undefined)[],
  isWhole: boolean,
): Generator<Cell> {
  const ends = [...new Set([...named, ...edges.filter((one) => one !== undefined)])];
  ends.sort((a, b) => a - b);
  const known = new Set(named);
  for (const value of ends)
    if (fits(value))
      yield known.has(value) ? { kind: 'value', value } : { kind: 'numbers', near: value };
  for (let at = 0; at <= ends.length; at++) {
    const near = between(ends[at - 1], ends[at], isWhole);
    if (near !== undefined && fits(near)) yield { kind: 'numbers', near };
  }
}

/** A number between two; undefined if there is none. */
function between(
  low: number | undefined,
  high: number | undefined,
  isWhole: boolean,
): number | undefined {
  if (low === undefined) return high === undefined ? 0 : below(high);
  if (high === undefined) {
    const opposite = below(-low);
    return opposite === undefined ? undefined : -opposite;
  }
  const middle = low / 2 + high / 2;
  const near = isWhole ? Math.floor(low) + 1 : middle;
  return near > low && near < high ? near : undefined;
}

/** A number below another one: a whole one, unless they are too large to tell neighbours apart. */
function below(value: number): number | undefined {
  const next = Math.ceil(value) - 1;
  if (next < value) return next;
  return value > -Number.MAX_VALUE ? value * (value < 0 ? 2 : 0.5) : undefined;
}

function* textsOf(view: View, { numbers, texts }: Named): Generator<Cell> {
  const sizes: Sizes = {
    min: countOf(view, 'minLength') ?? 0,
    max: countOf(view, 'maxLength') ?? Number.POSITIVE_INFINITY,
  };
  if (sizes.min > sizes.max) return;
  for (const text of texts) {
    const { length } = [...text];
    if (length >= sizes.min && length <= sizes.max) yield { kind: 'value', value: text };
  }
  yield { kind: 'texts', number: undefined, sizes };
  // A text that is a number is compared as one, whatever it looks like.
  for (const cell of numberCells(numbers, () => true, [], false)) {
    const number = cell.kind === 'numbers' ? cell.near : (cell as { value: number }).value;
    yield { kind: 'texts', number, sizes };
  }
}
