/** The question for a person, and the possible answers. */

import type { JudgedOrigin } from '../../parts/origins/origin.ts';
import type { QuotaLevel } from '../../parts/quotas/level.ts';
import { copyJson, isJsonObject, type JsonObject } from '../../values/json/index.ts';
import { probablyMeant } from '../../values/options/index.ts';
import type { ToolSummary } from '../tool/tool-summary.ts';

/** The texts that a tool gives for the question to a person. */
export interface ApprovalPrompt {
  /** The question in a few words. An empty one denies the call. */
  readonly title: string;
  /** More for the person: what will happen, and why approval is needed. */
  readonly message?: string;
  /** How much is at stake, for display to the approver. It decides nothing. @default none */
  readonly risk?: 'low' | 'medium' | 'high';
}

/** One question to a person. The input that is shown is the input that will run. */
export interface ApprovalRequest {
  /** The id of the request, for `session.approvals.answer` and in events. */
  readonly id: string;
  /** The session in which the call was made. */
  readonly sessionId: string;
  /** The principal of the session, if it has one. */
  readonly principal?: string;
  /** The id of the call that waits. */
  readonly callId: string;
  /** The call whose handler made this one, if one did. */
  readonly parent?: { readonly callId: string; readonly tool: string };
  /** The tool, with the fingerprint to which an answer is bound. */
  readonly tool: ToolSummary;
  /**
   * The canonical input as it will run, without its secret fields, which `hiddenFields` names.
   * Texts are shown as they were written.
   */
  readonly input: JsonObject;
  /**
   * The question in a few words: the tool's, the rule's, or a default that names the tool. A call
   * is refused if this contains one of its secrets.
   */
  readonly title: string;
  /**
   * The call in one line, to tell calls apart: `send_mail to eve@evil.test · 2 recipients`. It is
   * made from `input`, without secret fields. Absent in records of earlier versions.
   */
  readonly summary?: string;
  /** More for the person. A call is refused if this contains one of its secrets. */
  readonly message?: string;
  /** How much is at stake, if the tool says so. */
  readonly risk?: 'low' | 'medium' | 'high';
  /** The rule or policy that asked, if one did. */
  readonly ruleId?: string;
  /** The layer that asked: `tool`, `registry`, `profile:<id>`, `session`, … */
  readonly source: string;
  /**
   * The quotas that the call would exceed, if that is why a person is asked. A call that a person
   * allows is counted, whatever the sum is.
   */
  readonly quotas?: readonly QuotaLevel[];
  /**
   * The origins of the call's targets and of the identifiers in its texts; absent if the session
   * remembers nothing. At most 100. `message` also names the values that are neither the user's nor
   * trusted.
   */
  readonly origins?: readonly JudgedOrigin[];
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  /** Epoch milliseconds. From then on the call ends as `approval_timeout`. */
  readonly expiresAt: number;
  /** JSON pointers of the fields that are hidden from the approver. */
  readonly hiddenFields: readonly string[];
}

/** A request that waits for an answer. */
export interface PendingApproval extends ApprovalRequest {
  /**
   * The token for `session.approvals.resume`, if the call was suspended. It is signed, can be used
   * once, and is bound to the principal and the definition. Keep it away from models and logs: it
   * is a credential.
   */
  readonly token?: string;
}

/**
 * `allow_once` and `reject_once` settle this request; the `_always` forms also leave a
 * {@link Grant} that settles later ones like it.
 */
export type ApprovalChoice = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

/**
 * An answer to an approval request. A plain `allow_always` covers this definition with this input
 * in this session; `grant` extends it to any input, or limits it. `input` replaces the arguments.
 * They are validated and judged again, and this answer also counts as their approval.
 */
export type ApprovalAnswer =
  | ApprovalChoice
  | {
      /** Whether to allow the call, and whether to keep the answer. */
      readonly decision: ApprovalChoice;
      /** Who answered; shown in events. */
      readonly by?: string;
      /** Passed on to the model if the call is rejected. */
      readonly message?: string;
      /** Runs the call with these arguments instead. @default the input that was shown */
      readonly input?: JsonObject;
      /**
       * The scope of an `_always` answer. Ignored for the others.
       * @default match "input", any number of uses, as long as the session
       */
      readonly grant?: {
        /** What later calls must have in common: the same input, or only the same tool. */
        readonly match?: 'input' | 'tool';
        /** How many later calls the grant answers. An integer from 1. */
        readonly uses?: number;
        /** Milliseconds that the grant lasts, counted from the answer. Above 0. */
        readonly expiresInMs?: number;
      };
    };

/** A standing answer. `session.approvals.grants()` lists it, and `revoke` ends it. */
export interface Grant {
  /** The id for `session.approvals.revoke`. */
  readonly id: string;
  /** The tool's name. */
  readonly tool: string;
  /** Whether it approves or rejects the calls that it covers. */
  readonly effect: 'allow' | 'reject';
  /** Who gave it, if the answer said so. */
  readonly by?: string;
  /** How many more calls it answers; absent if there is no bound. */
  readonly usesLeft?: number;
  /** Epoch milliseconds; absent if it lasts as long as the session. */
  readonly expiresAt?: number;
}

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

function read(answer: unknown, maxInputChars = 1_048_576): ReadAnswer | undefined {
  if (typeof answer === 'string') {
    const choice = choices.get(answer);
    return (
      choice && {
        ...choice,
        by: undefined,
        message: undefined,
        input: undefined,
        grant: choice.always
          ? { match: 'input', uses: undefined, expiresInMs: undefined }
          : undefined,
      }
    );
  }
  if (typeof answer !== 'object' || answer === null || misspeltIn(answer, nothing) !== undefined)
    return undefined;
  // Own members only: a member of `Object.prototype` is not an answer.
  const { decision, by, message, input, grant } = { ...nothing, ...answer } as Record<
    string,
    unknown
  >;
  const choice = choices.get(decision);
  if (choice === undefined) return undefined;
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input)))
    return undefined;
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
    message: typeof message === 'string' ? message : undefined,
    input: input === undefined ? undefined : answeredInput(input, maxInputChars),
    grant: readGrant,
  };
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
