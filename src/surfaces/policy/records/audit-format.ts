/** The lines of an audit log, as `host-tools/audit` writes them. */
import { MisuseError } from '../../../core.ts';
import type { JsonObject } from '../../../values/json/index.ts';
import type { BacktestRecord } from '../record.ts';
import { noCall, type RowFormat } from './format.ts';

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
