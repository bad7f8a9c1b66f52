/**
 * Codes, tokens and tickets: from a cryptographic source, kept as hashes, compared in constant
 * time.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** An alias for pairing, never a credential: 40 bits that people can read out. */
export function newCode(): string {
  // 256 is a multiple of 32: no letter is likelier than another.
  return Array.from(randomBytes(8), (byte) => alphabet[byte & 31]).join('');
}

/** True for what {@link newCode} makes. */
export function isCode(text: string): boolean {
  return /^[A-Z2-7]{8}$/.test(text);
}

/** 256 bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is kept of a token: sha256 as hex. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compares two hashes in a time that tells nothing. */
export function sameHash(one: string, other: string): boolean {
  const left = Buffer.from(one, 'latin1');
  const right = Buffer.from(other, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Enough of a code to follow a session through a log, and too little to join it. */
export function logName(code: string): string {
  return hashOf(code).slice(0, 6);
}
