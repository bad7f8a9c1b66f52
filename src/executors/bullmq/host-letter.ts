/**
 * Reads the messages of hosts to workers. They are not trusted, because anyone who can write to
 * Redis can send one.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';
import { excessOf } from '../../values/text/json-bounds.ts';
import type { HostMessage } from '../sandbox/messages.ts';
import { own } from '../sandbox/read-message.ts';

/** Most characters of a message. It is large because an answer contains the result of a call. */
const maxChars = 16 * 1024 * 1024;
const bounds = { maxDepth: 600, maxValues: 1_000_000 };

/** Reads a message. Returns undefined if the text is not one. Never throws. */
export function readHostLetter(text: string): HostMessage | undefined {
  if (text.length > maxChars || excessOf(text, bounds) !== undefined) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  return isJsonObject(value) && isKnown(value) ? (value as HostMessage) : undefined;
}

function isKnown(message: JsonObject): boolean {
  switch (own(message, 't')) {
    case 'abort':
      return isError(own(message, 'reason'));
    case 'answer': {
      const error = own(message, 'error');
      return isCount(own(message, 'ask')) && (error === undefined || isError(error));
    }
    case 'confirm':
      return isCount(own(message, 'count')) && isCount(own(message, 'size'));
    default:
      return false;
  }
}

function isCount(value: JsonValue | undefined): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isError(value: JsonValue | undefined): boolean {
  return (
    isJsonObject(value) &&
    typeof own(value, 'name') === 'string' &&
    typeof own(value, 'message') === 'string'
  );
}
