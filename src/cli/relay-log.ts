/** The log of `relay`: JSON lines on standard error. */
import type { RelayLogger } from '../surfaces/relay/index.ts';
import { jsonText } from './printable.ts';
import type { Screen } from './screen.ts';

/**
 * Writes one JSON document per line, with its time. An error, which JSON would leave empty, has its
 * stack.
 */
export function relayLogger(screen: Screen): RelayLogger {
  const written = (_: string, value: unknown): unknown =>
    value instanceof Error
      ? { type: value.name, message: value.message, stack: value.stack, cause: value.cause }
      : value;
  const at = (level: string) => (data: object, message?: string) => {
    const line = { level, time: new Date().toISOString(), ...data, msg: message ?? '' };
    screen.note(jsonText(JSON.parse(JSON.stringify(line, written))).replace(/\s*\n\s*/g, ' '));
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

/** A screen whose notes are log lines, so that a program can read every line. */
export function screenOfLog(screen: Screen, logger: RelayLogger): Screen {
  return { ...screen, note: (text) => logger.warn({}, text) };
}
