/** Tokens that are bound to a key (DPoP, RFC 9449), so that nobody else can use them. */
import type { webcrypto } from 'node:crypto';
import type { DpopSession, OAuthClientProvider } from '@modelcontextprotocol/client';
import { sha256 } from '../../../values/crypto.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { loadSdk } from './sdk.ts';

/** A private key on the curve P-256. Plain JSON, since a login is kept with its key. */
export interface DpopKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  /** The secret. */
  readonly d: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
/** 32 bytes in base64url. */
const coordinate = /^[\w-]{43}$/;

export function isDpopKey(value: unknown): value is DpopKey {
  if (!isJsonObject(value) || value.kty !== 'EC' || value.crv !== 'P-256') return false;
  return [value.x, value.y, value.d].every(
    (one) => typeof one === 'string' && coordinate.test(one),
  );
}

export async function newDpopKey(): Promise<DpopKey> {
  const { privateKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const { x = '', y = '', d = '' } = await crypto.subtle.exportKey('jwk', privateKey);
  return { kty: 'EC', crv: 'P-256', x, y, d };
}

/** What signs with a key. It remembers what servers say that the next signature must have. */
export async function dpopSession({ kty, crv, x, y, d }: DpopKey): Promise<DpopSession> {
  const publicJwk = { kty, crv, x, y };
  const take = (key: webcrypto.JsonWebKey, use: 'sign' | 'verify') =>
    crypto.subtle.importKey('jwk', key, algorithm, false, [use]);
  const [privateKey, publicKey] = await Promise.all([
    take({ ...publicJwk, d }, 'sign'),
    take(publicJwk, 'verify'),
  ]);
  // The members in the order of RFC 7638.
  const thumbprint = sha256(JSON.stringify({ crv, kty, x, y }), 'base64url');
  const keyPair = { privateKey, publicKey, publicJwk, thumbprint, alg: 'ES256' } as const;
  return (await loadSdk()).DpopSession.create({ keyPair });
}

/** Binds the tokens of a provider to a key. It takes no others. */
export function bindTokens<Provider extends OAuthClientProvider>(
  provider: Provider,
  session: () => Promise<DpopSession>,
): Provider {
  const save = provider.saveTokens.bind(provider);
  return Object.assign(provider, {
    dpop: session,
    saveTokens(...given: Parameters<OAuthClientProvider['saveTokens']>) {
      if (isBound(given[0])) return save(...given);
      throw new Error(
        'Expected a token that is bound to the key of this client (token_type DPoP), got ' +
          'another one. The authorization server does not bind tokens; leave `dpop` out.',
      );
    },
  });
}

/** Whether a token needs the signature of its key. */
export function isBound(tokens: { readonly token_type?: unknown } | undefined): boolean {
  return typeof tokens?.token_type === 'string' && tokens.token_type.toLowerCase() === 'dpop';
}
