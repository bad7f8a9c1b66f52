import { describe, expect, test } from 'vitest';
import {
  abortSignal,
  array,
  arrayOf,
  duration,
  flag,
  fn,
  type Kind,
  longestTimerMs,
  milliseconds,
  numberFrom,
  object,
  oneOf,
  text,
  wholeNumber,
  withMethods,
} from '../../../src/values/options/index.ts';

const signal = new AbortController().signal;

describe('a kind accepts its own values and names itself in messages', () => {
  test.each<[kind: Kind<unknown>, expected: string, good: unknown[], bad: unknown[]]>([
    [text(), 'a string', ['', 'a'], [5, null]],
    [text(1), 'a non-empty string', ['a'], ['']],
    [text(1, 2), 'a string of 1 to 2 characters', ['a', 'ab'], ['', 'abc']],
    [wholeNumber(1), 'a whole number from 1', [1, 2 ** 53 - 1], [0, 1.5, 2 ** 53, '1', NaN]],
    [wholeNumber(0, 2), 'a whole number from 0 to 2', [0, 2], [-1, 3]],
    [numberFrom(1), 'a number from 1', [1, 1.5, Number.POSITIVE_INFINITY], [0.5, NaN, '2']],
    [numberFrom(0, 2), 'a number from 0 to 2', [0, 2], [-0.1, 2.1]],
    [
      milliseconds(1),
      'a number of milliseconds from 1 to 2147483647',
      [1, longestTimerMs],
      [0.5, longestTimerMs + 1, NaN],
    ],
    [
      duration,
      'a number of milliseconds above 0 and at most 2147483647',
      [Number.MIN_VALUE, longestTimerMs],
      [0, -1, longestTimerMs + 1, NaN, '5'],
    ],
    [flag, 'true or false', [true, false], [0, 'true']],
    [fn(), 'a function', [() => {}], [{}, null]],
    [oneOf('a', 'b', 'c'), '"a", "b" or "c"', ['a', 'c'], ['d', 1]],
    [
      withMethods<string[]>(['at']),
      'an object with the method `at`',
      [[]],
      [{}, { at: 1 }, null, 5],
    ],
    [
      withMethods<Map<string, string>>(['get', 'set']),
      'an object with the methods `get` and `set`',
      [new Map()],
      [new WeakSet()],
    ],
    [abortSignal, 'an AbortSignal', [signal], [{ aborted: false }, null, 'signal']],
    [object(), 'an object', [{}], [[], null, 'x']],
    [array(), 'an array', [[]], [{}, 'x']],
    [arrayOf(text(1), 'names'), 'an array of names', [[], ['a']], [[''], Array(1), ['a', 1], 'a']],
  ])('%#', (kind, expected, good, bad) => {
    expect(kind.expected).toBe(expected);
    expect(good.map(kind.accepts)).toEqual(good.map(() => true));
    expect(bad.map(kind.accepts)).toEqual(bad.map(() => false));
  });
});
