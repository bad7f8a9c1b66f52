/**
 * Approval tokens: signed, expiring, and bound to one call of one principal. A token proves that
 * approval was requested. The store ensures that it is answered once.
 */
import type { Key } from '../../api/approval-store.ts';
import { nodeCrypto } from '../../values/crypto.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { canonicalJson, isJsonObject } from '../../values/json/index.ts';

/** What a token proves. */
export interface TokenClaims {
  readonly v: 1;
  /** The approval's id. */
  readonly id: string;
  readonly sessionId: string;
  readonly principal: string;
  readonly callId: string;
  readonly tool: string;
  readonly fingerprint: string;
  readonly source: string;
  /** The digest of the ids and agents of the chain; absent for a direct call. */
  readonly chain?: string;
  /** The digest of the canonical input. */
  readonly input: string;
  /** Digest of everything else in the record. */
  readonly record: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface TokenSigner {
  sign(claims: TokenClaims): string;
  /** The claims of a genuine token, expired or not; undefined for anything else. */
  verify(token: unknown): TokenClaims | undefined;
  /** Signs a text that is not a token. */
  seal(text: string): string;
  /** Whether one of the keys has made this seal of the text. */
  isSeal(text: string, seal: unknown): boolean;
}

const shortestKey = 32;
/** Room for four names of 1 024 characters, at six bytes per character in JSON, and the rest. */
const longestToken = 65_536;

/**
 * Signs with the first key and verifies with all of them, so that keys can be rotated. Uses
 * HMAC-SHA256, compared in constant time.
 * @throws MisuseError `invalid_option` for a key of less than 32 bytes.
 */
export function createTokenSigner(secret: Key | readonly Key[]): TokenSigner {
  const given = Array.isArray(secret) ? [...(secret as readonly Key[])] : [secret as Key];
  const keys = given.map(readKey);
  const [signing] = keys;
  if (signing === undefined)
    throw new MisuseError(
      'invalid_option',
      'Expected `approvals.secret` to hold at least one key, got none.',
    );
  return {
    sign(claims) {
      const body = Buffer.from(canonicalJson(claims), 'utf8').toString('base64url');
      return `${body}.${macOf(signing, body).toString('base64url')}`;
    },
    seal: (text) => sealOf(signing, text).toString('base64url'),
    isSeal(text, seal) {
      if (typeof seal !== 'string') return false;
      const given = Buffer.from(seal, 'base64url');
      let genuine = false;
      for (const key of keys) {
        const mac = sealOf(key, text);
        if (given.length === mac.length && nodeCrypto().timingSafeEqual(given, mac)) genuine = true;
      }
      return genuine;
    },
    verify(token) {
      if (typeof token !== 'string' || token.length > longestToken) return undefined;
      const dot = token.indexOf('.');
      if (dot < 1 || token.indexOf('.', dot + 1) !== -1) return undefined;
      const body = token.slice(0, dot);
      const given = Buffer.from(token.slice(dot + 1), 'base64url');
      if (given.toString('base64url') !== token.slice(dot + 1)) return undefined;
      let genuine = false;
      for (const key of keys) {
        const mac = macOf(key, body);
        // Every key is tried, so that the time does not reveal which one matched.
        if (given.length === mac.length && nodeCrypto().timingSafeEqual(given, mac)) genuine = true;
      }
      if (!genuine) return undefined;
      try {
        const claims: unknown = JSON.parse(Buffer.from(body, 'base64url').toString('utf8'));
        return isJsonObject(claims) && claims.v === 1
          ? (claims as unknown as TokenClaims)
          : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

function readKey(key: Key): Buffer {
  const bytes =
    typeof key === 'string'
      ? Buffer.from(key, 'utf8')
      : key instanceof Uint8Array
        ? Buffer.from(key)
        : undefined;
  if (bytes !== undefined && bytes.length >= shortestKey) return bytes;
  throw new MisuseError(
    'invalid_option',
    `Expected each \`approvals.secret\` to be a string or bytes of at least ${shortestKey} ` +
      `bytes, got ${bytes === undefined ? typeof key : `${bytes.length} bytes`}. Create one with ` +
      '`openssl rand -hex 32` and keep it out of the code.',
  );
}

function macOf(key: Buffer, body: string): Buffer {
  return nodeCrypto()
    .createHmac('sha256', key)
    .update('host-tools.approval.v1\n')
    .update(body)
    .digest();
}

function sealOf(key: Buffer, text: string): Buffer {
  return nodeCrypto()
    .createHmac('sha256', key)
    .update('host-tools.outcome.v1\n')
    .update(text)
    .digest();
}

/** Remembers ids until they expire. */
export class UsedTokens {
  readonly #expiries = new Map<string, number>();
  #sweepAt = 1_024;

  /** False if the id was used before. @param expiresAt @param now Epoch milliseconds. */
  use(id: string, expiresAt: number, now: number): boolean {
    if (this.#expiries.has(id)) return false;
    this.#expiries.set(id, expiresAt);
    if (this.#expiries.size >= this.#sweepAt) {
      for (const [other, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(other);
      this.#sweepAt = Math.max(1_024, this.#expiries.size * 2);
    }
    return true;
  }
}
