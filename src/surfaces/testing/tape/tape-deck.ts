/** The recorded calls of one tool name, and which of them were played. */
import {
  content,
  type ErrorCode,
  fail,
  type JsonObject,
  type JsonValue,
  ok,
} from '../../../core.ts';
import { canonicalJson, escapePointer, isJsonObject } from '../../../values/json/index.ts';
import type { TapeCall, TapeFailure, TapeSuccess } from './tape.ts';
import type { InputForm, InputSchema, TapedInput } from './tape-tool.ts';

type Issue = NonNullable<Awaited<ReturnType<InputSchema['validate']>>['issues']>[number];

/** One recorded call. */
export interface Take {
  /** The index in the tape's list of calls. */
  readonly index: number;
  readonly call: TapeCall;
  /** Brings other inputs into the form of this recorded one. */
  readonly form: InputForm;
  /** Canonical text of the recorded input. */
  readonly text: string;
  played: boolean;
}

/** The tape's answer to an input. */
export type Match =
  | { readonly kind: 'play'; readonly take: Take }
  /** There are calls left, but with other inputs. */
  | {
      readonly kind: 'mismatch';
      readonly input: JsonValue;
      readonly nearest: Take;
      readonly path: string;
    }
  /**
   * No calls are left, or this call was already played as often as it was recorded. `recorded` is
   * the code with which a gate refused the call in the recording.
   */
  | { readonly kind: 'undeclared'; readonly input: JsonValue; readonly recorded?: ErrorCode };

/** The calls of one tool. */
export interface Deck {
  /** The calls whose handler ran, in recorded order, without those that a parent made. */
  readonly takes: readonly Take[];
  /** Finds the call that answers an input, and marks it as played. */
  match(input: JsonObject): Match;
  /** Whether a call with this input ran when it was recorded. */
  hasRun(input: JsonObject): boolean;
  /** The issues of an input that the recorded schema refused. */
  issuesOf(input: JsonObject): readonly Issue[] | undefined;
}

/** @param latest The form that inputs have in reports. */
export function createDeck(takes: readonly Take[], latest: InputForm): Deck {
  const ran = takes.filter(({ call }) => call.ran);
  const refused = takes.filter(({ call }) => !call.ran);
  const issues = new Map(
    refused.flatMap((take) => {
      const found = recordedIssues(take.call);
      return found === undefined ? [] : [[take, found] as const];
    }),
  );
  /** A tool that was replaced has several forms. Each of them is computed once for an input. */
  const equals = (input: JsonObject): ((take: Take) => boolean) => {
    const texts = new Map<InputForm, TapedInput>();
    return ({ form, text }) => {
      const own = texts.get(form) ?? form.of(input);
      texts.set(form, own);
      return own.text === text;
    };
  };
  return {
    takes: ran,
    match: (input) => {
      const same = equals(input);
      const take = ran.find((one) => !one.played && same(one));
      if (take !== undefined) {
        take.played = true;
        return { kind: 'play', take };
      }
      const { value } = latest.of(input);
      const before = refused.find(same);
      if (before !== undefined)
        return {
          kind: 'undeclared',
          input: value,
          recorded: (before.call.result as TapeFailure).error.code,
        };
      const left = ran.filter(({ played }) => !played);
      return left.length === 0 || ran.some(same)
        ? { kind: 'undeclared', input: value }
        : { kind: 'mismatch', input: value, ...nearest(left, input) };
    },
    hasRun: (input) => ran.some(equals(input)),
    issuesOf: (input) => {
      if (issues.size === 0) return undefined;
      const same = equals(input);
      const take = [...issues.keys()].find(same);
      return take === undefined ? undefined : issues.get(take);
    },
  };
}

/** A call as the deck keeps it. */
export function takeOf(call: TapeCall, index: number, form: InputForm): Take {
  return { index, call, form, text: canonicalJson(call.input), played: false };
}

/** The call whose input differs in the fewest places; the earliest of several. */
function nearest(
  takes: readonly Take[],
  input: JsonObject,
): { readonly nearest: Take; readonly path: string } {
  let best: { readonly nearest: Take; readonly path: string } | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const take of takes) {
    const places = differences(take.call.input, take.form.of(input).value);
    if (places.length >= fewest) continue;
    fewest = places.length;
    best = { nearest: take, path: places[0] ?? '' };
  }
  return best as NonNullable<typeof best>;
}

function recordedIssues({ result }: TapeCall): readonly Issue[] | undefined {
  if (result.success || result.error.code !== 'invalid_input') return undefined;
  const { details } = result.error;
  if (!Array.isArray(details)) return undefined;
  const issues = details.flatMap((issue: JsonValue) => {
    const { path, message } = isJsonObject(issue) ? issue : {};
    return typeof path === 'string' && typeof message === 'string' ? [{ path, message }] : [];
  });
  return issues.length > 0 && issues.length === details.length ? issues : undefined;
}

/** The answer of a replayed handler. */
const executorFault = Symbol.for('host-tools.executor-fault');

/**
 * Returns or throws what makes the call end as it was recorded. Some recorded outcomes cannot come
 * from a handler; then it uses the nearest one that can.
 */
export function answerOf({ result }: TapeCall): unknown {
  if (result.success) return ok(outputOf(result), result.handler);
  const { error, masked } = result;
  const { code, message, reason, retryable, details } = error;
  switch (code) {
    case 'handler_error':
      if (masked) throw new Error(message);
      return fail({
        message,
        retryable,
        ...(reason === undefined ? {} : { reason }),
        ...(details === undefined ? {} : { details }),
      });
    case 'executor_lost':
    case 'sandbox_unavailable':
      throw Object.assign(new Error(message), { [executorFault]: true, code });
    default:
      return fail({
        message,
        reason: code,
        retryable,
        details: { recorded: error as unknown as JsonValue },
      });
  }
}

function outputOf({ output, content: isContent }: TapeSuccess): unknown {
  if (isContent !== true || !Array.isArray(output)) return output;
  const parts = output.map(partOf);
  // A part whose secrets were redacted may no longer be a content part.
  return parts.includes(undefined) ? output : parts;
}

function partOf(part: JsonValue): unknown {
  if (!isJsonObject(part)) return undefined;
  const { type, ...rest } = part as {
    readonly type: string;
    readonly text: string;
    readonly data: string;
    readonly mimeType: string;
  };
  switch (type) {
    case 'text':
      return content.text(rest.text);
    case 'image':
      return content.image(rest.data, rest.mimeType);
    case 'audio':
      return content.audio(rest.data, rest.mimeType);
    case 'resource':
      return content.resource((part as { readonly resource: { readonly uri: string } }).resource);
    case 'resource_link':
      return content.link(rest as unknown as { readonly uri: string });
    default:
      return undefined;
  }
}

// Finds the places at which two inputs differ.

/**
 * Returns JSON pointers to the places at which one value differs from another: first expected keys,
 * in their order, then additional ones. `""` is the whole value.
 */
function differences(expected: JsonValue, actual: JsonValue): string[] {
  const found: string[] = [];
  compare(expected, actual, '', found);
  return found;
}

function compare(
  expected: JsonValue | undefined,
  actual: JsonValue | undefined,
  at: string,
  found: string[],
): void {
  if (expected === actual) return;
  if (
    !isContainer(expected) ||
    !isContainer(actual) ||
    Array.isArray(expected) !== Array.isArray(actual)
  ) {
    found.push(at);
    return;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)]))
    compare(member(expected, key), member(actual, key), `${at}/${escapePointer(key)}`, found);
}

function isContainer(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

function member(value: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
