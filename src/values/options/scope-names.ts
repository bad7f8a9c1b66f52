/** Scopes of OAuth, as tools need them and callers have them. */
import { arrayOf, kind } from './kinds.ts';

/** A scope token of RFC 6749: printable ASCII without a blank, `"` and `\`. */
export const scopeToken = /^[!#-[\]-~]{1,256}$/;

export function isScopeName(value: unknown): value is string {
  return typeof value === 'string' && scopeToken.test(value);
}

/** What rules and tools call a scope among the facts. */
export const scopeFact = 'scope.';

export const scopeNames = arrayOf(
  kind<string>('a scope', isScopeName),
  'scopes of 1 to 256 printable ASCII characters, without blanks, `"` and `\\`',
);

/** The scopes of a call that was kept; undefined where none were. */
export function keptScopes(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter(isScopeName) : undefined;
}
