/** The host's own headers: what they may be, and what of them must not be shown. */
import { MisuseError } from '../../core.ts';
import { isHeaderName } from './parameters.ts';

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** Headers that belong to the connection. */
const ofConnection = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/** Shorter texts are too likely to occur in what an API answers. */
const leastSecret = 8;

/**
 * Reads headers. Values are never quoted, since they may be credentials.
 * @throws MisuseError `invalid_option`
 */
export function headersOf(given: unknown, what: string): Headers {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong(`Expected ${what} to be an object of texts.`);
  const read = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    if (!isHeaderName(name) || ofConnection.has(key) || read.has(key))
      throw wrong(
        `Expected ${what} to have names of headers, each once and none of the connection, got ` +
          `\`${JSON.stringify(name.slice(0, 100)).slice(1, -1)}\`.`,
      );
    if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw wrong(`Expected ${what} to have one line of Latin-1 characters for \`${key}\`.`);
    read.set(key, value.trim());
  }
  return Object.fromEntries(read);
}

/**
 * Reads members of the query. Values are never quoted, since they may be credentials.
 * @throws MisuseError `invalid_option`
 */
export function queryOf(given: unknown): Readonly<Record<string, string>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong('Expected `query` to be an object of texts.');
  const read = Object.entries(given);
  for (const [name, value] of read)
    if (name === '' || typeof value !== 'string' || !(name + value).isWellFormed())
      throw wrong(
        'Expected `query` to have a text for ' +
          `\`${JSON.stringify(name.slice(0, 100)).slice(1, -1)}\`.`,
      );
  return Object.fromEntries(read);
}

function wrong(message: string): MisuseError {
  return new MisuseError('invalid_option', `importOpenApi: ${message}`);
}

/** Names whose values are credentials. Others, such as a version, may occur in any answer. */
const secret = /auth|token|key|secret|sig|pass|cred|session|cookie|jwt|app_?id/i;

/**
 * What an answer must not repeat: each value, what follows its scheme, and the user and password of
 * a basic one. In the forms of plain text, of JSON and of addresses.
 */
export function secretsIn(headers: Headers, query: Headers): readonly string[] {
  const found = new Set<string>();
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(query)]) {
    if (!secret.test(name)) continue;
    const [, scheme = '', rest = ''] = /^(\w+) +(\S.*)$/.exec(value) ?? [];
    const basic = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : '';
    for (const text of [value, rest, basic, basic.slice(basic.indexOf(':') + 1)])
      for (const form of [text, JSON.stringify(text).slice(1, -1), encoded(text)])
        if (form.length >= leastSecret) found.add(form);
  }
  // The longest first, so that none leaves a remainder.
  return [...found].sort((a, b) => b.length - a.length);
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
