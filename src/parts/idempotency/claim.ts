/** The claim that a call with an idempotency key has in the store of outcomes. */
import type { ResultMetadata, ToolResult } from '../../api/result.ts';
import type { CallExtra } from '../../core/call/call-extra.ts';
import { Slot } from '../../core/slot.ts';
import { markContent } from '../../values/content.ts';
import { contentParts } from '../../values/content-parts.ts';
import { codes, type ErrorCode, type ToolError, toolError } from '../../values/errors/index.ts';
import {
  copyJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
} from '../../values/json/index.ts';
import type { Deadline, DeadlineList } from '../../values/limits/deadlines.ts';

/** How an earlier call with the same key ended, as the model saw it. */
export type KeptOutcome =
  | {
      readonly ok: true;
      /** It may repeat what child calls returned, so it is untrusted whatever the tool is. */
      readonly untrusted: boolean;
      readonly output: unknown;
      readonly truncated: ResultMetadata['truncated'];
      readonly handler: ResultMetadata['handler'];
      readonly alongside: ResultMetadata['alongside'];
    }
  | { readonly ok: false; readonly untrusted: boolean; readonly error: ToolError };

/** The claim of one call. It is its own deadline, which renews the lease. */
export class Claim implements Deadline {
  readonly key: string;
  readonly input: string;
  readonly holder: string;
  /** The canonical input that the claim is for. */
  canonical: JsonObject;
  /** This call holds the key. */
  held = false;
  /** The outcome of an earlier call. */
  outcome: KeptOutcome | undefined;
  readonly #renew: (claim: Claim) => void;

  dlPrev: Deadline | undefined;
  dlNext: Deadline | undefined;
  dlAt = 0;
  dlList: DeadlineList | undefined;

  constructor(
    key: string,
    input: string,
    holder: string,
    canonical: JsonObject,
    renew: (claim: Claim) => void,
  ) {
    this.key = key;
    this.input = input;
    this.holder = holder;
    this.canonical = canonical;
    this.#renew = renew;
  }

  expire(): void {
    this.#renew(this);
  }
}

/** The claim of a call with a key, once it has been made. */
export const claimSlot = new Slot<Claim>();

export function claimOf(extra: CallExtra | undefined): Claim | undefined {
  return extra === undefined ? undefined : claimSlot.of(extra);
}

// The outcome of a call as a text that a store keeps, and back.

/** Longest text of an outcome that is kept, in characters. */
const mostChars = 1_000_000;
const limits = { maxDepth: 600, maxValues: 1_000_000, maxChars: mostChars };

/** What is kept instead of an outcome that is too long. The call must still not run twice. */
const tooLong = JSON.stringify({
  ok: false,
  error: {
    code: 'invalid_output',
    message:
      'The call has run already, and its outcome was too long to be kept for its idempotency ' +
      'key. Nothing ran now. Look up what the first call did before you repeat it with another ' +
      'key.',
    reason: 'outcome_not_kept',
    source: 'idempotency',
    retryable: false,
  },
});

/**
 * The outcome as the caller was shown it.
 * @param untrusted It may repeat what child calls returned, so it is untrusted whatever the tool
 * is.
 */
export function outcomeText(result: ToolResult, untrusted: boolean): string {
  const copy = copyJson(outcomeOf(result, untrusted ? true : undefined), limits);
  if (!copy.ok || copy.overflow) return tooLong;
  const text = JSON.stringify(copy.value);
  return text.length > mostChars ? tooLong : text;
}

function outcomeOf(result: ToolResult, untrusted: true | undefined): object {
  if (!result.success) return { ok: false, untrusted, error: result.error };
  const { output, metadata } = result;
  const { truncated, handler, alongside } = metadata;
  const parts = contentParts(output) !== undefined;
  return { ok: true, untrusted, output, parts, truncated, handler, alongside };
}

/** Reads the outcome from a text; undefined if {@link outcomeText} has not written the text. */
export function readOutcomeText(text: unknown): KeptOutcome | undefined {
  if (typeof text !== 'string' || text.length > mostChars) return undefined;
  let read: JsonValue;
  try {
    read = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isJsonObject(read)) return undefined;
  const untrusted = ownMember(read, 'untrusted') !== undefined;
  if (ownMember(read, 'ok') !== true) return readFailure(ownMember(read, 'error'), untrusted);
  if (!Object.hasOwn(read, 'output')) return undefined;
  const output = read.output as JsonValue;
  return {
    ok: true,
    untrusted,
    output: ownMember(read, 'parts') === true ? markContent(output) : output,
    truncated: ownMember(read, 'truncated') as ResultMetadata['truncated'],
    handler: ownMember(read, 'handler') as ResultMetadata['handler'],
    alongside: alongsideIn(ownMember(read, 'alongside')),
  };
}

function alongsideIn(kept: JsonValue | undefined): ResultMetadata['alongside'] {
  if (kept === undefined || !isJsonObject(kept)) return undefined;
  const content = ownMember(kept, 'content');
  if (content !== undefined) markContent(content);
  return kept as ResultMetadata['alongside'];
}

function readFailure(error: JsonValue | undefined, untrusted: boolean): KeptOutcome | undefined {
  if (error === undefined || !isJsonObject(error)) return undefined;
  const [code, message] = [ownMember(error, 'code'), ownMember(error, 'message')];
  if (typeof code !== 'string' || !Object.hasOwn(codes, code)) return undefined;
  if (typeof message !== 'string') return undefined;
  const retryable = ownMember(error, 'retryable');
  return {
    ok: false,
    untrusted,
    error: toolError(code as ErrorCode, message, {
      reason: textOf(error, 'reason'),
      ruleId: textOf(error, 'ruleId'),
      source: textOf(error, 'source'),
      retryable: typeof retryable === 'boolean' ? retryable : undefined,
      details: ownMember(error, 'details'),
    }),
  };
}

function textOf(object: JsonObject, name: string): string | undefined {
  const value = ownMember(object, name);
  return typeof value === 'string' ? value : undefined;
}
