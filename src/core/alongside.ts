/**
 * What a tool sent in addition to its output. Only tools of other protocols do, so that a bundle
 * without `okAlongside` leaves this out.
 */
import type { Ok, ToolResult } from '../api/result.ts';
import { contentParts } from '../values/content-parts.ts';
import type { JsonObject, JsonValue } from '../values/json/index.ts';
import type { FoundCall } from './call/call.ts';
import { type SentAlongside, type Shaped, sentWith } from './call/output-snapshot.ts';
import { isSameJson, plainJson } from './call/plain-json.ts';
import { isWithin, withinParts } from './call/stages/output-limits.ts';
import { type Alongside, ok } from './result.ts';

/** A success with what was sent in addition to it. Both must be JSON that nobody changes. */
export function okAlongside<T>(output: T, sent: Alongside): Ok<T> {
  const outcome = ok(output);
  sentWith.set(outcome, sentAlongside(sent));
  return outcome;
}

/** The same for a call that ends as an earlier one did. */
export function sentAlongside(sent: Alongside): SentAlongside {
  return { sent, fit: fitAlongside, returned: dropReplaced, hidden };
}

/**
 * A client shows a model the output or what was sent in addition to it, so each may take the whole
 * budget. Data cannot be cut, so data that does not fit is left out.
 */
function fitAlongside(
  this: SentAlongside,
  call: FoundCall,
  shaped: Shaped,
): Shaped | Promise<Shaped> {
  if (!shaped.ok) return shaped;
  const { binding } = call;
  const { content, ...data } = this.sent;
  const entries = Object.entries(data) as [string, JsonObject][];
  const isKept = ([, value]: [string, JsonObject]): boolean =>
    isWithin(value, binding.maxOutputChars);
  const leftOut = entries.filter((entry) => !isKept(entry)).map(([name]) => name);
  const kept: Alongside = {
    ...Object.fromEntries(entries.filter(isKept)),
    ...(leftOut.length === 0 ? {} : { leftOut }),
  };
  const parts = contentParts(content);
  if (parts === undefined) {
    call.more.ensureOutcome().alongside = sentAlongside(kept);
    return shaped;
  }
  const take = (fitted: Shaped): Shaped => {
    if (!fitted.ok) return fitted;
    const { output, truncated } = fitted;
    call.more.ensureOutcome().alongside = sentAlongside({
      content: output as readonly JsonObject[],
      ...kept,
      ...(truncated === undefined ? {} : { truncated }),
    });
    return shaped;
  };
  const fitted = withinParts(call, parts);
  return fitted instanceof Promise ? fitted.then(take) : take(fitted);
}

/**
 * What was sent in addition to an output says the same in other words, so it does not outlive an
 * output that a hook has replaced. A hook may drop or change it as well; then it is dropped.
 */
function dropReplaced(
  this: SentAlongside,
  call: FoundCall,
  answer: ToolResult | void,
  before: Shaped,
): void {
  if (typeof answer !== 'object' || answer === null) return;
  const isSame = (one: unknown, other: unknown): boolean => {
    const plain = plainJson(one ?? null);
    return plain !== undefined && isSameJson(plain, other as JsonValue);
  };
  const { output, metadata } = { ...noResult, ...(answer as { metadata?: object }) };
  const told = (metadata as { alongside?: unknown } | undefined)?.alongside;
  if (before.ok && isSame(output, before.output) && isSame(told, this.sent)) return;
  call.more.ensureOutcome().alongside = undefined;
}

const noResult = { output: undefined, metadata: undefined };

function hidden(
  this: SentAlongside,
  hide: (value: JsonValue, isCut: boolean) => JsonValue,
): JsonObject {
  const entries = Object.entries(this.sent) as [string, JsonValue][];
  const isCut = this.sent.truncated !== undefined;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, hide(value, isCut && name === 'content')]),
  );
}
