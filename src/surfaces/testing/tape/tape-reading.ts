/** Reads and checks a tape before anything is replayed. Errors name the place of what is wrong. */

import { errorCodes, type JsonObject, type JsonValue, MisuseError } from '../../../core.ts';
import { describe } from '../../../values/errors/index.ts';
import { copyJson, deepFreeze, escapePointer, isJsonObject } from '../../../values/json/index.ts';
import type { Tape } from './tape.ts';

/** The only version that is written and read. */
const tapeVersion: Tape['version'] = 1;
/** Deeper than any output can be, including its place on the tape. */
const limits = { maxDepth: 600, maxValues: 50_000_000 };
const statuses: readonly unknown[] = ['succeeded', 'failed', 'rejected', 'cancelled', 'pending'];

/** Checks one member. Returns what it expects, in words, if the value does not fit. */
type Check = (value: JsonValue) => string | undefined;

const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'a non-empty string';
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const yes: Check = (value) => (value === true ? undefined : 'true, or left out');
const object: Check = (value) => (isJsonObject(value) ? undefined : 'an object');
const list: Check = (value) => (Array.isArray(value) ? undefined : 'an array');
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => text(item) === undefined)
    ? undefined
    : 'an array of non-empty strings';
const anything: Check = () => undefined;

/**
 * The members of one kind of object. Those with `?` are optional. Unknown members are refused,
 * since nothing would read them.
 */
type Members = Readonly<Record<string, Check>>;

const tapeMembers: Members = { version: anything, 'redact?': texts, tools: list, calls: list };
// Making the definition checks `anything`.
const toolMembers: Members = {
  name: text,
  description: text,
  'title?': anything,
  'version?': anything,
  'category?': anything,
  'tags?': anything,
  'annotations?': anything,
  parameters: object,
  'outputSchema?': anything,
  'knobs?': object,
  'requires?': anything,
  'provides?': anything,
  parallelSafe: flag,
  'resourceKey?': text,
  fingerprint: text,
};
const callMembers: Members = {
  callId: text,
  tool: (value) => (typeof value === 'string' ? undefined : 'a string'),
  input: anything,
  status: (value) =>
    statuses.includes(value)
      ? undefined
      : `one of ${statuses.map((status) => `"${status}"`).join(', ')}`,
  ran: flag,
  'attempt?': (value) =>
    Number.isInteger(value) && (value as number) > 0 ? undefined : 'a whole number above 0',
  'parentCallId?': text,
  'fingerprint?': text,
  result: object,
};
const successMembers: Members = {
  success: flag,
  output: anything,
  'content?': yes,
  'handler?': object,
  'truncated?': object,
};
const failureMembers: Members = { success: flag, error: object, 'masked?': yes };
const errorMembers: Members = {
  code: (value) =>
    typeof value === 'string' && Object.hasOwn(errorCodes, value)
      ? undefined
      : 'a known error code',
  message: text,
  'reason?': text,
  'ruleId?': text,
  'source?': text,
  retryable: flag,
  'details?': anything,
};

/**
 * Returns a frozen copy of a tape.
 * @param who The function that was called, for messages.
 * @throws MisuseError `invalid_file`, naming the place, if the argument is not a tape or is a tape
 * of another version.
 */
export function readTape(given: unknown, who: string): Tape {
  const copy = copyJson(given, limits);
  if (!copy.ok) throw fault(who, copy.path, 'JSON', copy.message);
  const { value } = copy;
  if (!isJsonObject(value))
    throw fault(
      who,
      '',
      typeof given === 'string' ? 'an object (parse the text first)' : 'an object',
      describe(value),
    );
  if (value.version !== tapeVersion)
    throw fault(
      who,
      '/version',
      `${tapeVersion}`,
      `${describe(value.version)}. Record the tape again with this version of host-tools`,
    );
  members(who, value, '', tapeMembers);
  const tape = value as unknown as Tape;
  const names = new Set<string>();
  for (const [index, tool] of tape.tools.entries()) {
    members(who, tool as unknown as JsonValue, `/tools/${index}`, toolMembers);
    names.add(tool.name);
  }
  for (const [index, call] of tape.calls.entries()) {
    const at = `/calls/${index}`;
    members(who, call as unknown as JsonValue, at, callMembers);
    const { result } = call;
    members(
      who,
      result as unknown as JsonValue,
      `${at}/result`,
      (result as { success?: unknown }).success === true ? successMembers : failureMembers,
    );
    if (!result.success)
      members(who, result.error as unknown as JsonValue, `${at}/result/error`, errorMembers);
    if (result.success !== (call.status === 'succeeded'))
      throw fault(
        who,
        `${at}/status`,
        '"succeeded" if and only if the result is a success',
        `"${call.status}"`,
      );
    if (result.success && !call.ran)
      throw fault(who, `${at}/ran`, 'true if the result is a success', 'false');
    if (call.ran && call.parentCallId === undefined && !names.has(call.tool))
      throw fault(
        who,
        `${at}/tool`,
        'a tool of the tape, since its handler ran',
        describe(call.tool),
      );
  }
  return deepFreeze(tape);
}

function members(who: string, value: JsonValue, at: string, known: Members): void {
  if (!isJsonObject(value)) throw fault(who, at, 'an object', describe(value));
  for (const [key, check] of Object.entries(known)) {
    const name = key.replace('?', '');
    const member = memberOf(value, name);
    if (member === undefined && key !== name) continue;
    const expected = member === undefined ? 'there' : check(member);
    if (expected !== undefined)
      throw fault(
        who,
        `${at}/${name}`,
        expected,
        member === undefined ? 'nothing' : describe(member),
      );
  }
  for (const key of Object.keys(value))
    if (!Object.hasOwn(known, key) && !Object.hasOwn(known, `${key}?`))
      throw fault(who, `${at}/${escapePointer(key)}`, 'absent', 'an unknown member');
}

function memberOf(value: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function fault(who: string, at: string, expected: string, got: string): MisuseError {
  return new MisuseError(
    'invalid_file',
    `${who}: expected ${at === '' ? 'the tape' : `\`${at}\` of the tape`} to be ` +
      `${expected}, got ${got}.`,
  );
}
