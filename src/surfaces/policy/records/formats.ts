/** All formats of recorded calls. A further format is a file of this folder and an entry here. */
import { isJsonObject, type JsonValue } from '../../../values/json/index.ts';
import type { BacktestRecord } from '../record.ts';
import { auditFormat } from './audit-format.ts';
import type { DocumentFormat, noCall, RowFormat } from './format.ts';
import { tapeFormat } from './tape-format.ts';

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
