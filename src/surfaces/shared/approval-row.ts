/** Finds what a list needs of a suspended call in the beginning of its text. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../values/json/index.ts';

/** So many bytes of the text contain the head of a record that has one. */
export const headBytes = 17_000;

/** The first member is the head, as a text. */
const beginning = /^\{"head":("(?:[^"\\]|\\.)*")[,}]/;

/**
 * The row of a list: the head and where it belongs. Undefined if the record has no head. Nothing of
 * it is verified.
 */
export function rowIn(text: string): JsonObject | undefined {
  const [, literal] = beginning.exec(text) ?? [];
  if (literal === undefined) return undefined;
  try {
    const head = JSON.parse(literal) as string;
    const { listed, principal } = JSON.parse(head.slice(head.indexOf('.') + 1)) as JsonObject;
    if (!isJsonObject(listed as JsonValue)) return undefined;
    const { id, sessionId, expiresAt } = listed as JsonObject;
    return { id, sessionId, principal, expiresAt, head } as JsonObject;
  } catch {
    return undefined;
  }
}
