/**
 * Makes and compares codes, tokens and tickets. They come from a cryptographic source, are stored
 * as hashes and are compared in constant time.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Makes a session code of 40 bits, which people can read out. It is an alias for pairing, never a
 * credential.
 */
export function newCode(): string {
  // 256 is a multiple of 32, so all letters are equally likely.
  return Array.from(randomBytes(8), (byte) => alphabet[byte & 31]).join('');
}

/** True for text in the form that {@link newCode} makes. */
export function isCode(text: string): boolean {
  return /^[A-Z2-7]{8}$/.test(text);
}

/** Makes a token of 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Makes the stored form of a token, which is its SHA-256 as hex. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  const left = Buffer.from(one, 'latin1');
  const right = Buffer.from(other, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Names of sessions that were logged lately. */
const logNames = new Map<string, string>();
const maxLogNames = 1_000;

/**
 * Makes a short name of a session for logs. It identifies the session but does not reveal its code.
 */
export function logName(code: string): string {
  let name = logNames.get(code);
  if (name === undefined) {
    name = hashOf(code).slice(0, 6);
    if (logNames.size >= maxLogNames) logNames.clear();
    logNames.set(code, name);
  }
  return name;
}
