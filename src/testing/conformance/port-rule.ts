/**
 * What a rule of the conformance suites for ports is made of, and what several of their rules use.
 */
import assert from 'node:assert/strict';
import type { MaybePromise } from '../../index.ts';

/** One rule, for any test runner: `test(rule.name, rule.run)`. */
export interface PortRule {
  /** The rule as a sentence. */
  readonly name: string;
  /**
   * Resolves when the rule holds; rejects with an `AssertionError` that says what was expected.
   * Makes what it tests itself, and closes it where it can be closed.
   */
  run(): Promise<void>;
}

/** Rules before they are bound to a maker, by their sentences. */
export type PortRuleBodies<T> = Readonly<Record<string, (made: T) => Promise<void>>>;

/** What is closed after each rule, where it can be. */
export interface Closable {
  close?(): MaybePromise<void>;
}

/** Binds rules to a maker. */
export function portRules<T extends object>(
  make: () => MaybePromise<T>,
  bodies: PortRuleBodies<T>,
): PortRule[] {
  return Object.entries(bodies).map(([name, check]) => ({
    name,
    run: async () => {
      const made = await make();
      try {
        await check(made);
      } finally {
        await (made as Closable).close?.();
      }
    },
  }));
}

/** Waits, by the clock of the machine. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Longest that something may take which should happen soon. */
const patienceMs = 5_000;

/** Asks again until it is so. @param what for the message of the assertion that fails otherwise */
export async function eventually(what: string, check: () => MaybePromise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await check())) {
    assert.ok(performance.now() < deadline, `Expected within ${patienceMs / 1_000} s: ${what}`);
    await sleep(5);
  }
}

/** As many numbers, from 0. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Starts so many operations at once. */
export function atOnce<T>(count: number, start: (index: number) => MaybePromise<T>): Promise<T[]> {
  return Promise.all(upTo(count).map(async (index) => start(index)));
}

/**
 * Names that stores without care lose, mix up or take from a prototype; some start like others, and
 * some hold what separates parts of a key.
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
