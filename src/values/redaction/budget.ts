/**
 * Bounds the work of hiding secrets. It is counted in steps, so that the bound is the same on every
 * machine and tests need no clock.
 */

/**
 * The steps that one payload has taken and may take. Finding its secret fields and searching its
 * texts share one budget.
 */
export interface Budget {
  /** Steps taken so far. Never more than `limit`. */
  readonly spent: number;
  readonly limit: number;
}

/**
 * Steps for one payload: about 30 ms of work on a small machine. An input within the default limits
 * (50 000 values, 1 MB) fits, unless its texts are JSON with more than about 300 000 values.
 * Searching one character takes about one step.
 */
const payloadSteps = 4_000_000;

/** Steps for looking at one value, whatever its kind. */
export const valueSteps = 10;

export function createBudget(limit = payloadSteps): Budget {
  return { spent: 0, limit };
}

const exhausted = Symbol('exhausted');

/** Takes steps from the budget. Throws if they do not fit; {@link withinBudget} catches that. */
export function spend(budget: Budget, steps: number): void {
  if (budget.spent + steps > budget.limit) exhaust(budget);
  (budget as { spent: number }).spent += steps;
}

/**
 * Takes all remaining steps, so that no later part of the payload is shown, however small it is.
 */
export function exhaust(budget: Budget): never {
  (budget as { spent: number }).spent = budget.limit;
  throw exhausted;
}

/** Does the work, or returns the alternative if the budget does not suffice. */
export function withinBudget<T, U>(work: () => T, otherwise: () => U): T | U {
  try {
    return work();
  } catch (error) {
    if (error === exhausted) return otherwise();
    throw error;
  }
}
