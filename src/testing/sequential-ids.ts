/** Ids that a test can write down. */

/**
 * A `newId` that counts from 1: `call-1`, `call-2`. Each one made counts for itself. @default
 * prefix "call"
 */
export function sequentialIds(prefix = 'call'): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}
