/** The snapshot of an output: a copy as JSON, made when the handler returns. */

import type { ResultMetadata } from '../../api/result.ts';
import { isContentValue, markContent } from '../../values/content.ts';
import { type ToolError, toolError } from '../../values/errors/index.ts';
import { copyJson } from '../../values/json/index.ts';
import { lostInSandbox } from '../../values/json/lost-data.ts';
import type { Call } from './call.ts';
import { shownNameOf } from './shown.ts';
import { logLostCall } from './tell-lost.ts';

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
  const isContent = readsAsContent(value);
  const noticesLoss = call.binding?.entry.noticesLoss === true;
  const copy = copyJson(value, {
    maxDepth: maxOutputDepth,
    maxValues,
    maxChars: isContent ? undefined : maxChars,
    noticesLoss,
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
  const lost = noticesLoss ? (copy.lost ?? lostElsewhere(value)) : undefined;
  if (lost !== undefined) logLostCall(call, lost);
  if (copy.overflow)
    return { ok: true, output: value, truncated: undefined, leastChars: undefined, overflow: true };
  return {
    ok: true,
    output: isContent ? markContent(copy.value) : copy.value,
    truncated: undefined,
    leastChars: copy.size,
    overflow: false,
  };
}

/** An output that needs no count. Every member is set, so none comes from `Object.prototype`. */
export function whole(output: unknown, truncated?: ResultMetadata['truncated']): Shown {
  return { ok: true, output, truncated, leastChars: undefined, overflow: false };
}

/** The class of an object that lost its data in a sandbox. */
function lostElsewhere(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !(lostInSandbox in value)) return undefined;
  return String(value[lostInSandbox]);
}

function readsAsContent(value: unknown): boolean {
  try {
    return isContentValue(value);
  } catch {
    return false;
  }
}
