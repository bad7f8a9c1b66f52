/** Checks of single values of operations. Each answers what is wrong, in words. */
import { describe } from '../../values/errors/index.ts';

/** What is wrong, and undefined if nothing is. */
export type Problem = string | undefined;

/** The longest time to live, window or delay in milliseconds: more than 300 years. */
export const maxDurationMs: number = 10 ** 13;

const maxNameChars = 2_000;
const maxValueBytes = 8 * 1_024 ** 2;
/** The last millisecond that a `Date` can have. */
const maxTime = 8_640_000_000_000_000;
const maxAmount = 10n ** 34n;

export function names(member: string, all: readonly string[], most: number): Problem {
  if (all.length > most) return `\`${member}\`: expected at most ${most}, got ${all.length}`;
  for (let index = 0; index < all.length; index++) {
    const problem = name(member, all[index]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export function name(member: string, value: unknown): Problem {
  if (typeof value === 'string' && value.length > 0 && value.length <= maxNameChars)
    return value.isWellFormed() ? undefined : lone(member);
  const got = typeof value === 'string' ? `${value.length}` : describe(value);
  return `\`${member}\`: expected a string of 1 to ${maxNameChars} characters, got ${got}`;
}

/** A value or a message. It is never shown, since it may be secret. */
export function text(member: string, value: unknown): Problem {
  if (typeof value !== 'string') return `\`${member}\`: expected a string, got ${typeof value}`;
  // A UTF-16 unit takes at most three bytes, so that few texts have to be counted.
  if (value.length * 3 > maxValueBytes) {
    const isLong =
      value.length > maxValueBytes || new TextEncoder().encode(value).length > maxValueBytes;
    if (isLong) return `\`${member}\`: expected at most ${maxValueBytes} bytes in UTF-8`;
  }
  return value.isWellFormed() ? undefined : lone(member);
}

function lone(member: string): string {
  return `\`${member}\`: expected no lone surrogate, which is half of a character`;
}

export function version(value: number | undefined): Problem {
  return value === undefined ? undefined : whole('version', value, 0);
}

export function duration(member: string, value: unknown): Problem {
  return whole(member, value, 1, maxDurationMs);
}

export function time(member: string, value: unknown): Problem {
  return whole(member, value, 0, maxTime);
}

export function whole(
  member: string,
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): Problem {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
    ? undefined
    : `\`${member}\`: expected a whole number from ${least} to ${most}, got ${describe(value)}`;
}

export function amount(member: string, value: unknown): Problem {
  return typeof value === 'bigint' && value >= 0n && value <= maxAmount
    ? undefined
    : `\`${member}\`: expected a bigint from 0 to 10^34, got ${describe(value)}`;
}
