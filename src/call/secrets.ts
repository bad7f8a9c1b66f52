/** The secrets of one call: what schemas and paths mark in its input, knobs and output, and how texts are kept free of it. */
import type { JsonValue } from '../json.ts';
import { redactText } from '../redact.ts';
import type { Binding } from '../state/binding.ts';
import type { Call } from '../state/call.ts';

/** Everything of the call that no text may hold: values that schemas and paths mark in input and knobs. */
export function collectSecrets(call: Call): void {
  const binding = call.binding as Binding;
  if (!binding.secretive) return;
  const { redact } = call.session.registry;
  const secrets = new Set<string>();
  binding.entry.inputRedactor(redact)?.collect(call.canonical, secrets);
  binding.entry.knobRedactor(redact)?.collect((binding.knobs ?? null) as JsonValue, secrets);
  if (secrets.size > 0) {
    const { more } = call;
    if (more.secrets === undefined) more.secrets = secrets;
    else for (const secret of secrets) more.secrets.add(secret);
  }
}

/** Secrets of the output count for everything that is told afterwards. */
export function collectOutputSecrets(call: Call, output: unknown): void {
  const binding = call.binding as Binding;
  const redactor = binding.secretive ? binding.entry.outputRedactor(call.session.registry.redact) : undefined;
  if (redactor === undefined) return;
  const { more } = call;
  more.secrets ??= new Set();
  redactor.collect((output ?? null) as JsonValue, more.secrets);
}

/** A text without the call's secrets. */
export function scrubText(call: Call, text: string): string {
  const secrets = call.extra?.secrets;
  return secrets === undefined ? text : redactText(text, secrets);
}

/** Hides secret values wherever they stand in JSON that is about to be told. */
export function scrubJson(call: Call, value: JsonValue): JsonValue {
  const paths = call.session.registry.pathRedactor();
  const hidden = paths === undefined ? value : paths.redact(value);
  const secrets = call.extra?.secrets;
  return secrets === undefined || secrets.size === 0 ? hidden : scrubStrings(hidden, secrets);
}

/** A copy in which no text, number or key holds one of the secrets. */
export function scrubStrings(value: JsonValue, secrets: ReadonlySet<string>): JsonValue {
  if (typeof value === 'string') return redactText(value, secrets);
  if (typeof value === 'number') {
    const text = redactText(String(value), secrets);
    return text === String(value) ? value : text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => scrubStrings(item, secrets));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redactText(key, secrets), scrubStrings(item as JsonValue, secrets)]));
}
