/** Values and thrown errors in words, for messages and logs. */

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

// What an error without a message still says: its name, code, inner errors and cause.

/** No message, and that of `Promise.any`, which leaves what happened to the inner errors. */
const empty = new Set(['', 'All promises were rejected']);
/** Names that say no more than that something was thrown. */
const vague = new Set(['', 'Error', 'Object']);
/** Most levels of inner errors and causes. A cycle always exceeds it. */
const maxLevels = 4;
/** Most inner errors of one error that are read. */
const maxInner = 5;
const longestPart = 500;

/** The message of an error, if it has one of its own. May throw. */
export function ownMessage(thrown: unknown): string | undefined {
  const given: unknown =
    typeof thrown === 'object' && thrown !== null
      ? (thrown as { message?: unknown }).message
      : thrown;
  return typeof given === 'string' && !empty.has(given.trim()) ? given : undefined;
}

/**
 * A text from the other parts of an error or object that has no message of its own, such as
 * `AggregateError [ECONNREFUSED]: connect ECONNREFUSED ::1:5432`. Undefined if they say nothing, or
 * if reading them throws.
 */
export function messageFromParts(thrown: unknown, levels = maxLevels): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || levels === 0) return undefined;
  try {
    const { name, code, message, errors, cause } = thrown as Readonly<Record<string, unknown>>;
    const type = nameOf(thrown, name);
    const inner = [...(Array.isArray(errors) ? errors.slice(0, maxInner) : []), cause]
      .map((one) => (ownMessage(one) ?? messageFromParts(one, levels - 1))?.slice(0, longestPart))
      .filter((text) => text !== undefined);
    const codeText =
      (typeof code === 'string' && code.trim() !== '') || typeof code === 'number'
        ? ` [${String(code).slice(0, longestPart)}]`
        : '';
    if (type === undefined && codeText === '' && inner.length === 0) return undefined;
    const said = typeof message === 'string' ? message.trim() : '';
    const subject = said || (type ?? (thrown instanceof Error ? 'Error' : 'An object'));
    return [
      subject + codeText,
      ...(inner.length === 0 ? [] : [[...new Set(inner)].join('; ')]),
    ].join(': ');
  } catch {
    return undefined;
  }
}

/** The name of an error or, if it has none of its own, that of its class. */
function nameOf(thrown: object, name: unknown): string | undefined {
  const { constructor: made } = thrown;
  const names = [name, typeof made === 'function' ? made.name : undefined];
  return names
    .find((one): one is string => typeof one === 'string' && !vague.has(one.trim()))
    ?.slice(0, longestPart);
}
