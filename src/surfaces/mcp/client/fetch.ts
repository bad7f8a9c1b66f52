/** HTTP with responses that are bounded as they arrive, because the SDK reads them whole. */

import { webAddress } from '../../../values/http/web-address.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { noticeClosed } from '../../../values/limits/stretches.ts';
import type { JsonBounds } from '../../../values/text/json-bounds.ts';
import { cleanLine } from '../../shared/outside-text.ts';
import {
  createMessageGuard,
  maxMessageBytes,
  messageBounds,
  smallBounds,
} from './message-guard.ts';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Options of {@link boundedFetch}. */
export interface BoundedFetchOptions {
  /** Most bytes of one message. @default 8 MB */
  readonly maxBytes?: number;
  /** The bounds of a message, asked as each one begins. @default those of a result */
  readonly bounds?: () => JsonBounds;
  /** Called with the bound that a message exceeds, before its body fails. @default not called */
  readonly exceeded?: (message: string) => void;
}

/**
 * A `fetch` whose response bodies fail once a message exceeds a bound. A stream may go on forever,
 * but each of its events is bounded.
 */
export function boundedFetch(inner: Fetch = fetch, options: BoundedFetchOptions = {}): Fetch {
  return async (url, init) => {
    await noticeClosed();
    const response = await inner(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    // The SDK reads any other body whole.
    const streaming =
      response.ok && /^\s*text\/event-stream\s*(?:;|$)/i.test(headers.get('content-type') ?? '');
    const bounded = new Response(body.pipeThrough(bound(streaming, options)), {
      status,
      statusText,
      headers,
    });
    // The SDK reads these to recognize redirects.
    Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
      type: { value: response.type },
    });
    return bounded;
  };
}

function bound(
  streaming: boolean,
  {
    maxBytes = maxMessageBytes,
    bounds = () => messageBounds,
    exceeded = () => {},
  }: BoundedFetchOptions,
): TransformStream<Uint8Array, Uint8Array> {
  const guard = createMessageGuard(streaming ? 'emptyLine' : 'body', maxBytes, bounds);
  const guarded = (count: () => void): void => {
    try {
      count();
    } catch (error) {
      exceeded((error as Error).message);
      throw error;
    }
  };
  return new TransformStream({
    transform(chunk, controller) {
      guarded(() => guard.take(chunk));
      controller.enqueue(chunk);
    },
    flush() {
      guarded(() => guard.end());
    },
  });
}

// The requests of a login: where they may go, and which answers are accepted.

/** Sends one request of a login. @throws Error for an address that must not be asked */
export type OAuthFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const mostBytes = 1_048_576;
const requestMs = 30_000;
const maxRedirects = 5;

/**
 * Answers must be small and arrive soon. Redirects are followed only within an origin, and only to
 * where {@link checkAddress} allows.
 * @param server the address of the server that is signed in to
 * @param told called with each token that is granted, before it is used
 */
export function oauthFetch(server: URL, told: (secret: string) => void = () => {}): OAuthFetch {
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
      const form = formOf(init);
      if (form !== undefined)
        return response.ok ? granted(response, told) : refusal(response, form, init?.headers);
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
const secrets = [
  'refresh_token',
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
  'assertion',
  'subject_token',
] as const;

/** The parameters of a token request; the SDK writes some of them as a text. */
export function formOf({ body, headers }: RequestInit = {}): URLSearchParams | undefined {
  if (body instanceof URLSearchParams) return body;
  const type = new Headers(headers).get('content-type') ?? '';
  return typeof body === 'string' && /^application\/x-www-form-urlencoded/i.test(type)
    ? new URLSearchParams(body)
    : undefined;
}

/** What was sent that no one else may read. */
function secretsIn(sent: URLSearchParams, headers: RequestInit['headers']): readonly string[] {
  const [, basic = ''] =
    /^basic (.+)$/i.exec(new Headers(headers).get('authorization') ?? '') ?? [];
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(basic, 'base64').toString()) ?? [];
  return [basic, password, ...secrets.flatMap((name) => sent.getAll(name))].filter(Boolean);
}

/**
 * Tokens that a header can carry. Whoever reads or sends another answer would repeat a part of it
 * in an error.
 */
