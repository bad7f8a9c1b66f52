/** OpenTelemetry: spans and a metric for the calls of a registry. */
export { type InstrumentOptions, instrument } from './instrument.ts';
