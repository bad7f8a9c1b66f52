/**
 * The names of keys. All keys of one session have the same hash tag, so that a cluster keeps them
 * on one server.
 */
import type { Store } from '../../api/store.ts';

/** The hash tag `{…}` for any string. It has no other braces and is never empty. */
function tag(name: string): string {
  // JSON escapes lone surrogates, which could not be encoded.
  return `{${encodeURIComponent(JSON.stringify(name).slice(1, -1)) || '%'}}`;
}

/** The due items of all sessions. */
export function dueKey(prefix: string): string {
  return `${prefix}:due`;
}

/** What the names of all keys and channels of a space start with. They share a hash tag. */
export function rootOf(prefix: string, space: Store.Space): string {
  return isSession(space)
    ? `${prefix}:session:${tag(space.session)}`
    : `${prefix}:shared:${tag(space.shared)}`;
}

/** The stream of a log. Scripts build the same name from the root of a session. */
export function streamKey(root: string, log: string): string {
  return `${root}:log:${log}`;
}

/** The channel of a space. */
export function channelOf(root: string): string {
  return `${root}:channel`;
}

export function isSession(space: Store.Space): space is { readonly session: string } {
  return (space as { readonly session?: string }).session !== undefined;
}
