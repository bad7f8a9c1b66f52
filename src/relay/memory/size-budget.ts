/** How much a store in memory keeps, and its limit, so that no client can fill the process. */

/** Counts characters against the limit. */
export interface SizeBudget {
  /** Adds to the count; a negative number subtracts. */
  add(chars: number): void;
  /**
   * @throws Error when `more` characters do not fit. Zero or fewer always fit. @param from the
   * count without them @default `used`
   */
  check(more: number, from?: number): void;
  /** @throws Error when no session may begin, because the rest is reserved for open ones */
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
