/** The limits of an output: its schema, and the budget of characters that a model may see. */

import {
  type ContentPart,
  type ContentWays,
  contentOutputs,
  contentParts,
  markAs,
} from '../../../values/content-parts.ts';
import { toolError } from '../../../values/errors/index.ts';
import { type JsonValue, wireText } from '../../../values/json/index.ts';
import type { Validated } from '../../../values/schema/bind.ts';
import { issueLines } from '../../../values/schema/issues.ts';
import { detached, head, tail } from '../../../values/text/characters.ts';
import type { ToolExecution } from '../../tool/definition.ts';
import type { FoundCall } from '../call.ts';
import { inPolicyTime } from '../in-policy-time.ts';
import {
  maxCharsEach,
  maxOutputDepth,
  type Shaped,
  type Shown,
  snapshotOf,
  whole,
} from '../output-snapshot.ts';
import { schemaError } from '../report-fault.ts';
import { shownNameOf } from '../shown.ts';

/** Longest output whose text the engine writes as a whole. Longer ones are written in pieces. */
const maxWritten = 1_000_000;

/** Validates an output against its schema. The result is a snapshot of what the schema parsed. */
export function checkOutput(call: FoundCall, shaped: Shown): Shaped | Promise<Shaped> {
  const schema = call.entry.internals.output;
  if (schema === undefined) return shaped;
  const { output } = shaped;
  if (contentParts(output) !== undefined)
    return {
      ok: false,
      error: toolError(
        'invalid_output',
        `\`${shownNameOf(call)}\` has an output schema and returned content parts instead of data.`,
        { reason: 'output_schema' },
      ),
    };
  const validated = schema.validate(output as JsonValue);
  return validated instanceof Promise
    ? inPolicyTime(call, validated).then((settled) => read(call, settled))
    : read(call, validated);
}

function read(call: FoundCall, validated: Validated): Shaped {
  if (validated.issues !== undefined) {
    const error = toolError(
      'invalid_output',
      `The output of \`${shownNameOf(call)}\` does not match its output schema. The tool may ` +
        `have run.\n${issueLines(validated.issues)}`,
      {
        reason: 'output_schema',
        details: validated.issues.map(({ path, message }) => ({ path, message })),
      },
    );
    return { ok: false, error: schemaError(call, validated, 'outputSchema', error) };
  }
  return snapshotOf(call, validated.value);
}

type Strategy = ToolExecution['outputStrategy'];

/** Cuts an output to its budget. Data with an output schema is refused instead. */
export function withinBudget(call: FoundCall, shaped: Shown): Shaped | Promise<Shaped> {
  const { maxOutputChars, entry } = call.binding;
  if (maxOutputChars === Number.POSITIVE_INFINITY) return shaped;
  const { output, leastChars, overflow } = shaped;
  const { output: schema } = entry.internals;
  const parts = contentParts(output);
  if (parts !== undefined) return withinParts(call, parts);
  if (leastChars !== undefined && fits(output, leastChars, maxOutputChars)) return shaped;
  const exact = typeof output === 'string';
  const text = exact ? output : boundedText(output, maxOutputChars);
  if (text.length <= maxOutputChars) {
    if (overflow !== true) return shaped;
    // The copy stopped too early. The value is small enough for a snapshot.
    const again = snapshotOf(call, output);
    return again.ok ? withinBudget(call, again) : again;
  }
  if (schema !== undefined)
    return {
      ok: false,
      error: toolError(
        'invalid_output',
        `The output of \`${shownNameOf(call)}\` is over its budget of ${maxOutputChars} ` +
          'characters, and data with an output schema is never cut. Ask for less.',
        { reason: 'output_too_large' },
      ),
    };
  return shortened(call, output, text.length, exact, (strategy, mark) =>
    cut(text, maxOutputChars, strategy, mark),
  );
}

