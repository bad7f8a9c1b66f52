/** The scopes that a server says a call needs, within bounds: a person is asked for them. */
import { isScopeName } from '../../../values/options/scope-names.ts';

/** A server may ask for more and more. */
const mostScopes = 64;

/** The valid scopes of a text, as OAuth writes them. */
export function scopesIn(text: unknown): readonly string[] {
  return typeof text === 'string' ? text.split(' ').filter(isScopeName).slice(0, mostScopes) : [];
}

/** All of them, each once. Those that come first are kept. */
export function scopeUnion(...lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())].slice(0, mostScopes);
}

/** Which scopes the logins of one import ask for. */
export interface AskedScopes {
  /** A call needs these as well. */
  note(needed: readonly string[]): void;
  /** What calls have needed, and what the host asks for. */
  all(): readonly string[];
  /** @param said what the server's challenge or metadata says */
  of(said: string | undefined): string | undefined;
}

/** @param own the host's scopes, which count in place of what the server says at first */
export function askedScopes(own: readonly string[] | undefined): AskedScopes {
  let needed: readonly string[] = [];
  return {
    note(more) {
      needed = scopeUnion(needed, more);
    },
    all: () => scopeUnion(own ?? [], needed),
    of(said) {
      if (own === undefined) return said;
      // The SDK adds this one where it leads to a token that can be renewed.
      const renewal = scopesIn(said).filter((scope) => scope === 'offline_access');
      return scopeUnion(own, needed, renewal).join(' ');
    },
  };
}
