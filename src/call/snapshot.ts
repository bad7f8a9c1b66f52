/** The snapshot of an output: JSON, taken when the handler returned. */
import { isContentValue, markContent } from '../content.ts';
import { type ToolError, toolError } from '../errors.ts';
import { copyJson } from '../json.ts';
import type { ResultMetadata } from '../result.ts';
import type { Call } from '../state/call.ts';
import { toldName } from './told-name.ts';

/** Deepest nesting of an output. */
export const maxOutputDepth = 512;
const maxValues = 5_000_000;

export type Shaped =
  | { readonly ok: true; readonly output: unknown; readonly truncated?: NonNullable<ResultMetadata['truncated']> }
  | { readonly ok: false; readonly error: ToolError };

/** Snapshots a value. `maxChars` stops the copy early where nobody needs all of it. */
export function normalise(call: Call, value: unknown, maxChars?: number): Shaped & { overflow?: number } {
  if (value === undefined || value === null) return { ok: true, output: null };
  const kind = typeof value;
  if (kind === 'string' || kind === 'boolean' || (kind === 'number' && Number.isFinite(value))) return { ok: true, output: value === 0 ? 0 : value };
  const isContent = readsAsContent(value);
  const copy = copyJson(value, { maxDepth: maxOutputDepth, maxValues, maxChars: isContent ? undefined : maxChars });
  if (!copy.ok) {
    const place = copy.path === '' ? 'The output' : `The output at ${copy.path}`;
    return {
      ok: false,
      error: toolError('invalid_output', `${place} of \`${toldName(call)}\` cannot be given back: ${copy.message}. The tool may have run.`, {
        reason: copy.fault === 'not_json' ? 'not_json' : 'output_too_large',
        details: { path: copy.path },
      }),
    };
  }
  if (copy.overflow) return { ok: true, output: value, overflow: copy.size };
  return { ok: true, output: isContent ? markContent(copy.value) : copy.value };
}

function readsAsContent(value: unknown): boolean {
  try {
    return isContentValue(value);
  } catch {
    return false;
  }
}
