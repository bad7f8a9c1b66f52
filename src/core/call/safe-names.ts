/** The name and the id of a call, which a model may choose, without the secrets of its input. */

import { copyJson } from '../../values/json/index.ts';
import { holdsSecret, redactText } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import type { SessionState } from '../session/session-state.ts';
import type { FoundCall } from './call.ts';
import { newId } from './calls-in-flight.ts';

/**
 * The name of the tool, unless no such tool exists and the name holds a secret of the call: then
 * the name without it. The name of a tool that exists is not the model's text.
 */
export function safeName(
  session: SessionState,
  toolName: string,
  input: unknown,
  parent: FoundCall | undefined,
): string {
  const { redact, secrets } = session.registry;
  // Otherwise nothing is secret in an unknown tool, so most calls end here.
  const hides = redact.length > 0 || secrets !== undefined || parent?.extra?.secrets !== undefined;
  if (!hides || session.entryOf(toolName) !== undefined || session.knew(toolName)) return toolName;
  return redactText(toolName, secretsOf(session, toolName, input, parent));
}

/** The id that the caller gave, or a new one if it holds a secret of the call. */
export function safeId(
  session: SessionState,
  callId: string,
  toolName: string,
  input: unknown,
  parent: FoundCall | undefined,
): string {
  const { redact, secrets } = session.registry;
  if (secrets === undefined && parent?.extra?.secrets === undefined) {
    const entry = session.entryOf(toolName);
    const marked = entry === undefined ? redact.length > 0 : entry.isSecretive(redact);
    if (!marked || !sharesText(callId.toLowerCase(), input)) return callId;
  }
  return holdsSecret(callId, secretsOf(session, toolName, input, parent)) ? newId(session) : callId;
}

function secretsOf(
  session: SessionState,
  toolName: string,
  input: unknown,
  parent: FoundCall | undefined,
): Secrets {
  const { registry } = session;
  const secrets = new Secrets(parent?.extra?.secrets ?? registry.secrets);
  const entry = session.entryOf(toolName);
  const redactor =
    entry === undefined ? registry.pathRedactor() : entry.inputRedactor(registry.redact);
  if (redactor === undefined) return secrets;
  const copy = copyJson(input, { maxDepth: 64, maxValues: 50_000, maxChars: 1_048_576 });
  if (copy.ok && !copy.overflow) redactor.collect(copy.value, secrets);
  // The secrets of an input that cannot be read are not known.
  else secrets.lose();
  return secrets;
}

/** Values that are looked at before the input is read in full. */
const mostLooked = 500;
const leastSecret = 4;

/**
 * Whether a text or number of the input is part of the id, or may be. This costs less than finding
 * the secrets, and almost never holds.
 */
function sharesText(id: string, input: unknown): boolean {
  let left = mostLooked;
  const shares = (value: unknown): boolean => {
    if (--left < 0) return true;
    if (typeof value === 'string' || typeof value === 'number') {
      const text = String(value).trim().toLowerCase();
      return text.length >= leastSecret && text.length <= id.length && id.includes(text);
    }
    if (typeof value !== 'object' || value === null) return false;
    for (const key in value) if (shares((value as Record<string, unknown>)[key])) return true;
    return false;
  };
  try {
    // A text may hold JSON.
    return typeof input === 'string' ? input.length >= leastSecret : shares(input);
  } catch {
    return true;
  }
}