/** Cuts content parts to the budget. Parts that are cut lose their notes. */
export function withinParts(
  call: FoundCall,
  parts: readonly ContentPart[],
): Shaped | Promise<Shaped> {
  const { maxOutputChars: limit } = call.binding;
  const ways = contentOutputs.get(parts) as ContentWays;
  const chars = ways.charsOf(parts);
  if (chars <= limit) return whole(parts);
  return shortened(call, parts, chars, true, (strategy, mark) =>
    markAs(
      ways.fit(parts, limit, mark, (text, room) => cut(text, room, strategy, mark)),
      ways,
    ),
  );
}

/**
 * What the model is shown of an output that is over its budget.
 * @param cutTo The output, cut to its budget, with a mark in place of the rest.
 */
function shortened(
  call: FoundCall,
  output: unknown,
  originalChars: number,
  exact: boolean,
  cutTo: (strategy: Strategy, mark: string) => unknown,
): Shaped | Promise<Shaped> {
  const { maxOutputChars, entry, overBudget } = call.binding;
  const { outputStrategy: strategy } = entry.internals.execution;
  const mark = cutMark(originalChars, maxOutputChars, exact);
  const shown = whole(cutTo(strategy, mark), {
    originalChars,
    exact,
    strategy: strategy === 'head' ? strategy : 'head_tail',
  });
  if (overBudget === undefined) return shown;
  return overBudget.show(call, output, shown, (ownMark) => cutTo('head', ownMark));
}

/**
 * Whether a snapshot certainly fits. Usually the lower bound is enough to tell. Otherwise the
 * engine writes the text, several times faster than {@link boundedText}.
 */
function fits(output: unknown, leastChars: number, limit: number): boolean {
  return (
    leastChars * maxCharsEach <= limit ||
    (leastChars <= Math.min(limit, maxWritten) && JSON.stringify(output).length <= limit)
  );
}

/** Whether the JSON text of a value is within a limit. */
export function isWithin(value: JsonValue, limit: number): boolean {
  return boundedText(value, limit).length <= limit;
}

/** The beginning of a value's JSON text. It stops soon after the limit. */
function boundedText(value: unknown, limit: number): string {
  const pieces: string[] = [];
  let length = 0;
  const write = (piece: string): boolean => {
    pieces.push(piece);
    length += piece.length;
    return length <= limit;
  };
  const walk = (item: unknown, depth: number): boolean => {
    if (typeof item === 'string') {
      if (item.length <= limit) return write(wireText(item));
      // Without a quote at its end, since the string goes on.
      return write(wireText(head(item, limit)).slice(0, -1));
    }
    if (item === null) return write(depth === 0 ? 'Success' : 'null');
    if (typeof item !== 'object') return write(JSON.stringify(item) ?? 'null');
    if (depth > maxOutputDepth) return write('…');
    const { toJSON } = item as { toJSON?: unknown };
    if (typeof toJSON === 'function') return walk(Reflect.apply(toJSON, item, ['']), depth + 1);
    if (Array.isArray(item)) {
      if (!write('[')) return false;
      for (let index = 0; index < item.length; index++)
        if ((index > 0 && !write(',')) || !walk(item[index], depth + 1)) return false;
      return write(']');
    }
    if (!write('{')) return false;
    let first = true;
    for (const key in item) {
      if (!Object.hasOwn(item, key)) continue;
      const member: unknown = (item as Record<string, unknown>)[key];
      if (member === undefined) continue;
      if (!write(`${first ? '' : ','}${wireText(key)}:`) || !walk(member, depth + 1)) return false;
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

/** Cuts a text between code points, and adds the mark. The result is within the limit. */
function cut(text: string, limit: number, strategy: Strategy, mark: string): string {
  if (mark.length >= limit) return detached(head(text, limit));
  const room = limit - mark.length;
  if (strategy === 'head') return detached(head(text, room) + mark);
  const front = Math.ceil(room / 2);
  return detached(`${head(text, front)}${mark}${tail(text, room - front)}`);
}

/** What every mark begins with. */
export const markStart = '[output cut: ';

/** @param exact Whether the length is known, or only that the output is longer. */
function cutMark(originalChars: number, limit: number, exact: boolean): string {
  return (
    `\n${markStart}${exact ? '' : 'more than '}${exact ? originalChars : originalChars - 1} ` +
    `characters, limit ${limit}]`
  );
}
