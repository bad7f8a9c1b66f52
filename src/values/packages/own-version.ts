/**
 * The version of this package. It is a constant, because a bundled application does not contain our
 * package.json. A test compares the two.
 */
export const packageVersion = '0.1.0';
