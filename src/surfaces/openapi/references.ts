/** References of a document. Only those that stay inside the document are followed. */
import { MisuseError } from '../../core.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownMember,
  pointerSegments,
} from '../../values/json/index.ts';
import { cleanLine } from '../shared/outside-text.ts';

/** Most references that lead from one to the next. */
const maxChain = 32;

/** The error that refuses an operation and says why. */
export function refusal(message: string): MisuseError {
  return new MisuseError('invalid_definition', message);
}

/** A text of the document in a message. */
export function quoted(text: unknown): string {
  return `\`${cleanLine(String(text), 200)}\``;
}

/**
 * The value to which a reference leads.
 * @throws MisuseError if it leads outside the document or nowhere
 */
export function follow(document: JsonObject, reference: JsonValue): JsonValue {
  if (typeof reference !== 'string') throw refusal('A `$ref` is not a text.');
  if (!reference.startsWith('#/'))
    throw refusal(
      `The reference ${quoted(reference)} leads outside the document. Bundle the document into ` +
        'one file first.',
    );
  let at: JsonValue | undefined = document;
  for (const segment of pointerSegments(decoded(reference.slice(1)))) {
    if (isJsonObject(at)) at = ownMember(at, segment);
    else if (Array.isArray(at) && /^\d{1,9}$/.test(segment)) at = at[Number(segment)] as JsonValue;
    else at = undefined;
    if (at === undefined) throw refusal(`The reference ${quoted(reference)} leads nowhere.`);
  }
  return at;
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer);
  } catch {
    throw refusal(`The reference ${quoted(pointer)} is malformed.`);
  }
}

/**
 * An object of the document, or the one to which it refers.
 * @param what names it in messages
 * @throws MisuseError if there is none
 */
export function resolved(
  document: JsonObject,
  value: JsonValue | undefined,
  what: string,
): JsonObject {
  let at = value;
  for (let steps = 0; isJsonObject(at) && Object.hasOwn(at, '$ref'); steps++) {
    if (steps === maxChain) throw refusal(`The references of ${what} form a circle.`);
    at = follow(document, at.$ref as JsonValue);
  }
  if (!isJsonObject(at)) throw refusal(`Expected ${what} to be an object.`);
  return at;
}

/** A member that is an object, or {}. */
export function membersOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A member that is a list, or []. */
export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
