/** A ready resolver: exchanges what a host knows of a person for a token (RFC 8693). */

import type { CredentialRequest, CredentialResolver } from '../../api/credentials.ts';
import { readBodyText } from '../../values/http/body.ts';
import { isProtected, webAddress } from '../../values/http/web-address.ts';
import { isJsonObject, type JsonValue } from '../../values/json/index.ts';
import type { MaybePromise } from '../../values/maybe-promise.ts';
import {
  fn,
  kind,
  readOptions,
  required,
  type TableOf,
  text,
  withDefault,
  wrongOption,
} from '../../values/options/index.ts';
import { safeFault } from './answer.ts';
import { clientAssertion, readPrivateKey } from './client-assertion.ts';

/** Options of {@link tokenExchange}. */
export interface TokenExchangeOptions {
  /** The token endpoint: `https:`, or `http:` on the loopback. */
  readonly tokenUrl: string | URL;
  /** The client that the host is. */
  readonly clientId: string;
  /** Its secret, which is sent as HTTP Basic. Give this or `privateKey`. @default none */
  readonly clientSecret?: string | undefined;
  /**
   * Its key as PEM (PKCS 8: RSA, P-256 or Ed25519), which signs an assertion for each request
   * (RFC 7523) instead. @default none
   */
  readonly privateKey?: string | undefined;
  /** The id of the key, for the header of assertions. @default none */
  readonly keyId?: string | undefined;
  /** The token that stands for the person: the one with which they came to the host. */
  readonly subjectToken: (request: CredentialRequest) => MaybePromise<string>;
  /** Its type. @default "urn:ietf:params:oauth:token-type:access_token" */
  readonly subjectTokenType?: string | undefined;
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: typeof fetch | undefined;
}

const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const table = {
  tokenUrl: required(kind<string | URL>('an `https:` address', (value) => isTokenUrl(value))),
  clientId: required(text(1, 1_024)),
  clientSecret: text(1, 16_384),
  privateKey: text(1, 65_536),
  keyId: text(1, 1_024),
  subjectToken: required(fn<TokenExchangeOptions['subjectToken']>()),
  subjectTokenType: withDefault(text(1, 1_024), accessToken),
  fetch: fn<typeof fetch>(),
} satisfies TableOf<TokenExchangeOptions>;

function isTokenUrl(value: unknown): boolean {
  const url = webAddress(value);
  return url !== undefined && isProtected(url) && url.username === '' && url.password === '';
}

const where = 'tokenExchange';
const maxAnswerBytes = 262_144;

/**
 * Makes a resolver that asks a server for a token of the person, by a token exchange (RFC 8693): it
 * sends the subject's token, the audience and the scopes of the need. Nothing is kept, so each call
 * asks. A redirect is not followed, since the request has secrets. What the server refuses, or
 * answers wrongly, is `credentials_unavailable`, and the log has the status and the error code of
 * OAuth.
 * @throws MisuseError `invalid_option`.
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { tokenExchange } from 'host-tools/credentials';
 *
 * declare const secret: string; // yours
 * declare function sessionToken(principal: string | undefined): string;
 * const registry = new HostToolRegistry({
 *   credentials: tokenExchange({
 *     tokenUrl: 'https://login.example.com/oauth/token',
 *     clientId: 'agent-host',
 *     clientSecret: secret,
 *     subjectToken: ({ principal }) => sessionToken(principal),
 *   }),
 * });
 * ```
 */
export function tokenExchange(options: TokenExchangeOptions): CredentialResolver {
  const read = readOptions(where, options, table);
  const { tokenUrl, clientId, clientSecret, privateKey, keyId } = read;
  if ((clientSecret === undefined) === (privateKey === undefined))
    throw wrongOption(where, 'clientSecret', 'given, or `privateKey`, and not both', clientSecret);
  const url = new URL(String(tokenUrl)).href;
  const key = privateKey === undefined ? undefined : readPrivateKey(where, privateKey);
  return async (request) => {
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await read.subjectToken(request),
      subject_token_type: read.subjectTokenType,
      requested_token_type: accessToken,
    });
    if (request.audience !== undefined) body.set('audience', request.audience);
    if (request.scopes.length > 0) body.set('scope', request.scopes.join(' '));
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (key === undefined) headers.Authorization = basic(clientId, clientSecret as string);
    else {
      body.set('client_id', clientId);
      body.set('client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
      body.set('client_assertion', clientAssertion(key, { clientId, audience: url, keyId }));
    }
    const init = {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: request.signal,
    } as const;
    return answerOf(await (read.fetch ?? fetch)(url, init));
  };
}

/** RFC 6749, 2.3.1: both are encoded as in a form. */
function basic(id: string, secret: string): string {
  const [user, password] = [id, secret].map((part) =>
    new URLSearchParams([['', part]]).toString().slice(1),
  );
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
}

/** Whatever the server sends, a fault says nothing of it but its status and a known code. */
async function answerOf(response: Response) {
  const { status } = response;
  const body = await readBodyText(response, maxAnswerBytes);
  const answer = 'text' in body ? parsed(body.text) : undefined;
  if (status !== 200) throw safeFault(`The token endpoint answered ${status}${codeIn(answer)}.`);
  if (!isJsonObject(answer)) throw safeFault('The token endpoint did not answer a JSON object.');
  const { access_token: token, token_type: type, expires_in: seconds } = answer;
  if (typeof token !== 'string' || typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw safeFault('The token endpoint answered no `access_token` of the type `Bearer`.');
  if (seconds === undefined) return { token };
  const lasts = Number(seconds);
  if (!(lasts > 0)) throw safeFault('The token endpoint answered a wrong `expires_in`.');
  return { token, expiresAt: Date.now() + lasts * 1_000 };
}

function parsed(body: string): JsonValue | undefined {
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    return undefined;
  }
}

const codes: readonly unknown[] = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'invalid_scope',
  'invalid_target',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_token_type',
  'temporarily_unavailable',
];

function codeIn(answer: JsonValue | undefined): string {
  const code = isJsonObject(answer) ? answer.error : undefined;
  return codes.includes(code) ? ` with \`${String(code)}\`` : '';
}
