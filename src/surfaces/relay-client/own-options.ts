/**
 * Reads options as the rest of the package does: only own members count, and an unknown name throws
 * an error that suggests the name that was probably meant.
 */

import type { RelayClientOptions } from './options.ts';
import { type RelayClientError, relayClientError } from './relay-client-error.ts';

/** Names that other libraries use, with those of this one. */
const wordsOfOthers: ReadonlyMap<string, string> = new Map([
  ['run', 'handler'],
  ['func', 'handler'],
  ['input_schema', 'parameters'],
  ['schema', 'parameters'],
  ['baseUrl', 'url'],
  ['sessionCode', 'code'],
  ['sessionToken', 'token'],
]);
/** A longer name is not a typing error. */
const longestName = 60;

/**
 * Copies the own members of an options object into one that inherits nothing.
 * @param noun what a member is called in messages
 */
export function ownOptions<T extends object>(
  where: string,
  options: T,
  known: readonly string[],
  noun = 'option',
): Partial<T> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw relayClientError('invalid_options', `${where}: expected an object of ${noun}s.`);
  const own = Object.create(null) as Record<string, unknown>;
  for (const key of Object.keys(options)) {
    if (!known.includes(key))
      throw relayClientError(
        'invalid_options',
        `${where}: unknown ${noun} \`${key.slice(0, longestName)}\`${suggestion(key, known)}`,
      );
    own[key] = (options as Record<string, unknown>)[key];
  }
  return own as Partial<T>;
}

/**
 * Refuses an unknown member that resembles a known one which the object lacks. Other unknown
 * members are allowed.
 */
export function checkSpelling(where: string, value: object, known: readonly string[]): void {
  for (const key of Object.keys(value)) {
    const meant = known.includes(key) ? undefined : probablyMeant(key, known);
    if (meant !== undefined && !(meant in value))
      throw relayClientError(
        'invalid_options',
        `${where}: unknown field \`${key}\`; did you mean \`${meant}\`?`,
      );
  }
}

function suggestion(unknown: string, known: readonly string[]): string {
  const meant = probablyMeant(unknown, known);
  if (meant !== undefined) return `; did you mean \`${meant}\`?`;
  return (
    '; expected ' +
    `${known.length === 1 ? '' : 'one of '}${known.map((name) => `\`${name}\``).join(', ')}`
  );
}

function probablyMeant(unknown: string, known: readonly string[]): string | undefined {
  const word = wordsOfOthers.get(unknown);
  if (word !== undefined && known.includes(word)) return word;
  if (unknown.length > longestName) return undefined;
  const [near] = known
    .map((name) => ({ name, away: distance(unknown.toLowerCase(), name.toLowerCase()) }))
    .sort((one, other) => one.away - other.away);
  const most = Math.min(3, Math.max(1, Math.floor(unknown.length / 3)));
  return near !== undefined && near.away <= most ? near.name : undefined;
}

/** How many letters must be added, removed or changed to turn one text into the other. */
function distance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...from].entries()) {
    const next = [row + 1];
    for (let at = 0; at < to.length; at++)
      next.push(
        Math.min(
          (next[at] as number) + 1,
          (last[at + 1] as number) + 1,
          (last[at] as number) + (to[at] === letter ? 0 : 1),
        ),
      );
    last = next;
  }
  return last[to.length] as number;
}

// Checks which relay and session a connection is for.

/** Where requests go, and with which token. */
export interface Target {
  /** `https://…/api/sessions/CODE`. */
  readonly base: string;
  readonly token: string;
}

/** Reads `url`, `code` and `token`. Throws `invalid_options`, whose message omits the token. */
export function targetOf({
  url,
  code,
  token,
}: Pick<RelayClientOptions, 'url' | 'code' | 'token'>): Target {
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw invalid('token must be the token of the session: 1 to 4096 visible ASCII characters.');
  }
  if (typeof code !== 'string' || !/^[\w-]{1,128}$/.test(code))
    throw invalid('code must be the code of a session: 1 to 128 letters, digits, "_" and "-".');
  const parsed = parse(url);
  if (!/^https?:$/.test(parsed.protocol))
    throw invalid(`url must begin with https: or http:, not ${parsed.protocol}`);
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid('url must not contain a user name or a password.');
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/api\/sessions$/, '');
  return { base: `${parsed.origin}${path}/api/sessions/${code}`, token };
}

function parse(url: string | URL): URL {
  // In a page, the url may be relative to the address of the page.
  const { location } = globalThis as { readonly location?: { readonly href?: string } };
  try {
    return new URL(url, location?.href);
  } catch {
    throw invalid('url must be the address of the relay, such as https://relay.example.com.');
  }
}

function invalid(message: string): RelayClientError {
  return relayClientError('invalid_options', message);
}
