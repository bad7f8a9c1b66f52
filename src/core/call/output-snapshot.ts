/**
 * The snapshot of an output: a copy as JSON, made when the handler returns. And what calls know of
 * what was sent in addition to it.
 */

import type { ResultMetadata, ToolResult } from '../../api/result.ts';
import { type ContentWays, contentWays, markAs } from '../../values/content-parts.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import { copyJson, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import type { Alongside } from '../result.ts';
import type { Call, FoundCall } from './call.ts';
import { shownNameOf } from './shown.ts';

/** Deepest nesting of an output. */
export const maxOutputDepth = 512;
const maxValues = 5_000_000;
/** A character that the copy counts as one may take up to twelve, as an escape or a fraction. */
export const maxCharsEach = 12;

export type Shaped =
  | {
      readonly ok: true;
      readonly output: unknown;
      readonly truncated: ResultMetadata['truncated'];
      /**
       * A lower bound of the snapshot's length as JSON text. The text is at most
       * {@link maxCharsEach} times as long. Undefined if the output needs no count.
       */
      readonly leastChars: number | undefined;
      /** The copy stopped at the limit, so `output` is still the handler's own value. */
      readonly overflow: boolean;
    }
  | { readonly ok: false; readonly error: ToolError };
export type Shown = Extract<Shaped, { readonly ok: true }>;

/** Copies a value as JSON. @param maxChars The copy stops here if the rest would be cut anyway. */
export function snapshotOf(call: Call, value: unknown, maxChars?: number): Shaped {
  if (value === undefined || value === null) return whole(null);
  const kind = typeof value;
  if (kind === 'string' || kind === 'boolean' || (kind === 'number' && Number.isFinite(value)))
    return whole(value === 0 ? 0 : value);
  const ways = waysOf(value);
  const losses =
    call.binding?.entry.noticesLoss === true ? call.session.registry.ports.calls.losses : undefined;
  const copy = copyJson(value, {
    maxDepth: maxOutputDepth,
    maxValues,
    maxChars: ways === undefined ? maxChars : undefined,
    losesData: losses?.losesData,
  });
  if (!copy.ok) {
    const place = copy.path === '' ? 'The output' : `The output at ${copy.path}`;
    return {
      ok: false,
      error: toolError(
        'invalid_output',
        `${place} of \`${shownNameOf(call)}\` cannot be returned: ${copy.message}. The tool may ` +
          'have run.',
        {
          reason: copy.fault === 'not_json' ? 'not_json' : 'output_too_large',
          details: { path: copy.path },
        },
      ),
    };
  }
  losses?.copied(call, value, copy.lost);
  if (copy.overflow)
    return { ok: true, output: value, truncated: undefined, leastChars: undefined, overflow: true };
  return {
    ok: true,
    output: markAs(ways?.partsOf(copy.value), ways) ?? copy.value,
    truncated: undefined,
    leastChars: copy.size,
    overflow: false,
  };
}

/** An output that needs no count. Every member is set, so none comes from `Object.prototype`. */
export function whole(output: unknown, truncated?: ResultMetadata['truncated']): Shown {
  return { ok: true, output, truncated, leastChars: undefined, overflow: false };
}

function waysOf(value: unknown): ContentWays | undefined {
  try {
    return contentWays(value as object);
  } catch {
    return undefined;
  }
}

export interface SentAlongside {
  readonly sent: Alongside;
  /** Cuts it to the budget of its output, which is cut already. */
  fit(call: FoundCall, shaped: Shaped): Shaped | Promise<Shaped>;
  /** A hook has returned this after it was given a result. */
  returned(call: FoundCall, answer: ToolResult | void, before: Shaped): void;
  /** As events carry it. @param hide A value without what is hidden; whether it was cut. */
  hidden(hide: (value: JsonValue, isCut: boolean) => JsonValue): JsonObject;
}

/** By the outcome of a handler. */
export const sentWith = new WeakMap<object, SentAlongside>();
