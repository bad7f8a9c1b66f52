/** How much a store in memory keeps, and the most it may: no client can fill the process. */

/** What is taken of the room, in characters. */
export interface SizeBudget {
  /** Counts so many more, or less where that is below zero. */
  add(chars: number): void;
  /**
   * @throws Error where so many more do not fit. What gives room always may. @param from what is
   * taken otherwise. @default `used`
   */
  check(more: number, from?: number): void;
  /**
   * @throws Error where so much is taken that no session may begin: those that run are to end well.
   */
  admit(): void;
  readonly used: number;
}

/** Of the room, for the sessions that run alone. */
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
    `The store in memory is full (${maxChars} characters). Give \`memoryStore\` a higher ` +
      `\`maxChars\`, let sessions end sooner, or keep them in Redis.`,
  );
}
