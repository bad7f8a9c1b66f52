/** Tapes, as `recordTape` makes them. */
import type { Tape, TapeCall } from '../../testing/tape/tape.ts';
import { readTape } from '../../testing/tape/tape-reading.ts';
import type { BacktestRecord } from '../record.ts';
import type { DocumentFormat } from './format.ts';

/** A tape contains the calls of one session. It has no times, no facts and no principal. */
export const tapeFormat: DocumentFormat = {
  fits: (document) => Object.hasOwn(document, 'calls') && Object.hasOwn(document, 'tools'),
  read: (document, where) => callsOf(readTape(document, where)),
};

function callsOf({ calls }: Tape): readonly BacktestRecord[] {
  const seen = new Set<string>();
  return calls.filter((call) => isFirst(call, seen)).map(recordOf);
}

/** A call that was suspended and resumed is on the tape twice. It is judged once, as it arrived. */
function isFirst({ callId, attempt = 1 }: TapeCall, seen: Set<string>): boolean {
  if (attempt > 1 && seen.has(callId)) return false;
  seen.add(callId);
  return true;
}

function recordOf({ callId, tool, input }: TapeCall): BacktestRecord {
  return { callId: callId.slice(0, 1_024), toolName: tool, input, sessionId: 'tape' };
}
