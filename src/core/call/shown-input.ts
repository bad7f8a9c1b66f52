/** The input of a call as events carry it. */

import type { JsonValue } from '../../values/json/index.ts';
import { createBudget } from '../../values/redaction/budget.ts';
import { scrubStrings } from '../../values/redaction/scrub.ts';
import { Secrets } from '../../values/redaction/secrets.ts';
import type { Call } from './call.ts';

/**
 * The input without its secrets; null if it is not valid JSON. It may share parts with the input.
 * The tool's schema marks the secrets, or the registry's paths alone if there is no such tool.
 */
export function shownInput(call: Call): JsonValue {
  const { session, given } = call;
  if (given === null) return null;
  const entry = call.entry ?? session.entryOf(call.toolName);
  const redactor =
    entry === undefined
      ? session.registry.pathRedactor()
      : entry.inputRedactor(session.registry.redact);
  const known = call.extra?.secrets;
  if (redactor === undefined && known === undefined) return given;
  const secrets = new Secrets(known);
  const budget = createBudget();
  const hidden = redactor === undefined ? given : redactor.redact(given, budget, secrets);
  if (known === undefined) call.more.sent = secrets;
  return scrubStrings(hidden, secrets, budget);
}
