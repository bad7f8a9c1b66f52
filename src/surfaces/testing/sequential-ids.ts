/** Ids that a test can predict. */

/**
 * Makes a `newId` that counts from 1: `call-1`, `call-2`. Each one has a counter of its own.
 * @default prefix "call"
 *
 * @example
 * ```ts
 * import { HostToolRegistry } from 'host-tools';
 * import { sequentialIds } from 'host-tools/testing';
 *
 * const registry = new HostToolRegistry({ newId: sequentialIds() }); // call-1, call-2, …
 * ```
 */
export function sequentialIds(prefix = 'call'): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}
