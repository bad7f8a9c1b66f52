/** Rules tried on recorded calls. */

export type { BacktestOptions, BacktestRecords } from './backtest.ts';
export { backtest } from './backtest.ts';
export { type ReadRecordsOptions, readRecords } from './read-records.ts';
export type { BacktestRecord } from './record.ts';
export type {
  BacktestChange,
  BacktestResult,
  BacktestRule,
  BacktestSummary,
  EffectCounts,
} from './result.ts';
