/** Which answers a test of a rule can give for the values of a schema. */

import type { Check, Comparison } from '../../core/rules/rule-check.ts';
import { isScalar, noElement } from '../../core/rules/scalar-tests.ts';
import { compileTest } from '../../core/rules/value-test.ts';
import { isJsonObject, type JsonPrimitive, type JsonValue } from '../../values/json/index.ts';
import { type Cell, cellsOf, namedIn, numberCells } from './cells.ts';
import type { Leaf, Sizes } from './reach.ts';

/** Whether some value makes the test hold, and whether some value makes it fail. */
interface Outcomes {
  readonly holds: boolean;
  readonly fails: boolean;
}

const neither: Outcomes = { holds: false, fails: false };
const either: Outcomes = { holds: true, fails: true };
const onlyHolds: Outcomes = { holds: true, fails: false };
const onlyFails: Outcomes = { holds: false, fails: true };

/** What a test is asked about. */
interface Question {
  readonly cell: Cell;
  /** The sizes of the array that the value is in; undefined if it is in none. */
  readonly whole: Sizes | undefined;
}

/** A test that was prepared for many questions. */
export interface PreparedTest {
  /** Whether the test may hold for something that a leaf stands for. */
  mayHoldAt(leaf: Leaf, steps: { left: number }): boolean;
  /** Whether it holds for a path without a value. */
  readonly holdsWhereAbsent: boolean;
}

/** @param test A test of a rule that was compiled before. @param check Of that rule. */
export function prepareTest(test: JsonValue, comparison: Comparison, check: Check): PreparedTest {
  const named = namedIn(test);
  const ask = prepare(test, comparison, check);
  const { steps: inner, holdsWhereAbsent } = compileTest(test, '', comparison, check);
  // A long list of tests, or of values, costs as many steps as many short ones.
  const weight = 1 + ((inner + JSON.stringify(test).length) >> 8);
  return {
    mayHoldAt({ view, whole }, steps) {
      if (view === undefined) return ask({ cell: missing, whole }).holds;
      for (const cell of cellsOf(view, named)) {
        // A search that is cut short has not shown that the test cannot hold.
        steps.left -= weight;
        if (steps.left < 0 || ask({ cell, whole }).holds) return true;
      }
      return false;
    },
    holdsWhereAbsent,
  };
}

type Ask = (question: Question) => Outcomes;

const missing: Cell = { kind: 'value', value: noElement };

function prepare(test: JsonValue, comparison: Comparison, check: Check): Ask {
  if (!isJsonObject(test)) return prepareScalar('equals', test, comparison, check);
  const parts = Object.entries(test).map(([name, operand]) =>
    preparePart(name, operand as JsonValue, comparison, check),
  );
  const [only] = parts;
  if (parts.length === 1) return only as Ask;
  return (question) => {
    const all = parts.map((ask) => ask(question));
    return { holds: all.every(({ holds }) => holds), fails: all.some(({ fails }) => fails) };
  };
}

function preparePart(name: string, operand: JsonValue, comparison: Comparison, check: Check): Ask {
  switch (name) {
    case 'not': {
      const ask = prepare(operand, comparison === 'loose' ? 'strict' : 'loose', check);
      return (question) => {
        const { holds, fails } = ask(question);
        return { holds: fails, fails: holds };
      };
    }
    case 'any': {
      const parts = (operand as JsonValue[]).map((one) => prepare(one, comparison, check));
      return (question) => {
        const all = parts.map((ask) => ask(question));
        return { holds: all.some(({ holds }) => holds), fails: all.every(({ fails }) => fails) };
      };
    }
    case 'exists':
      return () => onlyIf(operand === true);
    case 'size':
      return prepareSize(operand, comparison, check);
    case 'origin':
      return ({ cell }) => originOutcomes(operand, cell);
    default:
      return prepareScalar(name, operand, comparison, check);
  }
}

function onlyIf(holds: boolean): Outcomes {
  return holds ? onlyHolds : onlyFails;
}

/** A value that can only be one of two is not taken from anywhere, and counts as trusted. */
function originOutcomes(operand: JsonValue, cell: Cell): Outcomes {
  if (cell === missing) return neither;
  return cell.kind === 'value' && typeof cell.value === 'boolean'
    ? onlyIf([operand].flat().includes('trusted'))
    : either;
}

/** A size is a whole number. What has none fails every test of it. */
function prepareSize(test: JsonValue, comparison: Comparison, check: Check): Ask {
  const ask = prepare(test, comparison, check);
  const { numbers } = namedIn(test);
  return ({ cell, whole }) => {
    const sizes = whole ?? sizesOfText(cell);
    if (sizes === undefined) return onlyFails;
    const { min, max } = sizes;
    const fits = (size: number): boolean => size >= min && size <= max && Number.isInteger(size);
    const edges = Number.isFinite(max) ? [min, max] : [min];
    let holds = false;
    let fails = false;
    for (const size of numberCells(numbers, fits, edges, true)) {
      const one = ask({ cell: size, whole: undefined });
      holds ||= one.holds;
      fails ||= one.fails;
    }
    return { holds, fails };
  };
}

function sizesOfText(cell: Cell): Sizes | undefined {
  if (cell.kind === 'texts') return cell.sizes;
  if (cell.kind !== 'value' || typeof cell.value !== 'string') return undefined;
  const { length } = [...cell.value];
  return { min: length, max: length };
}

const numberTests: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);

/** A test that looks at one scalar and nothing else. */
function prepareScalar(
  name: string,
  operand: JsonValue,
  comparison: Comparison,
  check: Check,
): Ask {
  // The facts of a session are not known here.
  if (isJsonObject(operand)) return ({ cell }) => (cell === missing ? neither : either);
  const { judge } = compileTest({ [name]: operand }, name, comparison, check);
  const judged = (value: JsonPrimitive): Outcomes => onlyIf(judge(value, value, {}) === true);
  const isOfNumbers = numberTests.has(name);
  const isEquality = name === 'equals' || name === 'in';
  const numbers = new Set([operand].flat().filter((one) => typeof one === 'number'));
  return ({ cell }) => {
    if (cell.kind === 'value') {
      if (cell === missing) return neither;
      return isScalar(cell.value) ? judged(cell.value) : onlyFails;
    }
    if (cell.kind === 'numbers') {
      if (isOfNumbers || isEquality) return judged(cell.near);
      return comparison === 'strict' ? onlyFails : textOutcomes(name, operand, undefined);
    }
    if (!isOfNumbers && !isEquality) return textOutcomes(name, operand, cell.sizes);
    const { number } = cell;
    if (comparison === 'strict' || number === undefined) return onlyFails;
    return isOfNumbers ? judged(number) : onlyIf(numbers.has(number));
  };
}

/** @param sizes The possible lengths of the text; undefined for a number that is written out. */
function textOutcomes(name: string, operand: JsonValue, sizes: Sizes | undefined): Outcomes {
  if (name !== 'glob' || typeof operand !== 'string') return either;
  if (/^\*+$/.test(operand)) return onlyHolds;
  const literal = operand.replaceAll('*', '');
  if (sizes === undefined) return /[^-+.\deE?]/.test(literal) ? onlyFails : either;
  // A glob without wildcards is a text that the tests name.
  return [...literal].length > sizes.max || !/[*?]/.test(operand) ? onlyFails : either;
}
