/**
 * The names of keys. What belongs to one session has one hash tag, so that a cluster keeps it in
 * one place.
 */

/** What holds keys together: `{…}`. Any string, with no brace left in it and never empty. */
function tag(name: string): string {
  // Through JSON, since a lone surrogate cannot be encoded.
  return `{${encodeURIComponent(JSON.stringify(name).slice(1, -1)) || '%'}}`;
}

/** Of a relay's session: documents, counters of its logs and leases. Its keys all start so. */
export function sessionKey(prefix: string, session: string): string {
  return `${prefix}:session:${tag(session)}`;
}

/** Of a session's log. Scripts make the same name of the session's key. */
export function logKey(prefix: string, session: string, log: string): string {
  return `${sessionKey(prefix, session)}:log:${log}`;
}

/** Of the uses in a window. */
export function countKey(prefix: string, key: string): string {
  return `${prefix}:count:${tag(key)}`;
}

/** Of what is due, of all sessions. */
export function dueKey(prefix: string): string {
  return `${prefix}:due`;
}

/** Of a suspended call. */
export function approvalKey(prefix: string, id: string): string {
  return `${prefix}:approval:${tag(id)}`;
}

/** Of the ids of a session's suspended calls. */
export function approvalsKey(prefix: string, session: string): string {
  return `${prefix}:approvals:${tag(session)}`;
}

/**
 * A channel's name, and the key whose server its messages go through: one server keeps their order.
 */
export function channelName(prefix: string, channel: string): string {
  return `${prefix}:channel:${tag(channel)}`;
}

/** A whole number as Redis reads it. */
export function whole(value: number, least = 0): number {
  return Math.min(Math.max(Math.ceil(value), least), Number.MAX_SAFE_INTEGER);
}
