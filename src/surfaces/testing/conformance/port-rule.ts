/** The parts of a rule of the conformance suites for ports, and helpers that several rules use. */

import assert from 'node:assert/strict';
import type { MaybePromise } from '../../../core.ts';

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface PortRule {
  /** The rule as a sentence. */
  readonly name: string;
  /**
   * Makes the port, checks the rule on it, and closes it if it has a `close`. Resolves if the rule
   * holds; otherwise it rejects with an `AssertionError` that says what was expected.
   */
  run(): Promise<void>;
}

/** Waits in real time. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** The longest time that something may take that should happen soon. */
const patienceMs = 5_000;

/**
 * Repeats a check until it is true. Fails if that takes too long.
 * @param what Describes the condition in the error message.
 */
export async function eventually(what: string, check: () => MaybePromise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await check())) {
    assert.ok(performance.now() < deadline, `Expected within ${patienceMs / 1_000} s: ${what}`);
    await sleep(5);
  }
}

/** The whole numbers from 0 to below `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Starts `count` operations at once. */
export function atOnce<T>(count: number, start: (index: number) => MaybePromise<T>): Promise<T[]> {
  return Promise.all(upTo(count).map(async (index) => start(index)));
}

/**
 * Names that a carelessly written store loses, mixes up or finds on a prototype. Some are prefixes
 * of others, and some contain characters that separate the parts of a key.
 */
export const portNames: readonly string[] = [
  '',
  ' ',
  'a',
  'A',
  'a:',
  'a:b',
  'a:b:c',
  ':b:c',
  '{a}',
  '{a}:b',
  '{a}b',
  '}{',
  'a b',
  'a\nb',
  'a\r\n$1\r\nb',
  'a\0b',
  'a\tb',
  '*',
  'a*',
  '[ab]',
  '?',
  '\\',
  '"',
  "'; --",
  '%s',
  '0',
  '-1',
  '+',
  '$',
  '-',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'session',
  'tools',
  '\u00E9',
  'e\u0301',
  '\u202Ea',
  '\u{1F9F0}',
  'x'.repeat(1_000),
];
