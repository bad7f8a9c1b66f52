/** The lines of a log: JSON, and the hash that links each line to the previous one. */
import { createHash, createHmac, hash as hashOf } from 'node:crypto';
import type { CallRecord } from '../../extend.ts';
import { MisuseError } from '../../values/errors/index.ts';
import { canonicalJson, type JsonValue, wireText } from '../../values/json/index.ts';
import { shortened } from '../../values/text/characters.ts';

/** A position in the chain: the number and the hash of a line. */
export interface AuditHead {
  /** Grows by one with each line; 0 before the first. */
  readonly seq: number;
  /** 64 hex digits; `""` before the first line. */
  readonly hash: string;
  /** The number of the chain, for a log in a store. */
  readonly chain?: number;
}

export type Key = string | Uint8Array;

/** Computes the hash of a line from the bytes before its `hash`. */
export type LineHash = (first: string | Uint8Array, ...rest: readonly string[]) => string;

/** What each line begins with. Members that are undefined are left out. */
export type LineMembers = Readonly<Record<string, unknown>>;

const shortestKey = 32;

/** SHA-256, or HMAC-SHA256 with a key. @throws MisuseError for a key of less than 32 bytes. */
export function lineHash(where: string, key: Key | undefined): LineHash {
  const secret = key === undefined ? undefined : Buffer.from(key as string);
  if (secret !== undefined && secret.length < shortestKey)
    throw new MisuseError(
      'invalid_option',
      `${where}: expected \`key\` to have at least ${shortestKey} bytes, got ${secret.length}.`,
    );
  return (first, ...rest) => {
    // It is several times as fast as an incremental hash object.
    if (secret === undefined && rest.length === 0) return hashOf('sha256', first, 'hex');
    const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret);
    hash.update(first);
    for (const part of rest) hash.update(part);
    return hash.digest('hex');
  };
}

/** The members from which a line is rendered. Its position in the chain is written into them. */
export type NewMembers = Record<string, unknown>;

/** Renders a line with its line break, and returns the resulting position of the chain. */
export function renderLine(
  members: NewMembers,
  after: AuditHead,
  hash: LineHash,
): { readonly text: string; readonly head: AuditHead } {
  const seq = after.seq + 1;
  // Written into the object: a copy of it costs more than the rest.
  members.seq = seq;
  members.prev = after.hash;
  const body = wireText(members);
  const own = hash(body);
  return { text: `${body.slice(0, -1)},"hash":"${own}"}\n`, head: { seq, hash: own } };
}

/** Renders a line without a place in a chain, which it gets when it is written. */
export function renderBody(members: NewMembers): string {
  members.seq = undefined;
  members.prev = undefined;
  return wireText(members);
}

/** Gives a rendered line its place. The text has no line break. */
export function linkLine(
  body: string,
  after: AuditHead,
  hash: LineHash,
): { readonly text: string; readonly head: AuditHead } {
  const seq = after.seq + 1;
  const first = `${body.slice(0, -1)},"seq":${seq},"prev":"${after.hash}"`;
  const own = hash(`${first}}`);
  return { text: `${first},"hash":"${own}"}`, head: { seq, hash: own } };
}

/** A line that was read: its members, and whether its hash matches its text. */
export interface ReadLine {
  readonly members: LineMembers;
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  readonly fits: boolean;
}

/** `,"hash":"…"}` at the end of a line. */
const tailLength = 75;
const tail = /^,"hash":"([0-9a-f]{64})"\}$/;

/** Reads a line without its line break; undefined for anything that is not a line of a log. */
export function readLine(line: Buffer, hash: LineHash): ReadLine | undefined {
  const end = line.length - tailLength;
  const own = end < 2 ? undefined : tail.exec(line.toString('latin1', end))?.[1];
  if (own === undefined) return undefined;
  const fits = hash(line.subarray(0, end), '}') === own;
  const members = parse(line.toString('utf8'));
  const { seq, prev } = members ?? {};
  if (members === undefined || !Number.isSafeInteger(seq) || typeof prev !== 'string')
    return undefined;
  return { members, seq: seq as number, prev, hash: own, fits };
}

function parse(text: string): LineMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? // A member that only a prototype has does not count.
        Object.assign(Object.create(null) as Record<string, unknown>, value)
      : undefined;
  } catch {
    return undefined;
  }
}

// The contents of a call's line.

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
    actor: record.actor,
    surface: record.surface,
    unasked: record.unasked,
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
