/** The ways in which a secret may be written in a text. */

/** Replaces a secret. */
export const redacted = '[redacted]';

/**
 * Writes a secret in one way. The start of a secret must give the start of its spelling, because
 * the search looks for starts first.
 */
export type Spelling = (secret: string) => string;

/** A part of a base64 text that is shorter than this could be an ordinary word. */
const leastBase64 = 6;

/**
 * Unchanged; in JSON text, and in JSON text within JSON text; in URLs and forms; in base64 (of the
 * UTF-8 bytes, at any offset in longer data) and in hex. The search ignores the case of ASCII
 * letters, which covers upper-case copies and both cases of hex digits, also after percent signs.
 */
export const spellings: readonly Spelling[] = [
  (secret) => secret,
  escaped,
  (secret) => escaped(escaped(secret)),
  percentEncoded,
  (secret) => percentEncoded(secret).replaceAll('%20', '+'),
  (secret) => encodeURI(secret.toWellFormed()),
  (secret) => new URLSearchParams([['', secret]]).toString().slice(1),
  (secret) => base64(secret, 0),
  (secret) => base64(secret, 1),
  (secret) => base64(secret, 2),
  (secret) => base64(secret, 0, 'base64url'),
  (secret) => base64(secret, 1, 'base64url'),
  (secret) => base64(secret, 2, 'base64url'),
  (secret) => Buffer.from(secret, 'utf8').toString('hex'),
];

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function percentEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/**
 * The characters of a base64 text that depend only on these bytes, when `before` bytes (0 to 2)
 * precede them in a group of three. A character at either end may hold bits of its neighbours, so
 * it is left out.
 */
function base64(
  secret: string,
  before: number,
  encoding: 'base64' | 'base64url' = 'base64',
): string {
  const bytes = Buffer.from('\0'.repeat(before) + secret, 'utf8');
  const part = bytes
    .toString(encoding)
    .slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
  return part.length < leastBase64 ? '' : part;
}
