/** Takes the tokens of calls out of what they return, also for their callers. */

import type { Call, FoundCall } from '../../core/call/call.ts';
import type { Shaped } from '../../core/call/output-snapshot.ts';
import type { Cleaning } from '../../core/call/ports.ts';
import { Slot } from '../../core/slot.ts';
import { contentOutputs, markAs } from '../../values/content-parts.ts';
import { type ToolError, toolError, withCause } from '../../values/errors/index.ts';
import type { JsonValue } from '../../values/json/index.ts';
import { createBudget } from '../../values/redaction/budget.ts';
import { redactText, scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';

/**
 * The steps for one output. The usual bound would hide outputs of a few megabytes as a whole, and a
 * model would get nothing of them.
 */
const outputSteps = 400_000_000;

/** The tokens of a call and of all calls that it belongs to. The outermost one has them. */
const tokens = new Slot<Secrets>();

/** From now on nothing that the call says or returns has the token, nor what its callers do. */
export function keepOut(call: FoundCall, token: string): void {
  let outermost: Call = call;
  while (outermost.parent !== undefined) outermost = outermost.parent;
  const { more } = outermost;
  const known = tokens.of(more) ?? new Secrets();
  tokens.set(more, known);
  known.addText(token);
  const cleaning = cleaningBy(known);
  for (let at: Call | undefined = call; at !== undefined; at = at.parent)
    at.more.ensureOutcome().cleaning = cleaning;
  call.session.registry.ports.calls.masking?.hide(call, token);
}

function cleaningBy(known: Secrets): Cleaning {
  const clean = <T extends JsonValue>(value: T): T =>
    scrubStrings(value, known, createBudget(outputSteps)) as T;
  return {
    output(call, shaped) {
      if (!shaped.ok) return shaped;
      const alongside = call.extra?.outcome?.alongside;
      if (alongside !== undefined) {
        const sent = cleanContent(alongside.sent as Record<string, JsonValue>, clean);
        call.more.ensureOutcome().alongside = { ...alongside, sent };
      }
      return { ...shaped, output: cleanOutput(shaped, clean) };
    },
    json: (value) => (value === undefined ? value : clean(value)),
    error: (call, error) => cleanError(call, error, known),
  };
}

type Clean = <T extends JsonValue>(value: T) => T;

function cleanOutput({ output }: Extract<Shaped, { ok: true }>, clean: Clean): unknown {
  const cleaned = clean(output as JsonValue);
  if (cleaned === output || typeof output !== 'object' || output === null) return cleaned;
  return typeof cleaned === 'object' ? markAs(cleaned, contentOutputs.get(output)) : cleaned;
}

/** Content stays content. */
function cleanContent(sent: Record<string, JsonValue>, clean: Clean) {
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const cleaned = clean(value);
      const ways =
        typeof value === 'object' && value !== null ? contentOutputs.get(value) : undefined;
      return [name, typeof cleaned === 'object' ? markAs(cleaned, ways) : cleaned];
    }),
  );
}

/** The cause of an error may be the request of a client, with its headers. */
function cleanError(call: Call, error: ToolError, known: Secrets): ToolError {
  const { code, message, reason, ruleId, source, retryable, details } = error;
  const text = (one: string): string => redactText(one, known);
  const cleaned = toolError(code, text(message), {
    reason: reason === undefined ? undefined : text(reason),
    ruleId,
    source,
    retryable,
    ...(details === undefined
      ? {}
      : { details: scrubStrings(details, known, createBudget(outputSteps)) }),
  });
  const unmasked = call.extra?.outcome?.unmasked;
  if (unmasked !== undefined && unmasked !== error)
    call.more.ensureOutcome().unmasked = cleanError(call, unmasked, known);
  if (!Object.hasOwn(error, 'cause')) return cleaned;
  const { masking } = call.session.registry.ports.calls;
  return withCause(cleaned, masking?.logged(call, error.cause));
}
