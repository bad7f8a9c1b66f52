/** Reads one input for all quotas of a call: each path once, however many quotas name it. */
import { readBudget, subjectsAt, sumAt, type Unreadable, unreadable } from './quota-values.ts';

/** Most values of one quota, and most combinations of them, that a call may spend for. */
export const maxValues = 100;
/** Most amounts that one call may spend for all of its quotas. */
export const maxSpendings = 1_000;

export class QuotaReader {
  /** What was sent. */
  readonly input: unknown;
  /** What the handler gets. */
  readonly parsed: unknown;
  readonly #budget = readBudget();
  readonly #sums = new Map<string, bigint | Unreadable>();
  readonly #subjects = new Map<string, readonly string[] | Unreadable>();

  constructor(input: unknown, parsed: unknown) {
    this.input = input;
    this.parsed = parsed;
  }

  /** The sum of the numbers at a path, in units. */
  sum(path: readonly string[]): bigint | Unreadable {
    const name = JSON.stringify(path);
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sum = sumAt(path, this.input, this.parsed, this.#budget);
    this.#sums.set(name, sum);
    return sum;
  }

  /** The values at a path. The list ends with one more than a call may have. */
  subjects(path: readonly string[]): readonly string[] | Unreadable {
    const name = JSON.stringify(path);
    const known = this.#subjects.get(name);
    if (known !== undefined) return known;
    const found = subjectsAt(path, this.input, this.parsed, this.#budget);
    const subjects = found === unreadable ? unreadable : [...found].slice(0, maxValues + 1);
    this.#subjects.set(name, subjects);
    return subjects;
  }
}
