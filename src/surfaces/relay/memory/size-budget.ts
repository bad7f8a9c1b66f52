/**
 * Counts how much a memory store keeps, and limits it, so that no client can fill the memory of the
 * process.
 */

/** Counts characters against the limit. */
export interface SizeBudget {
  /** Adds to the count; a negative number subtracts. */
  add(chars: number): void;
  /**
   * Checks that `more` characters fit. Zero or fewer always fit.
   * @param from the count that they are added to. @default `used`
   * @throws Error if they do not fit
   */
  check(more: number, from?: number): void;
  /**
   * Checks that a session may begin.
   * @throws Error if all that is left is reserved for open sessions
   */
  admit(): void;
  readonly used: number;
}

/** The share of the limit that is reserved for open sessions. */
const reserve = 0.25;

export function createSizeBudget(maxChars: number): SizeBudget {
  let used = 0;
  return {
    add(chars) {
      used += chars;
    },
    check(more, from = used) {
      if (more > 0 && from + more > maxChars) throw full(maxChars);
    },
    admit() {
      if (used > maxChars * (1 - reserve)) throw full(maxChars);
    },
    get used() {
      return used;
    },
  };
}

function full(maxChars: number): Error {
  return new Error(
    `The memory store is full (${maxChars} characters). Raise \`maxChars\` of \`memoryStore\`, ` +
      `let sessions end sooner, or use a Redis store.`,
  );
}
