/** The kinds of values that options have: how each is tested, and how messages name it. */

/** The longest time that a timer can wait, in milliseconds. A longer timer would fire at once. */
export const longestTimerMs = 2 ** 31 - 1;

/** A kind of values, for the tables of {@link readOptions}. */
export interface Kind<T> {
  /** Completes the sentence "expected `x` to be …". */
  readonly expected: string;
  readonly accepts: (value: unknown) => boolean;
  /** Whether {@link readOptions} returns a copy, because the value is a list that may change. */
  readonly isList?: true;
  /** Exists only for the compiler; never set. */
  readonly type?: T;
}

/** An option that must be given. */
export interface RequiredKind<T> extends Kind<T> {
  readonly required: true;
}

/** An option with a default. */
export interface DefaultedKind<T> extends Kind<T> {
  readonly absent: T;
}

/** Makes a kind from a test. `expected` completes the sentence "expected `x` to be …". */
export function kind<T>(expected: string, accepts: (value: unknown) => boolean): Kind<T> {
  return { expected, accepts };
}

export function required<T>(of: Kind<T>): RequiredKind<T> {
  return { ...of, required: true };
}

/**
 * @param absent The value of an option that is not given. All readers share it, so an object must
 * be frozen.
 */
export function withDefault<T>(of: Kind<T>, absent: NoInfer<T>): DefaultedKind<T> {
  return { ...of, absent };
}

/** A value that is checked elsewhere, or not at all. */
export function anything<T = unknown>(): Kind<T> {
  return kind('anything', () => true);
}

/** Text of `least` to `most` characters. */
export function text(least = 0, most = Number.POSITIVE_INFINITY): Kind<string> {
  const expected =
    most !== Number.POSITIVE_INFINITY
      ? `a string of ${least} to ${most} characters`
      : least === 0
        ? 'a string'
        : 'a non-empty string';
  return kind(
    expected,
    (value) => typeof value === 'string' && value.length >= least && value.length <= most,
  );
}

/** An integer from `least` to `most`. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): Kind<number> {
  return kind(
    `a whole number ${range(least, most)}`,
    (value) => Number.isSafeInteger(value) && isBetween(value, least, most),
  );
}

/** A number from `least` to `most`, fractions included. */
export function numberFrom(least: number, most = Number.POSITIVE_INFINITY): Kind<number> {
  return kind(`a number ${range(least, most)}`, (value) => isBetween(value, least, most));
}

/** A time from `least` milliseconds to the longest that a timer can wait. */
export function milliseconds(least: number, most = longestTimerMs): Kind<number> {
  return kind(`a number of milliseconds ${range(least, most)}`, (value) =>
    isBetween(value, least, most),
  );
}

/** A time above 0 milliseconds, up to the longest that a timer can wait. */
export const duration: Kind<number> = kind(
  `a number of milliseconds above 0 and at most ${longestTimerMs}`,
  (value) => isBetween(value, 0, longestTimerMs) && value !== 0,
);

export const flag: Kind<boolean> = kind('true or false', (value) => typeof value === 'boolean');

/** A function. Its parameters cannot be checked, so the type argument is taken on trust. */
export function fn<F>(): Kind<F> {
  return kind('a function', (value) => typeof value === 'function');
}

/** One of the given words. */
export function oneOf<const W extends string>(...words: readonly W[]): Kind<W> {
  const quoted = words.map((word) => `"${word}"`);
  return kind(listed(quoted, 'or'), (value) => (words as readonly unknown[]).includes(value));
}

/** An object or a function that has these methods, own or inherited. */
export function withMethods<T>(
  names: readonly (string & keyof T)[],
  expected = `an object with the method${names.length === 1 ? '' : 's'} ${listed(
    names.map((name) => `\`${name}\``),
    'and',
  )}`,
): Kind<T> {
  return kind(
    expected,
    (value) =>
      value !== null &&
      value !== undefined &&
      names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function'),
  );
}

/** An AbortSignal of this realm or of another one. */
export const abortSignal: Kind<AbortSignal> = kind('an AbortSignal', (value) => {
  if (typeof value !== 'object' || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignal>;
  return (
    typeof aborted === 'boolean' &&
    typeof addEventListener === 'function' &&
    typeof removeEventListener === 'function'
  );
});

/** An object that is neither null nor an array. */
export function object<T extends object>(): Kind<T> {
  return kind(
    'an object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
}

/** An array. Its items are checked where they are read. */
export function array<T>(expected = 'an array'): Kind<readonly T[]> {
  return { expected, accepts: (value) => Array.isArray(value), isList: true };
}

/** An array of values of one kind. @param items What messages call them, such as "tool names". */
export function arrayOf<T>(item: Kind<T>, items: string): Kind<readonly T[]> {
  return {
    expected: `an array of ${items}`,
    // The spread turns holes into undefined, which `every` would otherwise skip.
    accepts: (value) =>
      Array.isArray(value) && [...(value as unknown[])].every((one) => item.accepts(one)),
    isList: true,
  };
}

function range(least: number, most: number): string {
  return most >= Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

function listed(words: readonly string[], last: 'and' | 'or'): string {
  return words.length < 2
    ? words.join()
    : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
