/** The assertion with which a client proves who it is, signed with its key (RFC 7523). */
import type { KeyObject } from 'node:crypto';
import { nodeCrypto, randomUUID } from '../../values/crypto.ts';
import { MisuseError } from '../../values/errors/index.ts';

/** A key, and the algorithm of JWS that it signs with. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: 'RS256' | 'ES256' | 'EdDSA';
}

const lifetimeSeconds = 60;

/** @throws MisuseError `invalid_option`. The message has nothing of the key. */
export function readPrivateKey(where: string, pem: string): SigningKey {
  try {
    const key = nodeCrypto().createPrivateKey(pem);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    if (type === 'rsa' && (details?.modulusLength ?? 0) >= 2_048) return { key, alg: 'RS256' };
    if (type === 'ec' && details?.namedCurve === 'prime256v1') return { key, alg: 'ES256' };
    if (type === 'ed25519') return { key, alg: 'EdDSA' };
  } catch {
    // The error may quote what it could not read.
  }
  throw new MisuseError(
    'invalid_option',
    `${where}: expected \`privateKey\` to be the PEM of a private key without a passphrase: RSA ` +
      'of at least 2048 bits, P-256 or Ed25519.',
  );
}

/** Makes an assertion that is good for a minute, once. */
export function clientAssertion(
  { key, alg }: SigningKey,
  {
    clientId,
    audience,
    keyId,
  }: {
    readonly clientId: string;
    readonly audience: string;
    readonly keyId: string | undefined;
  },
): string {
  const now = Math.floor(Date.now() / 1_000);
  const header = { alg, typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) };
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: audience,
    jti: randomUUID(),
    iat: now,
    exp: now + lifetimeSeconds,
  };
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part), 'utf8').toString('base64url'))
    .join('.');
  const signature = nodeCrypto().sign(
    alg === 'EdDSA' ? null : 'sha256',
    Buffer.from(signed, 'utf8'),
    { key, dsaEncoding: 'ieee-p1363' },
  );
  return `${signed}.${signature.toString('base64url')}`;
}
