/** All formats of recorded calls. A further format is an entry here. */
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import type { Tape, TapeCall } from '../../testing/tape/tape.ts';
import { readTape } from '../../testing/tape/tape-reading.ts';
import type { BacktestRecord } from '../record.ts';
import { auditFormat, type DocumentFormat, type noCall, type RowFormat } from './audit-format.ts';

// Tapes, as `recordTape` makes them.

/** A tape contains the calls of one session. It has no times, no facts and no principal. */
const tapeFormat: DocumentFormat = {
  fits: (document) => Object.hasOwn(document, 'calls') && Object.hasOwn(document, 'tools'),
  read: (document, where) => callsOf(readTape(document, where)),
};

function callsOf({ calls }: Tape): readonly BacktestRecord[] {
  const seen = new Set<string>();
  return calls.filter((call) => isFirst(call, seen)).map(recordOfCall);
}

/** A call that was suspended and resumed is on the tape twice. It is judged once, as it arrived. */
function isFirst({ callId, attempt = 1 }: TapeCall, seen: Set<string>): boolean {
  if (attempt > 1 && seen.has(callId)) return false;
  seen.add(callId);
  return true;
}

function recordOfCall({ callId, tool, input }: TapeCall): BacktestRecord {
  return { callId: callId.slice(0, 1_024), toolName: tool, input, sessionId: 'tape' };
}

const documentFormats: readonly DocumentFormat[] = [tapeFormat];

/** The formats of rows, except {@link BacktestRecord}, which is the format of all other rows. */
const rowFormats: readonly RowFormat[] = [auditFormat];

/** The format of a document; undefined if it has none, so that it may be a row. */
export function documentFormatOf(value: JsonValue): DocumentFormat | undefined {
  return isJsonObject(value) ? documentFormats.find((format) => format.fits(value)) : undefined;
}

/** The call of a row. A row in no other format is passed on, to be read as a record. */
export function recordOf(row: unknown, where: string): BacktestRecord | typeof noCall {
  const json = row as JsonValue;
  if (!isJsonObject(json)) return row as BacktestRecord;
  const format = rowFormats.find((one) => one.fits(json));
  return format === undefined ? (row as BacktestRecord) : format.read(json, where);
}