async function granted(response: Response, told: (secret: string) => void): Promise<Response> {
  const given: unknown = await response.json().catch(() => undefined);
  const { access_token: token, refresh_token: renewal } = isJsonObject(given) ? given : {};
  const isSound = isToken(token) && (renewal === undefined || typeof renewal === 'string');
  const { status, headers } = response;
  if (isSound) for (const secret of [token, renewal]) if (secret !== undefined) told(secret);
  if (isSound) return Response.json(given, { status, headers: nonceOf(headers) });
  const why = 'expected a JSON object with an `access_token` of printable ASCII characters';
  return Response.json(
    { error: 'server_error', error_description: why },
    { status: 502, headers: nonceOf(headers) },
  );
}

/** Whether a header can carry it. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[!-~]+$/.test(value);
}

function nonceOf(headers: Headers): Record<string, string> {
  const nonce = headers.get('dpop-nonce');
  return nonce === null ? {} : { 'dpop-nonce': nonce };
}

/**
 * Why tokens were refused, without the parameters that were sent. The SDK writes all of them to
 * standard error and into its errors.
 */
async function refusal(
  response: Response,
  sent: URLSearchParams,
  headers: RequestInit['headers'],
): Promise<Response> {
  const given: unknown = await response.json().catch(() => undefined);
  const { error, error_description: why } = isJsonObject(given) ? given : {};
  const known = typeof error === 'string' && /^\w{1,64}$/.test(error);
  let text = known ? cleanLine(why, 8_192) : `HTTP ${response.status}`;
  for (const value of secretsIn(sent, headers)) text = text.replaceAll(value, '[redacted]');
  const told = { error: known ? error : 'server_error', error_description: cleanLine(text, 500) };
  return Response.json(told, { status: response.status, headers: nonceOf(response.headers) });
}

/**
 * A server names the addresses of its login. Without this check, any server could cause requests to
 * programs on the user's machine, or an unencrypted login. Only the address itself is checked,
 * because a name may resolve to anything later.
 * @throws Error
 */
export function checkAddress(server: URL, address: URL): void {
  if (webAddress(address) === undefined)
    throw new Error('The server named an address for the login that is not a web address.');
  if (address.origin === server.origin) return;
  const isNear = isLoopback(server);
  const isOutside = !isLoopback(address) && (isPrivate(server) || !isPrivate(address));
  const isProtected = address.protocol === 'https:' && (isNear || isOutside);
  // A server on this machine may be one in a container, which cannot ask such an address itself.
  if (!isLinkLocal(address) && (isProtected || (isNear && isLoopback(address)))) return;
  throw new Error(
    `The server \`${server.origin}\` named \`${address.origin}\` for the login. Expected https, ` +
      'and an address that is not on this machine or in a private network.',
  );
}

/** Addresses of private networks, as they are written; a server in one may name others there. */
function isPrivate({ hostname }: URL): boolean {
  const [, second] = /^172\.(\d+)\./.exec(hostname) ?? /^100\.(\d+)\./.exec(hostname) ?? [];
  const [from, to] = hostname.startsWith('172.') ? [16, 31] : [64, 127];
  return (
    /^(?:10\.\d+|192\.168)\.\d+\.\d+$/.test(hostname) ||
    (/^[\d.]+$/.test(hostname) && Number(second) >= from && Number(second) <= to) ||
    /^\[(?:f[cd]|::ffff:(?:a[\da-f]{2}|c0a8|ac1[\da-f]|64[4-7][\da-f]):)/.test(hostname)
  );
}

function isLoopback({ hostname }: URL): boolean {
  return (
    /^(?:(?:.+\.)?localhost\.?|127\..*|0\.0\.0\.0)$/.test(hostname) ||
    /^\[(?:::1?|::ffff:7f.*)\]$/.test(hostname)
  );
}

/** At such addresses clouds give a machine's programs their keys. Some have one of their own. */
function isLinkLocal({ hostname }: URL): boolean {
  return (
    /^(?:169\.254\..*|metadata\.google\.internal\.?)$/.test(hostname) ||
    /^\[(?:::ffff:a9fe:.*|fe[89ab].*|fd00:ec2:.*)\]$/.test(hostname)
  );
}
