/** The name of a running application. */

/**
 * 128 random bits that identify this running application. The relay must not give one call to two
 * applications.
 */
export function clientId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
