/** Telling the host's logger: never secrets, never so often that the log is the next fault, and never at the cost of a request. */
import { cleanLine } from '../shown/outside-text.ts';
import type { RelayLogger } from './settings.ts';

/** Tells of a failure; of each kind at most once in ten seconds, with the number of those left out. @param kind such as `store` */
export type Report = (kind: string, error: unknown) => void;

const quietMs = 10_000;

/** A logger that never throws. */
export function safeLogger(logger: RelayLogger | undefined): RelayLogger {
  const tell = (level: keyof RelayLogger, data: object, message: string | undefined): void => {
    try {
      logger?.[level](data, message);
    } catch {
      // Whoever is told of faults must not make one.
    }
  };
  return {
    info: (data, message) => tell('info', data, message),
    warn: (data, message) => tell('warn', data, message),
    error: (data, message) => tell('error', data, message),
  };
}

/** Makes a report for one relay. */
export function createReport(logger: RelayLogger): Report {
  const kinds = new Map<string, { until: number; leftOut: number }>();
  return (kind, error) => {
    const time = performance.now();
    const known = kinds.get(kind) ?? { until: 0, leftOut: 0 };
    kinds.set(kind, known);
    if (time < known.until) {
      known.leftOut++;
      return;
    }
    logger.error({ kind, error: faultLine(error), ...(known.leftOut > 0 ? { leftOut: known.leftOut } : {}) }, `The relay met a fault: ${kind}`);
    known.until = time + quietMs;
    known.leftOut = 0;
  };
}

/** A fault in a line: its name and message, without what could be a token. */
export function faultLine(error: unknown): string {
  let text = 'an unreadable error';
  try {
    text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    // A getter that throws, a revoked proxy.
  }
  return cleanLine(text.slice(0, 2_000).replace(/[\w-]{32,}/g, '[hidden]'), 500);
}
