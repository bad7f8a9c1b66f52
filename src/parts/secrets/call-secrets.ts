/**
 * The secrets of one call: the values that schemas and paths mark in its input, knobs and output.
 * They are kept out of every text and event of the call.
 */

import type { Call, FoundCall } from '../../core/call/call.ts';
import { copyJson, type JsonValue } from '../../values/json/index.ts';
import { createBudget } from '../../values/redaction/budget.ts';
import type { Redactor } from '../../values/redaction/redactor.ts';
import { redactText, scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';

/** Collects the values that schemas and paths mark in the input and the knobs. */
export function collectSecrets(call: FoundCall): void {
  const { binding } = call;
  if (!binding.secretive) return;
  const { redact } = call.session.registry;
  collect(call, binding.entry.inputRedactor(redact), call.canonical);
  collect(call, binding.entry.knobRedactor(redact), (binding.knobs ?? null) as JsonValue);
}

/**
 * Collects the secrets that validation added. Defaults and repairs are in the canonical input of a
 * raw schema, and in the parse of any other schema.
 */
export function collectParsedSecrets(call: FoundCall): void {
  const { entry } = call.binding;
  const { input } = entry.internals;
  const redactor = entry.inputRedactor(call.session.registry.redact);
  if (redactor === undefined || call.ended) return;
  collect(call, redactor, call.canonical);
  if (input.kind === 'json') return;
  // A schema can only mark fields of JSON, so the rest of a parse is skipped.
  const copy = copyJson(call.parsed, { maxDepth: 64, maxValues: 50_000 });
  if (copy.ok) collect(call, redactor, copy.value);
}

/** Begins a call with the secrets of its registry, which every event of the call hides. */
export function beginWithSecrets(call: Call): void {
  const { secrets } = call.session.registry;
  if (secrets !== undefined) call.more.secrets = new Secrets(secrets);
}

/** Shares the secrets of a chain of calls, so that no call reveals those of another. */
export function shareSecrets(parent: Call, child: Call): void {
  parent.more.secrets ??= new Secrets();
  child.more.secrets = parent.more.secrets;
}

/**
 * Collects the secrets of an output, and of the structured content that was sent in addition to it.
 * They are hidden in everything that is emitted afterwards.
 */
export function collectOutputSecrets(call: FoundCall, output: unknown): void {
  const { binding, extra } = call;
  if (!binding.secretive) return;
  const redactor = binding.entry.outputRedactor(call.session.registry.redact);
  collect(call, redactor, output as JsonValue);
  const structured = extra?.alongside?.structuredContent;
  if (structured !== undefined) collect(call, redactor, structured);
}

/** Notes that the call may return secrets that are not known, and so may the calls above it. */
export function noteReadSecrets(call: Call): void {
  for (let at: Call | undefined = call; at !== undefined; at = at.parent)
    at.more.readSecrets = true;
}

function collect(call: Call, redactor: Redactor | undefined, value: JsonValue): void {
  if (redactor === undefined) return;
  const { more } = call;
  // `tool:pre` has found secrets already. They are found again here, and their search index exists.
  more.secrets ??= more.sent ?? new Secrets();
  redactor.collect(value, more.secrets);
}

/** The text with the call's secrets replaced. */
export function scrubText(call: Call, text: string): string {
  const secrets = call.extra?.secrets;
  return secrets === undefined ? text : redactText(text, secrets);
}

/**
 * JSON without secrets: first its secret fields are hidden, then secret texts wherever they occur.
 * Both share one budget; if it runs out, the whole value is hidden. The answer may share parts with
 * the value.
 * @param redactor Finds the secret fields. @default only the registry's paths mark fields
 */
export function scrubJson(
  call: Call,
  value: JsonValue,
  redactor: Redactor | undefined = call.session.registry.pathRedactor(),
): JsonValue {
  const budget = createBudget();
  const hidden = redactor === undefined ? value : redactor.redact(value, budget);
  const secrets = call.extra?.secrets;
  return secrets === undefined ? hidden : scrubStrings(hidden, secrets, budget);
}
