/** The interface of a format of recorded calls. Each format is one file of this folder. */
import type { JsonObject } from '../../../core.ts';
import type { BacktestRecord } from '../record.ts';

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
