/**
 * How much work hiding secrets may be: counted in steps, so that hostile input costs the same
 * everywhere and tests need no clock.
 */

/**
 * The steps that one payload may take and has taken. One budget is shared by all that happens to
 * the payload: finding fields, and searching its texts.
 */
export interface Budget {
  /** Steps taken so far. Never more than `limit`. */
  readonly spent: number;
  readonly limit: number;
}

/**
 * Steps for one payload, about 30 ms of work on a small machine. An input within the default limits
 * (50 000 values, 1 MB) fits, unless its texts are JSON with more than some 300 000 values. One
 * step is about one character that is searched.
 */
const payloadSteps = 4_000_000;

/** Steps for looking at one value, whatever its kind. */
export const valueSteps = 10;

export function createBudget(limit = payloadSteps): Budget {
  return { spent: 0, limit };
}

const exhausted = Symbol('exhausted');

/** Takes steps from the budget. Throws where they do not fit; {@link withinBudget} catches it. */
export function spend(budget: Budget, steps: number): void {
  if (budget.spent + steps > budget.limit) exhaust(budget);
  (budget as { spent: number }).spent += steps;
}

/**
 * Takes all that is left: what is left of the payload must not be told in part, however small it
 * is.
 */
export function exhaust(budget: Budget): never {
  (budget as { spent: number }).spent = budget.limit;
  throw exhausted;
}

/** Does the work, or answers what stands in for it when the budget does not suffice. */
export function withinBudget<T, U>(work: () => T, otherwise: () => U): T | U {
  try {
    return work();
  } catch (error) {
    if (error === exhausted) return otherwise();
    throw error;
  }
}
