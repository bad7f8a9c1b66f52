/** Checks which relay and session a connection is for. */
import type { RelayClientOptions } from './options.ts';
import { type RelayClientError, relayClientError } from './relay-client-error.ts';

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
