/** Reads the answers of people to questions about calls. */

import type { GivenAnswer } from '../../api/answers.ts';
import type { ApprovalChoice } from '../../api/approval.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { probablyMeant } from '../../values/options/index.ts';

/** Arguments in an answer. They replace those that were shown. */
export interface AnsweredInput {
  readonly value: JsonObject;
  /** As in {@link copyJson}: it contains names such as `__proto__`. */
  readonly unsafe: boolean;
}

/**
 * A checked answer in one form. It is a deep copy, so that later changes to the original have no
 * effect.
 */
export interface ReadAnswer {
  readonly allowed: boolean;
  readonly always: boolean;
  readonly by: string | undefined;
  readonly message: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** All who answered, this one too, where certain people have to. */
  readonly answers?: readonly GivenAnswer[] | undefined;
  /** A copy; "unreadable" if it is not a JSON object, or is over the limits of an input. */
  readonly input: AnsweredInput | 'unreadable' | undefined;
  readonly grant:
    | {
        readonly match: 'input' | 'tool';
        readonly uses: number | undefined;
        readonly expiresInMs: number | undefined;
      }
    | undefined;
}

const choices: ReadonlyMap<unknown, { allowed: boolean; always: boolean }> = new Map([
  ['allow_once', { allowed: true, always: false }],
  ['allow_always', { allowed: true, always: true }],
  ['reject_once', { allowed: false, always: false }],
  ['reject_always', { allowed: false, always: true }],
]);

/** The possible answers of an approver, in the order of the documentation. */
export const approvalChoices = Object.freeze([...choices.keys()]) as readonly string[];

const nothing = {
  decision: undefined,
  by: undefined,
  roles: undefined,
  message: undefined,
  input: undefined,
  grant: undefined,
};
const noGrant = { match: undefined, uses: undefined, expiresInMs: undefined };

function hasOnly(value: object, fields: object): boolean {
  return Object.keys(value).every((key) => Object.hasOwn(fields, key));
}

/**
 * The first misspelt member. A misspelt `input` would run the original arguments, and a misspelt
 * `grant` would have no bounds. Members that resemble no known one belong to the host and are
 * ignored.
 */
export function misspeltIn(value: object, fields: object): string | undefined {
  const known = Object.keys(fields);
  return Object.keys(value).find(
    (key) => !known.includes(key) && probablyMeant(key, known) !== undefined,
  );
}

/** The first misspelt member of an answer. */
export function misspeltAnswer(answer: object): string | undefined {
  return misspeltIn(answer, nothing);
}

/**
 * Reads an answer exactly, and each member once. Undefined for anything unknown or unreadable,
 * which rejects the call. Answers are never matched by substring.
 */
export function readAnswer(answer: unknown, maxInputChars?: number): ReadAnswer | undefined {
  try {
    return read(answer, maxInputChars);
  } catch {
    return undefined;
  }
}

function read(given: unknown, maxInputChars = 1_048_576): ReadAnswer | undefined {
  const answer = typeof given === 'string' ? { decision: given } : given;
  if (typeof answer !== 'object' || answer === null || misspeltIn(answer, nothing) !== undefined)
    return undefined;
  // Own members only: a member of `Object.prototype` is not an answer.
  const { decision, by, roles, message, input, grant } = { ...nothing, ...answer } as Record<
    string,
    unknown
  >;
  const choice = choices.get(decision);
  if (choice === undefined) return undefined;
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input)))
    return undefined;
  if (roles !== undefined && !isRoles(roles)) return undefined;
  let readGrant: ReadAnswer['grant'] = choice.always
    ? { match: 'input', uses: undefined, expiresInMs: undefined }
    : undefined;
  if (grant !== undefined) {
    // A misspelt bound would make a bounded grant unbounded.
    if (typeof grant !== 'object' || grant === null || !hasOnly(grant, noGrant)) return undefined;
    const {
      match = 'input',
      uses,
      expiresInMs,
    } = { ...noGrant, ...grant } as Record<string, unknown>;
    if (match !== 'input' && match !== 'tool') return undefined;
    if (uses !== undefined && !(Number.isInteger(uses) && (uses as number) > 0)) return undefined;
    if (expiresInMs !== undefined && !(Number.isFinite(expiresInMs) && (expiresInMs as number) > 0))
      return undefined;
    if (choice.always)
      readGrant = {
        match,
        uses: uses as number | undefined,
        expiresInMs: expiresInMs as number | undefined,
      };
  }
  return {
    ...choice,
    by: typeof by === 'string' ? by : undefined,
    roles: roles && Object.freeze([...roles]),
    message: typeof message === 'string' ? message : undefined,
    input: input === undefined ? undefined : answeredInput(input, maxInputChars),
    grant: readGrant,
  };
}

/** Whether a value is a list of roles of a person: at most 100, with 1 to 1 024 characters. */
export function isRoles(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= 100 &&
    value.every((one) => typeof one === 'string' && one !== '' && one.length <= 1_024)
  );
}

/** The name of an answer. */
export function choiceOf(allowed: boolean, always: boolean): ApprovalChoice {
  return `${allowed ? 'allow' : 'reject'}_${always ? 'always' : 'once'}`;
}

function answeredInput(input: object, maxChars: number): AnsweredInput | 'unreadable' {
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000, maxChars });
  return copy.ok && !copy.overflow && isJsonObject(copy.value)
    ? { value: copy.value, unsafe: copy.unsafe }
    : 'unreadable';
}
