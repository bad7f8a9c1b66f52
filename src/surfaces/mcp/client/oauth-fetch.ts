/** The requests of a login: where they may go, and which answers are accepted. */
import { isJsonObject } from '../../../values/json/index.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import { boundedFetch } from './fetch.ts';
import { smallBounds } from './message-guard.ts';

/** Sends one request of a login. @throws Error for an address that must not be asked */
export type OAuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const mostBytes = 1_048_576;
const requestMs = 30_000;
const maxRedirects = 5;

/**
 * Answers must be small and arrive soon. Redirects are followed only within an origin, and only to
 * where {@link checkAddress} allows.
 * @param server the address of the server that is signed in to
 */
export function oauthFetch(server: URL): OAuthFetch {
  const once = boundedFetch(
    (url, init) => {
      checkAddress(server, new URL(url));
      return fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(requestMs) });
    },
    { maxBytes: mostBytes, bounds: () => smallBounds },
  );
  return async (url, init) => {
    let at = new URL(url);
    for (let followed = 0; ; followed++) {
      const response = await once(at, init);
      if (!response.ok && init?.body instanceof URLSearchParams)
        return refusal(response, init.body);
      const target = response.headers.get('location');
      // The SDK follows redirects itself where it needs them.
      const isFollowed = init?.redirect === undefined && /^30[78]$/.test(String(response.status));
      if (!isFollowed || target === null || followed === maxRedirects) return response;
      const next = URL.canParse(target, at.href) ? new URL(target, at) : undefined;
      if (next?.origin !== at.origin) return response;
      await response.body?.cancel();
      at = next;
    }
  };
}

/** The parameters of a token request that no one else may read. */
const secrets = ['refresh_token', 'code', 'code_verifier', 'client_secret'] as const;

/**
 * Why tokens were refused, without the parameters that were sent. The SDK writes all of them to
 * standard error and into its errors.
 */
async function refusal(response: Response, sent: URLSearchParams): Promise<Response> {
  const given: unknown = await response.json().catch(() => undefined);
  const { error, error_description: why } = isJsonObject(given) ? given : {};
  const known = typeof error === 'string' && /^\w{1,64}$/.test(error);
  let text = known ? cleanLine(why, 8_192) : `HTTP ${response.status}`;
  for (const name of secrets)
    for (const value of sent.getAll(name))
      if (value !== '') text = text.replaceAll(value, '[redacted]');
  const told = { error: known ? error : 'server_error', error_description: cleanLine(text, 500) };
  return Response.json(told, { status: response.status });
}

/**
 * A server names the addresses of its login. Without this check, any server could cause requests to
 * programs on the user's machine, or an unencrypted login. Only the address itself is checked,
 * because a name may resolve to anything later.
 * @throws Error
 */
export function checkAddress(server: URL, address: URL): void {
  if (address.origin === server.origin) return;
  const isNear = isOwnMachine(server);
  if (address.protocol === 'https:' && (isNear || !isOwnMachine(address))) return;
  if (address.protocol === 'http:' && isNear && isOwnMachine(address)) return;
  throw new Error(
    `The server \`${server.origin}\` named \`${address.origin}\` for the login. Expected https, ` +
      'and an address that is not on this machine.',
  );
}

/** Loopback, and link-local addresses, at which clouds give a machine's programs their keys. */
function isOwnMachine({ hostname }: URL): boolean {
  return (
    /^(?:(?:.+\.)?localhost\.?|127\..*|0\.0\.0\.0|169\.254\..*)$/.test(hostname) ||
    /^\[(?:::1?|::ffff:(?:7f|a9fe:).*|fe[89ab].*)\]$/.test(hostname)
  );
}
