/** The lines of an audit log, as `host-tools/audit` writes them. */
import { MisuseError } from '../../../core.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import type { BacktestRecord } from '../record.ts';

// The interface of a format of recorded calls.

/** Replaces the call of a row that is not a separate call, such as a second attempt. */
export const noCall: unique symbol = Symbol('no call of its own');

/** A format in which one JSON object is one call: a line of a file, or an item of a list. */
export interface RowFormat {
  /** Whether an object is meant to be in this format, well-formed or not. */
  fits(row: JsonObject): boolean;
  /** @throws MisuseError that names the place. */
  read(row: JsonObject, where: string): BacktestRecord | typeof noCall;
}

/** A format in which one JSON object has many calls. */
export interface DocumentFormat {
  /** Whether an object is meant to be in this format, well-formed or not. */
  fits(document: JsonObject): boolean;
  /** All of its calls. @throws MisuseError that names the place. */
  read(document: unknown, where: string): readonly BacktestRecord[];
}

/**
 * A line of an audit log. It has the arguments without their secrets, and neither facts nor the
 * profile of its session. The links between lines are not checked.
 */
export const auditFormat: RowFormat = {
  fits: (row) => ['type', 'seq', 'prev', 'hash'].every((name) => Object.hasOwn(row, name)),
  read(row, where) {
    // The end of a call repeats its start, and a resumed call is judged once, as it arrived.
    if (row.type !== 'call' || row.attempt !== 1) return noCall;
    return recordOf(row, where);
  },
};

function recordOf(row: JsonObject, where: string): BacktestRecord {
  const input = Object.hasOwn(row, 'arguments') ? row.arguments : undefined;
  if (input === undefined || (typeof input === 'string' && input.startsWith('hmac-sha256:')))
    throw new MisuseError(
      'invalid_file',
      `${where}: expected \`arguments\` to hold the arguments of the call, got ` +
        `${input === undefined ? 'none' : 'a hash'}. Only an audit log with \`content: ` +
        '"redacted"` can be judged again.',
    );
  const { callId, tool, principal, at, sessionId, surface } = row;
  return { callId, toolName: tool, input, principal, at, sessionId, surface } as BacktestRecord;
}
