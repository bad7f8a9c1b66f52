/**
 * The names of keys. All keys of one session have the same hash tag, so that a cluster keeps them
 * on one server.
 */
import { createHash } from 'node:crypto';
import type { Store } from '../../api/store.ts';

/** The hash tag `{…}` for any string. It has no other braces and is never empty. */
function tag(name: string): string {
  // JSON escapes lone surrogates, which could not be encoded.
  return `{${encodeURIComponent(JSON.stringify(name).slice(1, -1)) || '%'}}`;
}

/**
 * The hash of a relay's session: its documents, leases and log counters. All keys of the session
 * start with this.
 */
export function sessionKey(prefix: string, session: string): string {
  return `${prefix}:session:${tag(session)}`;
}

/** The stream of a session's log. Scripts build the same name from the session's key. */
export function logKey(prefix: string, session: string, log: string): string {
  return `${sessionKey(prefix, session)}:log:${log}`;
}

/** The counter of a rate window. */
export function countKey(prefix: string, key: string): string {
  return `${prefix}:count:${tag(key)}`;
}

/** The due items of all sessions. */
export function dueKey(prefix: string): string {
  return `${prefix}:due`;
}

/** A suspended call. */
export function approvalKey(prefix: string, id: string): string {
  return `${prefix}:approval:${tag(id)}`;
}

/**
 * The mark that a suspended call was taken, and later its outcome. It has its own key, because a
 * restored copy of the record overwrites the record's key.
 */
export function takenKey(prefix: string, id: string): string {
  return `${approvalKey(prefix, id)}:taken`;
}

/** The ids of all suspended calls. */
export function allApprovalsKey(prefix: string): string {
  return `${prefix}:approvals`;
}

/** The ids of a session's suspended calls. */
export function approvalsKey(prefix: string, session: string): string {
  return `${prefix}:approvals:${tag(session)}`;
}

/** The times of the amounts spent under a key of a quota. */
export function quotaTimesKey(prefix: string, key: string): string {
  return `${quotaKey(prefix, key)}:times`;
}

/** The amounts spent under a key of a quota, and their sum. */
export function quotaAmountsKey(prefix: string, key: string): string {
  return `${quotaKey(prefix, key)}:amounts`;
}

/** The mark that a reservation was given back. */
export function quotaBackKey(prefix: string, id: string): string {
  return `${prefix}:quota:{${prefix}}:back:${id}`;
}

/** The holder of an idempotency key, its input, and the outcome. */
export function onceKey(prefix: string, key: string): string {
  return `${prefix}:once:${tag(key)}`;
}

/**
 * The outputs that a session has offloaded: a list of them. Each output has its name after this
 * prefix.
 */
export function offloadKey(prefix: string, session: string): string {
  return `${prefix}:offload:${tag(session)}`;
}

/** All quotas of a prefix have the same hash tag, so that a call reserves several in one step. */
function quotaKey(prefix: string, key: string): string {
  return `${prefix}:quota:{${prefix}}:${createHash('sha256').update(key).digest('hex')}`;
}

/**
 * The name of a channel. It is also the key that decides which server of a cluster handles its
 * messages, so that they stay in order.
 */
export function channelName(prefix: string, channel: string): string {
  return `${prefix}:channel:${tag(channel)}`;
}

/** A whole number as Redis reads it. */
export function whole(value: number, least = 0): number {
  return Math.min(Math.max(Math.ceil(value), least), Number.MAX_SAFE_INTEGER);
}

/** What the names of all keys and channels of a space start with. They share a hash tag. */
export function rootOf(prefix: string, space: Store.Space): string {
  return isSession(space)
    ? sessionKey(prefix, space.session)
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
