/**
 * Telling the host's logger: never secrets, never so often that the log is the next fault, and
 * never at the cost of a request.
 */
import { loggedError, logTo } from '../surface-port.ts';
import { cleanLine } from '../surfaces/shared/outside-text.ts';
import type { RelayLogger } from './settings.ts';

/**
 * Tells of a failure; of each kind at most once in ten seconds, with the number of those left out.
 * @param kind such as `store`
 */
export type Report = (kind: string, error: unknown) => void;

const quietMs = 10_000;

/** A logger that may be missing, throw or reject, and affects nothing. */
export function safeLogger(logger: RelayLogger | undefined): RelayLogger {
  const tell =
    (level: keyof RelayLogger) =>
    (data: object, message = ''): void =>
      logTo(logger, level, data, message);
  return { info: tell('info'), warn: tell('warn'), error: tell('error') };
}

/** Makes a report for one relay: `logger.error({ kind, err, leftOut? })`. */
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
    logger.error(
      { kind, err: faultOf(error), ...(known.leftOut > 0 ? { leftOut: known.leftOut } : {}) },
      `The relay met a fault: ${kind}`,
    );
    known.until = time + quietMs;
    known.leftOut = 0;
  };
}

const mostLines = 40;

/**
 * An error as logs get it: with its stack and its causes, and without what could be a token or a
 * password.
 */
export function faultOf(error: unknown): unknown {
  return loggedError(error, scrub);
}

/**
 * Tokens are long words, passwords stand in addresses. Hidden before anything is cut: half of a
 * token is a secret too.
 */
function scrub(text: string): string {
  const hidden = text.replace(/[\w-]{32,}/g, '[hidden]').replace(/\/\/[^\s/@]+@/g, '//[hidden]@');
  return hidden
    .split('\n', mostLines)
    .map((line) => cleanLine(line, 500))
    .join('\n    ');
}
