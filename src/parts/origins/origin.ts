/**
 * The terms for origins: where a value came from, what an argument is for, and where it was seen.
 */

/** The value of an argument that cannot be read. */
export const unreadValue = '…';
