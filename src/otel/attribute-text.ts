/** Texts as attributes hold them: bounded, and such that every exporter can encode them. */
import { shortened } from '../text/shortened.ts';

/** Most characters of a text that is attached to a span. */
const mostChars = 256;
/** Most characters of the arguments and of the result, as JSON. */
const mostContentChars = 65_536;

/**
 * A text of at most 256 characters. Halves of characters, which cannot be encoded, and control
 * characters, which could forge lines where spans are shown as text, become U+FFFD.
 */
export function brief(text: string): string {
  return shortened(text, mostChars).replace(/[\p{Surrogate}\p{Cc}]/gu, '\uFFFD');
}

/** The same for people: line breaks and tabs stay. */
export function briefMessage(text: string): string {
  return shortened(text, mostChars).replace(/(?![\n\t])[\p{Surrogate}\p{Cc}]/gu, '\uFFFD');
}

/** A value as JSON, of at most 65 536 characters. JSON escapes control characters itself. */
export function contentText(value: unknown): string {
  const json = JSON.stringify(value);
  if (json.length <= mostContentChars) return json;
  // A cut may leave half a character.
  return shortened(json, mostContentChars).replace(/\p{Surrogate}$/u, '\uFFFD');
}
