/** Converts an application's answer to the value of a handler. */
import { fail, type JsonObject, type JsonValue } from '../../../core.ts';
import { isJsonObject } from '../../../values/json/index.ts';
import { cleanText } from '../../shared/outside-text.ts';
import type { CallAnswer } from '../ports/documents.ts';

/** The most bytes of an application's message. */
const maxMessageBytes = 8_000;

/** Returns the result, or a failure. The application's own message is never hidden. */
export function outcomeOf(answer: CallAnswer): unknown {
  if ('result' in answer) return answer.result;
  const { error } = answer;
  if (!isJsonObject(error)) return fail(textOf(error));
  const { message, reason, details, retryable } = error;
  return fail({
    message: textOf(message),
    ...(typeof reason === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(reason) ? { reason } : {}),
    ...(details === undefined ? {} : { details: details as JsonObject }),
    ...(retryable === true ? { retryable } : {}),
  });
}

function textOf(value: JsonValue | undefined): string {
  const text =
    typeof value === 'string'
      ? value
      : value === undefined || value === null
        ? ''
        : JSON.stringify(value);
  return (
    cleanText(text, maxMessageBytes) || 'The application reported a failure without a message.'
  );
}
