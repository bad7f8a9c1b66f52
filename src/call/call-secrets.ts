/**
 * The secrets of one call: what schemas and paths mark in its input, knobs and output, and how
 * texts are kept free of it.
 */
import { copyJson, type JsonValue } from '../json.ts';
import { createBudget } from '../redaction/budget.ts';
import type { Redactor } from '../redaction/redactor.ts';
import { redactText, scrubStrings } from '../redaction/scrub.ts';
import { Secrets } from '../redaction/secrets.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';

/**
 * Everything of the call that no text may hold: values that schemas and paths mark in input and
 * knobs.
 */
export function collectSecrets(call: Call): void {
  const binding = call.binding as Binding;
  if (!binding.secretive) return;
  const { redact } = call.session.registry;
  collect(call, binding.entry.inputRedactor(redact), call.canonical);
  collect(call, binding.entry.knobRedactor(redact), (binding.knobs ?? null) as JsonValue);
}

/**
 * The same once the arguments are validated: defaults and repairs are in the canonical input of a
 * raw schema, and in the parse of any other.
 */
export function collectParsedSecrets(call: Call): void {
  const { entry } = call.binding as Binding;
  const { input } = entry.internals;
  const redactor = entry.inputRedactor(call.session.registry.redact);
  if (redactor === undefined || call.ended) return;
  collect(call, redactor, call.canonical);
  if (input.kind === 'json') return;
  // What a parse holds beside JSON has no fields that a schema could mark.
  const copy = copyJson(call.parsed, { maxDepth: 64, maxValues: 50_000 });
  if (copy.ok) collect(call, redactor, copy.value);
}

/** What one call of a chain must not tell, none of them tells. */
export function shareSecrets(parent: Call, child: Call): void {
  parent.more.secrets ??= new Secrets();
  child.more.secrets = parent.more.secrets;
}

/** Secrets of the output count for everything that is told afterwards. */
export function collectOutputSecrets(call: Call, output: unknown): void {
  const binding = call.binding as Binding;
  if (binding.secretive)
    collect(call, binding.entry.outputRedactor(call.session.registry.redact), output as JsonValue);
}

function collect(call: Call, redactor: Redactor | undefined, value: JsonValue): void {
  if (redactor === undefined) return;
  const { more } = call;
  // Those that `tool:pre` found are found again; the search for them is built already.
  more.secrets ??= more.sent ?? new Secrets();
  redactor.collect(value, more.secrets);
}

/** A text without the call's secrets. */
export function scrubText(call: Call, text: string): string {
  const secrets = call.extra?.secrets;
  return secrets === undefined ? text : redactText(text, secrets);
}

/**
 * JSON that is about to be told: first its secret fields are hidden, then secret texts wherever
 * they stand. All of it has one budget, and is hidden as a whole where that does not suffice. May
 * share parts with the value.
 * @param redactor Knows the secret fields. The registry's paths alone tell them where there is
 * none.
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
