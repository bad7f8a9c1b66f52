/** `ok()` and `fail()`, by which a handler reports success or failure. */

import type { Fail, Failure, Ok, ResultMetadata } from '../api/result.ts';
import { describe, MisuseError } from '../values/errors/index.ts';
import { copyJson, deepFreeze, isJsonObject, type JsonObject } from '../values/json/index.ts';
import { checkSpelling } from '../values/options/index.ts';

/** What a tool sent in addition to its output. */
export type Alongside = NonNullable<ResultMetadata['alongside']>;

const outcomeBrand = Symbol.for('host-tools.outcome');
/** The private form of {@link Ok} and {@link Fail}. */
export type HandlerOutcome =
  | {
      readonly kind: 'ok';
      readonly output: unknown;
      readonly metadata: JsonObject | undefined;
    }
  | { readonly kind: 'fail'; readonly failure: Failure };

/** Largest `ok()` metadata, in characters of its JSON text. */
const maxHandlerMetadataChars = 16_384;

/**
 * Makes a handler's success with metadata for the host, which gets it as `result.metadata.handler`.
 * @throws MisuseError inside the handler if `metadata` is not a JSON object or is over 16 KB. The
 * call then fails as `handler_error`.
 *
 * @example
 * ```ts
 * import { defineTool, ok } from 'host-tools';
 *
 * const report = defineTool({
 *   name: 'report',
 *   description: 'Writes the report.',
 *   parameters: { type: 'object' },
 *   handler: () => ok('The report is written.', { rows: 120 }),
 * });
 * const result = await session.call(report, {});
 * console.log(result.metadata.handler); // { rows: 120 }
 * ```
 */
export function ok<T>(output: T, metadata?: JsonObject): Ok<T> {
  let kept: JsonObject | undefined;
  if (metadata !== undefined) {
    const copy = copyJson(metadata, {
      maxDepth: 64,
      maxValues: 10_000,
      maxChars: maxHandlerMetadataChars,
    });
    if (!copy.ok || copy.overflow || !isJsonObject(copy.value)) {
      throw new MisuseError(
        'invalid_option',
        `Expected the metadata of \`ok()\` to be a JSON object of at most 16 KB, got ` +
          `${copy.ok ? describe(metadata) : `${copy.message} at "${copy.path}"`}.`,
      );
    }
    kept = copy.value;
  }
  return brand({ kind: 'ok', output, metadata: kept }) as unknown as Ok<T>;
}

/**
 * Makes a handler's failure. The call ends as `handler_error`, with the reason given.
 * @param failure The message alone, or with reason, details and whether a retry may succeed.
 * @throws MisuseError inside the handler for a misspelt member, such as `retriable`. The call then
 * fails as `handler_error` with that error as its cause.
 *
 * @example
 * ```ts
 * import { defineTool, fail } from 'host-tools';
 * import { z } from 'zod';
 *
 * const stock = defineTool({
 *   name: 'stock',
 *   description: 'Counts the items in stock.',
 *   parameters: z.object({ item: z.string() }),
 *   handler: ({ item }) =>
 *     item === 'book' ? 3 : fail({ reason: 'unknown_item', message: `There is no ${item}.` }),
 * });
 * ```
 */
export function fail(failure: string | Failure): Fail {
  const { message, reason, details, retryable }: { readonly [K in keyof Failure]?: unknown } =
    typeof failure === 'string' ? { message: failure } : readFailure(failure);
  const kept: { -readonly [K in keyof Failure]: Failure[K] } = {
    message:
      typeof message === 'string' && message.trim() !== ''
        ? message
        : 'The tool failed without a message.',
  };
  if (typeof reason === 'string') kept.reason = reason;
  if (details !== undefined) {
    const copy = copyJson(details, {
      maxDepth: 64,
      maxValues: 10_000,
      maxChars: maxHandlerMetadataChars,
    });
    if (copy.ok && !copy.overflow) kept.details = copy.value;
  }
  if (retryable === true) kept.retryable = true;
  return brand({ kind: 'fail', failure: deepFreeze(kept) }) as unknown as Fail;
}

const failureMembers = ['message', 'reason', 'details', 'retryable'] as const;

/** An error may be passed as it is: only misspelt members are refused, not further ones. */
function readFailure(failure: Failure): { readonly [K in keyof Failure]?: unknown } {
  if (typeof failure !== 'object' || failure === null)
    throw new MisuseError(
      'invalid_option',
      `fail: expected a message or an object with \`message\`, got ${describe(failure)}.`,
    );
  checkSpelling('fail', failure, failureMembers);
  const { message } = failure;
  return {
    ...Object.fromEntries(
      failureMembers
        .filter((name) => Object.hasOwn(failure, name))
        .map((name) => [name, failure[name]]),
    ),
    message,
  };
}

function brand(outcome: HandlerOutcome): HandlerOutcome {
  return Object.freeze(Object.defineProperty(outcome, outcomeBrand, { value: true }));
}

/** Reads what {@link ok} or {@link fail} made. Undefined for any other value. */
export function readOutcome(value: unknown): HandlerOutcome | undefined {
  return typeof value === 'object' && value !== null && outcomeBrand in value
    ? (value as unknown as HandlerOutcome)
    : undefined;
}
