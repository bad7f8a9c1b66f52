/** The time limit of a call: `timeoutMs`, or `timeout` with its unit. */
import { z } from 'zod';
import { longestTimerMs } from '../../values/options/index.ts';
import { oneOf } from './value-formats.ts';

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const form = /^(\d{1,15}(?:\.\d{1,15})?) ?(ms|s|m|h)$/;

/** A time with its unit, such as `500ms`, `5s`, `1.5m` or `1 h`. */
const time = z
  .string('expected a time with its unit, such as "5s"; `timeoutMs` takes milliseconds')
  .regex(form, 'expected a number and a unit, such as "500ms", "5s", "2m" or "1h"')
  .refine((text) => !form.test(text) || isTimer(inMs(text)), {
    error: `expected a time above 0 and at most ${longestTimerMs / 1_000} s`,
  });

/** `timeout` where a number means seconds. */
export const timeoutOrSeconds = oneOf(
  [
    time,
    z
      .number()
      .gt(0)
      .lte(longestTimerMs / 1_000)
      // A time that is rounded to nothing is none.
      .refine((seconds) => isTimer(rounded(seconds * 1_000)), 'expected a time above 0'),
  ],
  'a time with its unit, such as "5s", or a number of seconds above 0',
);
/** `timeout` where a number has no meaning. */
export const timeoutWithUnit = time;

interface Limited {
  readonly timeout?: string | number | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The time limit in milliseconds, by whichever key an entry has it. */
export function timeoutMsOf({ timeout, timeoutMs }: Limited): number | undefined {
  if (timeout === undefined) return timeoutMs;
  return typeof timeout === 'string' ? inMs(timeout) : rounded(timeout * 1_000);
}

function inMs(text: string): number {
  const [, count, unit = ''] = form.exec(text) as RegExpExecArray;
  return rounded(Number(count) * (unitMs.get(unit) as number));
}

/** Without the digits that a product of decimal fractions adds. */
function rounded(ms: number): number {
  return Math.round(ms * 1e3) / 1e3;
}

function isTimer(ms: number): boolean {
  return ms > 0 && ms <= longestTimerMs;
}
