/**
 * Reports failures to the host's logger. Secrets are hidden, repeated failures do not flood the
 * log, and a logger that fails does not affect requests.
 */
import { loggedError, logTo } from '../../values/logging.ts';
import { cleanLine } from '../shared/outside-text.ts';
import type { RelayLogger } from './settings.ts';

/**
 * Logs a failure. Each kind is logged at most once in ten seconds. The next line says how many
 * failures were left out.
 * @param kind such as `store`
 */
export type Report = (kind: string, error: unknown) => void;

const quietMs = 10_000;

/** Wraps a logger that may be missing, throw or reject, so that it affects nothing else. */
export function safeLogger(logger: RelayLogger | undefined): RelayLogger {
  const tell =
    (level: keyof RelayLogger) =>
    (data: object, message = ''): void =>
      logTo(logger, level, data, message);
  return { info: tell('info'), warn: tell('warn'), error: tell('error') };
}

/** Makes the report function of a relay, which calls `logger.error({ kind, err, leftOut? })`. */
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

const maxLines = 40;

/**
 * Prepares an error for the log, with its stack and its causes and without anything that could be a
 * token or a password.
 */
export function faultOf(error: unknown): unknown {
  return loggedError(error, scrub);
}

/**
 * Hides long words, which may be tokens, and passwords in addresses. This happens before lines are
 * cut, since half a token is a secret too.
 */
function scrub(text: string): string {
  const hidden = text.replace(/[\w-]{32,}/g, '[hidden]').replace(/\/\/[^\s/@]+@/g, '//[hidden]@');
  return hidden
    .split('\n', maxLines)
    .map((line) => cleanLine(line, 500))
    .join('\n    ');
}
