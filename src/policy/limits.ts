/** The limits of a session: checked once, and the tightest of several. */
import { describe, MisuseError } from '../errors.ts';
import { readOptions } from '../options.ts';

/** Limits of one session. An absent limit has its default. */
export interface Limits {
  /** Calls admitted per minute. From 1. @default no limit */
  readonly callsPerMinute?: number | undefined;
  /** Handlers that run at the same time. From 1. @default no limit */
  readonly maxConcurrentCalls?: number | undefined;
  /** Calls that wait for a slot. From 0, which lets no call wait. @default 1000 */
  readonly maxQueuedCalls?: number | undefined;
  /** Milliseconds that a call waits for a slot. From 1 to 2^31-1. @default 30_000 */
  readonly queueTimeoutMs?: number | undefined;
  /**
   * Approvals that are open at the same time. From 0, which refuses every call that needs one.
   * @default 20
   */
  readonly maxPendingApprovals?: number | undefined;
  /** Identical calls in a row that are allowed. From 1; false turns the guard off. @default false */
  readonly loopGuard?: number | false | undefined;
  /** Bytes of the JSON of one input. From 1. @default 1_048_576 */
  readonly maxInputBytes?: number | undefined;
  /** Characters of one result that the model sees. From 1. @default no limit */
  readonly maxOutputChars?: number | undefined;
}

type LimitName = keyof Limits;

/** The longest delay that a timer takes. */
export const longestTimerMs = 2 ** 31 - 1;
const limitRanges = new Map<LimitName, readonly [least: number, most: number]>([
  ['callsPerMinute', [1, Number.MAX_SAFE_INTEGER]],
  ['maxConcurrentCalls', [1, Number.MAX_SAFE_INTEGER]],
  ['maxQueuedCalls', [0, Number.MAX_SAFE_INTEGER]],
  ['queueTimeoutMs', [1, longestTimerMs]],
  ['maxPendingApprovals', [0, Number.MAX_SAFE_INTEGER]],
  ['loopGuard', [1, Number.MAX_SAFE_INTEGER]],
  ['maxInputBytes', [1, Number.MAX_SAFE_INTEGER]],
  ['maxOutputChars', [1, Number.MAX_SAFE_INTEGER]],
]);

/**
 * Checks limits and returns a frozen copy of them.
 * @param where starts the message, such as `session` or ``profile `ci` ``
 * @throws MisuseError `invalid_option`, which names the field
 */
export function checkLimits(limits: Limits, where: string): Limits {
  const given = readOptions(`${where}: limits`, limits, [...limitRanges.keys()], { noun: 'limit' });
  // Without a prototype, since each call reads limits by name.
  const copy = Object.create(null) as { -readonly [K in LimitName]?: number | false };
  for (const [key, value] of Object.entries(given) as [LimitName, unknown][]) {
    const range = limitRanges.get(key) as readonly [number, number];
    if (value === undefined) continue;
    const fits =
      typeof value === 'number' &&
      Number.isInteger(value) &&
      value >= range[0] &&
      value <= range[1];
    if (!fits && !(key === 'loopGuard' && value === false)) {
      const expected =
        `${key === 'loopGuard' ? 'false or ' : ''}a whole number from ${range[0]} to ` +
        `${range[1]}`;
      throw new MisuseError(
        'invalid_option',
        `${where}: Expected \`limits.${key}\` to be ${expected}, got ${describe(value)}`,
      );
    }
    copy[key] = value as number | false;
  }
  return Object.freeze(copy) as Limits;
}

/** The smallest value of each limit. `loopGuard: false` sets no limit. */
export function tightestLimits(...limits: readonly (Limits | undefined)[]): Limits {
  const tightest = Object.create(null) as { -readonly [K in LimitName]?: number };
  for (const given of limits) {
    if (given === undefined) continue;
    for (const key of limitRanges.keys()) {
      const value = given[key];
      if (typeof value === 'number' && !(value >= (tightest[key] ?? Number.POSITIVE_INFINITY)))
        tightest[key] = value;
    }
  }
  return Object.freeze(tightest) as Limits;
}
