/** The limits of a session: checked once, and the tightest of several. */

import type { Limits } from '../../api/profile.ts';
import {
  kind,
  longestTimerMs,
  readOptions,
  type TableOf,
  wholeNumber,
} from '../../values/options/index.ts';

type LimitName = keyof Limits;
/** A whole number from 1. */
export const least1 = wholeNumber(1);
const limitTable = {
  callsPerMinute: least1,
  maxConcurrentCalls: least1,
  maxQueuedCalls: wholeNumber(0),
  queueTimeoutMs: wholeNumber(1, longestTimerMs),
  maxPendingApprovals: wholeNumber(0),
  loopGuard: kind<number | false>(
    `false or ${least1.expected}`,
    (value) => value === false || least1.accepts(value),
  ),
  maxInputBytes: least1,
  maxOutputChars: least1,
} satisfies TableOf<Limits>;
const limitNames = Object.keys(limitTable) as readonly LimitName[];

/**
 * Checks limits and returns a frozen copy of those that are given.
 * @param where starts the message, such as `createSession` or ``profile `ci` ``
 * @throws MisuseError `invalid_option`, which names the limit
 */
export function checkLimits(limits: Limits, where: string): Limits {
  const given = readOptions(where, limits, limitTable, { path: 'limits' });
  // Without a prototype and absent members, since limits are merged and each call reads them by
  // name.
  const copy = Object.create(null) as { -readonly [K in LimitName]?: number | false };
  for (const name of limitNames) if (given[name] !== undefined) copy[name] = given[name];
  return Object.freeze(copy) as Limits;
}

/** The smallest value of each limit. `loopGuard: false` sets no limit. */
export function tightestLimits(...limits: readonly (Limits | undefined)[]): Limits {
  const tightest = Object.create(null) as { -readonly [K in LimitName]?: number };
  for (const given of limits) {
    if (given === undefined) continue;
    for (const key of limitNames) {
      const value = given[key];
      if (typeof value === 'number' && !(value >= (tightest[key] ?? Number.POSITIVE_INFINITY)))
        tightest[key] = value;
    }
  }
  return Object.freeze(tightest) as Limits;
}
