/** The text of a result that a model reads. */

import type { ToolResult } from '../api/result.ts';
import { contentText } from '../values/content.ts';
import { contentParts } from '../values/content-parts.ts';
import { wireText } from '../values/json/index.ts';
import { withoutControls } from '../values/text/characters.ts';

/**
 * The text that the model sees: a string unchanged, other output as JSON, `Success` for no output,
 * `Error: …` for a failure. Control characters other than tab, line feed and carriage return are
 * dropped. A lone surrogate becomes U+FFFD.
 *
 * @example
 * ```ts
 * import { serializeOutput } from 'host-tools';
 *
 * const result = await session.call(add, { a: 1, b: 2 });
 * const text = serializeOutput(result); // what a model reads: "3", or "Error: …"
 * ```
 */
export function serializeOutput(result: ToolResult): string {
  if (!result.success) return sanitizeText(`Error: ${result.error.message}`);
  return sanitizeText(outputText(result.output));
}

/** The text of an output before it is sanitised. Budgets measure this text. */
function outputText(output: unknown): string {
  if (output === null || output === undefined) return 'Success';
  if (typeof output === 'string') return output;
  const parts = contentParts(output);
  if (parts !== undefined) return contentText(parts);
  return typeof output === 'object' ? wireText(output) : String(output);
}

/**
 * Drops control characters, which confuse terminals and protocols. A lone surrogate is replaced and
 * not dropped, since origins and stores have a replacement there too, and dropping it would join
 * the words around it.
 */
export function sanitizeText(text: string): string {
  return withoutControls(text.toWellFormed());
}
