/**
 * The version of this package. A constant, because a bundled application has no package.json of
 * ours to read; a test compares the two.
 */
export const packageVersion = '0.1.0';
