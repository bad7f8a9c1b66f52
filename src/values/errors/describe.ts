/** Values and thrown errors in words, for messages and logs. */
import { messageFromParts, ownMessage } from './message-from-parts.ts';

/** A value in a message: its type and a short view of it, even if reading it throws. */
export function describe(value: unknown): string {
  try {
    return shortView(value);
  } catch {
    // The value is a revoked proxy.
    return 'an object that cannot be read';
  }
}

function shortView(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'string')
    return `\`${value.length > 60 ? `${value.slice(0, 57)}...` : value}\` (string)`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'function') return 'a function';
  return `\`${String(value)}\` (${typeof value})`;
}

/**
 * The message of any thrown value, even if reading it throws. An error without a message is
 * described by its name, code, inner errors and cause.
 */
export function messageOf(thrown: unknown): string {
  try {
    return ownMessage(thrown) ?? messageFromParts(thrown) ?? describe(thrown);
  } catch {
    return 'an error that cannot be shown';
  }
}

/**
 * The name of an error, or the type of anything else that was thrown. For logs that must not
 * contain messages.
 */
export function errorName(thrown: unknown): string {
  try {
    return thrown instanceof Error ? String(thrown.name) : typeof thrown;
  } catch {
    // The value is a revoked proxy, or an error whose `name` getter throws.
    return typeof thrown;
  }
}
