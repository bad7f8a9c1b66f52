/** The contents of a call's line. */
import { createHmac } from 'node:crypto';
import type { CallRecord } from '../../extend.ts';
import { canonicalJson, type JsonValue } from '../../values/json/index.ts';
import { shortened } from '../../values/text/shortened.ts';
import type { Key, NewMembers } from './line.ts';

/** What a log keeps of the arguments; `redacted` is the default. */
export type Content = 'redacted' | 'hashed' | 'none';

/** The arguments of a call as a line contains them; undefined if it contains none. */
export type ArgumentsOf = (input: JsonValue) => JsonValue | undefined;

/** Longest name of a tool in a line. A model chooses the names of tools that do not exist. */
const maxNameChars = 256;

/** The members of the line of a call, in their order. */
export function callLine(record: CallRecord, argumentsOf: ArgumentsOf): NewMembers {
  const { status } = record;
  return {
    type: status === undefined ? 'start' : 'call',
    at: record.at,
    callId: record.callId,
    attempt: record.attempt,
    parentCallId: record.parentCallId,
    sessionId: record.sessionId,
    principal: record.principal,
    surface: record.surface,
    tool: shortened(record.tool, maxNameChars),
    source: record.source,
    version: record.version,
    fingerprint: record.fingerprint,
    arguments: argumentsOf(record.input),
    origins: record.origins as JsonValue | undefined,
    ruleId: record.ruleId,
    decidedBy: record.decidedBy,
    reason: record.reason,
    approval: record.approval,
    status,
    code: record.code,
    durationMs: status === undefined ? undefined : Math.round(record.durationMs * 1_000) / 1_000,
    // They are set when the line gets its position. Here they keep the shape of the object.
    file: undefined,
    seq: 0,
    prev: '',
  };
}

/** How the arguments are kept. @param key For `hashed`. */
export function argumentsBy(content: Content, key: Key): ArgumentsOf {
  if (content === 'redacted') return (input) => input;
  if (content === 'none') return () => undefined;
  return (input) =>
    `hmac-sha256:${createHmac('sha256', key).update(canonicalJson(input)).digest('hex')}`;
}
