/** Shape: what a handler returned becomes a JSON snapshot, passes its schema, and fits its budget. */
import { maxOutputDepth, normalise, type Shaped } from '../call/snapshot.ts';
import { contentParts, isTextPart, markContent } from '../content.ts';
import { toolError } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { Validated } from '../schema/bind.ts';
import { issueLines } from '../schema/issues.ts';
import { outputText } from '../serialize.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';

/** Validates by the output schema and answers the snapshot of what it parsed. */
export function checkOutput(call: Call, output: unknown): Shaped | Promise<Shaped> {
  const schema = (call.binding as Binding).entry.internals.output;
  if (schema === undefined) return { ok: true, output };
  if (contentParts(output) !== undefined) return { ok: false, error: toolError('invalid_output', `\`${call.toolName}\` has an output schema and returned content parts instead of data.`, { reason: 'output_schema' }) };
  const validated = schema.validate(output as JsonValue);
  return validated instanceof Promise ? validated.then((settled) => read(call, settled)) : read(call, validated);
}

function read(call: Call, validated: Validated): Shaped {
  if (validated.issues !== undefined) {
    return { ok: false, error: toolError('invalid_output', `The output of \`${call.toolName}\` does not fit its output schema. The tool may have run.\n${issueLines(validated.issues)}`, { reason: 'output_schema', details: validated.issues.map(({ path, message }) => ({ path, message })) }) };
  }
  return normalise(call, validated.value);
}

/** Cuts the model-visible text to the budget; data under a schema is never cut. */
export function fit(call: Call, output: unknown, overflow: number | undefined): Shaped {
  const { maxOutputChars, entry } = call.binding as Binding;
  if (maxOutputChars === Number.POSITIVE_INFINITY) return { ok: true, output };
  const { output: schema, outputStrategy: strategy } = entry.internals;
  const parts = contentParts(output);
  if (parts !== undefined) return fitParts(parts as unknown as readonly JsonValue[], maxOutputChars, strategy);
  const exact = typeof output === 'string';
  // JSON text is measured by a walk that stops at the limit; the lower bound settles most cases.
  const text = exact ? output : overflow === undefined ? outputText(output) : boundedText(output, maxOutputChars);
  if (overflow === undefined && text.length <= maxOutputChars) return { ok: true, output };
  if (schema !== undefined) return { ok: false, error: toolError('invalid_output', `The output of \`${call.toolName}\` is over its budget of ${maxOutputChars} characters, and data under an output schema is never cut. Ask for less.`, { reason: 'output_too_large' }) };
  const originalChars = exact || overflow === undefined ? text.length : Math.max(overflow, text.length);
  return { ok: true, output: cut(text, maxOutputChars, strategy, originalChars, exact || overflow === undefined), truncated: { originalChars, exact: exact || overflow === undefined, strategy } };
}

/** The beginning of a value's JSON text, without writing all of it. */
function boundedText(value: unknown, limit: number): string {
  const pieces: string[] = [];
  let length = 0;
  const write = (piece: string): boolean => {
    pieces.push(piece);
    length += piece.length;
    return length <= limit;
  };
  const walk = (item: unknown, depth: number): boolean => {
    if (typeof item === 'string') return write(JSON.stringify(item.length > limit ? item.slice(0, limit) : item));
    if (typeof item !== 'object' || item === null) return write(JSON.stringify(item) ?? 'null');
    if (depth > maxOutputDepth) return write('…');
    if (Array.isArray(item)) {
      if (!write('[')) return false;
      for (let index = 0; index < item.length; index++) if ((index > 0 && !write(',')) || !walk(item[index], depth + 1)) return false;
      return write(']');
    }
    if (!write('{')) return false;
    let first = true;
    for (const key in item) {
      if (!Object.hasOwn(item, key)) continue;
      const member: unknown = (item as Record<string, unknown>)[key];
      if (member === undefined) continue;
      if (!write(`${first ? '' : ','}${JSON.stringify(key)}:`) || !walk(member, depth + 1)) return false;
      first = false;
    }
    return write('}');
  };
  try {
    walk(value, 0);
  } catch {
    write('…');
  }
  return pieces.join('');
}

/** Cuts at a code point and says so, mark included in the budget. */
function cut(text: string, limit: number, strategy: 'head' | 'head_tail', originalChars: number, exact: boolean): string {
  const mark = `\n[output cut: ${exact ? '' : 'more than '}${originalChars} characters, limit ${limit}]`;
  if (mark.length >= limit) return head(text, limit);
  const room = limit - mark.length;
  if (strategy === 'head') return head(text, room) + mark;
  const front = Math.ceil(room / 2);
  return `${head(text, front)}${mark}${tail(text, room - front)}`;
}

function head(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

function tail(text: string, length: number): string {
  if (length <= 0) return '';
  const start = text.length - length;
  const code = text.charCodeAt(start);
  return text.slice(code >= 0xdc00 && code <= 0xdfff ? start + 1 : start);
}

/** Texts of content share the budget in order; media are whole or, over budget, still whole: only text is cut. */
function fitParts(parts: readonly JsonValue[], limit: number, strategy: 'head' | 'head_tail'): Shaped {
  let originalChars = 0;
  for (const part of parts) if (isTextPart(part)) originalChars += part.text.length;
  if (originalChars <= limit) return { ok: true, output: parts };
  let left = limit;
  const kept: JsonValue[] = [];
  for (const part of parts) {
    if (!isTextPart(part)) {
      kept.push(part);
      continue;
    }
    if (left <= 0) continue;
    kept.push({ ...part, text: part.text.length <= left ? part.text : cut(part.text, left, strategy, originalChars, true) });
    left -= part.text.length;
  }
  return { ok: true, output: markContent(kept), truncated: { originalChars, exact: true, strategy } };
}
