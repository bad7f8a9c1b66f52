/** What a person is asked, and what they may answer. */
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../json.ts';
import { probablyMeant } from '../options.ts';
import type { ToolSummary } from '../tool-summary.ts';

/** What a tool may say about the question it wants asked. */
export interface ApprovalPrompt {
  /** The question in a few words. Non-empty; a tool that answers with another is denied. */
  readonly title: string;
  /** More for the person: what happens, and why it is asked. */
  readonly message?: string;
  /** How much is at stake, for the approver's display; decides nothing. @default none is shown */
  readonly risk?: 'low' | 'medium' | 'high';
}

/** One question to a person. What is shown is what will run. */
export interface ApprovalRequest {
  /** Names the request in `session.approvals.answer` and in events. */
  readonly id: string;
  /** The session that the call came in on. */
  readonly sessionId: string;
  /** Who the session acts for, where it was given one. */
  readonly principal?: string;
  /** The call that waits. */
  readonly callId: string;
  /** The tool that is asked for, with the fingerprint that an answer is bound to. */
  readonly tool: ToolSummary;
  /**
   * The canonical input as it will run, but for secret fields; `hiddenFields` says which. Text is
   * shown as it was written.
   */
  readonly input: JsonObject;
  /**
   * The question in a few words: the tool's or the rule's, else one that names the tool. A call
   * whose secrets stand in it is refused.
   */
  readonly title: string;
  /** More for the person, where the tool says more. A call whose secrets stand in it is refused. */
  readonly message?: string;
  /** How much is at stake, where the tool says so. */
  readonly risk?: 'low' | 'medium' | 'high';
  /** The rule that asked, when one did. */
  readonly ruleId?: string;
  /** The layer that asked: `tool`, `registry`, `profile:<id>`, `session`, … */
  readonly source: string;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  /** Epoch milliseconds; afterwards the answer is `approval_timeout`. */
  readonly expiresAt: number;
  /** JSON pointers of the fields that are hidden from the approver. */
  readonly hiddenFields: readonly string[];
}

/** A request that waits. `token` only where the call was suspended. */
export interface PendingApproval extends ApprovalRequest {
  /**
   * What `session.approvals.resume` takes. Single-use, signed, bound to the principal and the
   * definition: a credential, so keep it from models and logs.
   */
  readonly token?: string;
}

/**
 * `allow_once` and `reject_once` settle this request; the `_always` forms also leave a
 * {@link Grant} that settles later ones like it.
 */
export type ApprovalChoice = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

/**
 * An answer. A plain `allow_always` grants this definition with this input in this session; `grant`
 * widens it to the tool, or bounds it. `input` replaces the arguments: they are validated and
 * judged again, and this answer then meets an ask.
 */
export type ApprovalAnswer =
  | ApprovalChoice
  | {
      /** Yes or no, and for how long. */
      readonly decision: ApprovalChoice;
      /** Who answered; recorded in events. */
      readonly by?: string;
      /** Told to the model on a rejection. */
      readonly message?: string;
      /** Runs the call with these arguments instead. @default the input that was shown */
      readonly input?: JsonObject;
      /**
       * Bounds an `_always`, else ignored. `uses` from 1, `expiresInMs` above 0, from the answer
       * on.
       * @default match "input", no bound on uses, as long as the session
       */
      readonly grant?: {
        /** What later calls must repeat: the same input, or only the same tool. */
        readonly match?: 'input' | 'tool';
        /** How many calls the grant lets through. An integer from 1. */
        readonly uses?: number;
        /** Milliseconds from the answer on. Above 0. */
        readonly expiresInMs?: number;
      };
    };

/** A standing answer, listed by `session.approvals.grants()` and revocable. */
export interface Grant {
  /** What `session.approvals.revoke` takes. */
  readonly id: string;
  /** The tool's name. */
  readonly tool: string;
  /** How it settles the asks that it matches. */
  readonly effect: 'allow' | 'reject';
  /** Who gave it, where the answer said so. */
  readonly by?: string;
  /** How many more asks it answers; absent = no bound. */
  readonly usesLeft?: number;
  /** Epoch milliseconds; absent = as long as the session. */
  readonly expiresAt?: number;
}

/** Arguments that an answer gives instead of those that were shown. */
export interface AnsweredInput {
  readonly value: JsonObject;
  /** As {@link copyJson} says it: it has names such as `__proto__`. */
  readonly unsafe: boolean;
}

/**
 * An answer in one shape, checked, and a copy to the bottom: what was checked is what counts,
 * whatever its giver does with the original.
 */
export interface ReadAnswer {
  readonly allowed: boolean;
  readonly always: boolean;
  readonly by: string | undefined;
  readonly message: string | undefined;
  /** A copy; "unreadable" where what came is no JSON object, or is over the limits of an input. */
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

/** What an approver may answer, in the order of the documentation. */
export const approvalChoices = Object.freeze([...choices.keys()]) as readonly string[];

const nothing = {
  decision: undefined,
  by: undefined,
  message: undefined,
  input: undefined,
  grant: undefined,
};
const noPrompt = { title: undefined, message: undefined, risk: undefined };
const noGrant = { match: undefined, uses: undefined, expiresInMs: undefined };

function hasOnly(value: object, fields: object): boolean {
  return Object.keys(value).every((key) => Object.hasOwn(fields, key));
}

/**
 * The first member that was probably meant to be another: beside misspelt arguments the first ones
 * would run, and a misspelt grant would have no bounds. Members that resemble none are the host's
 * own, and mean nothing here.
 */
function misspeltIn(value: object, fields: object): string | undefined {
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
 * Reads an answer exactly, each member once; anything unknown, and what cannot even be read, is
 * undefined, which rejects. No substring is ever matched.
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
  // Own members alone: whatever somebody put on Object.prototype answers nothing.
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

function answeredInput(input: object, maxChars: number): AnsweredInput | 'unreadable' {
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000, maxChars });
  return copy.ok && !copy.overflow && isJsonObject(copy.value)
    ? { value: copy.value, unsafe: copy.unsafe }
    : 'unreadable';
}

/** Reads an approval prompt exactly; undefined when it is none. */
export function readPrompt(value: unknown): ApprovalPrompt | undefined {
  if (typeof value !== 'object' || value === null || misspeltIn(value, noPrompt) !== undefined)
    return undefined;
  // Own members alone: whatever somebody put on Object.prototype asks nothing.
  const { title, message, risk } = { ...noPrompt, ...value } as Record<string, unknown>;
  if (
    typeof title !== 'string' ||
    title === '' ||
    (message !== undefined && typeof message !== 'string')
  )
    return undefined;
  if (risk !== undefined && risk !== 'low' && risk !== 'medium' && risk !== 'high')
    return undefined;
  return deepFreeze({
    title,
    ...(message === undefined ? {} : { message }),
    ...(risk === undefined ? {} : { risk }),
  });
}
