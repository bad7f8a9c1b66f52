/** Texts for attributes: bounded, and valid for every exporter. */
import { type JsonValue, wireText } from '../../../values/json/index.ts';
import { shortened } from '../../../values/text/characters.ts';
import { cleanText } from '../../shared/outside-text.ts';

/** Most characters of a text that is attached to a span. */
const maxChars = 256;
/** Most characters of the arguments and of the result, as JSON. */
const maxContentChars = 65_536;

/** Most bytes of a tool's description. */
const maxDescriptionBytes = 1_024;
/** Most descriptions that are kept. */
const maxDescriptions = 1_000;

/** The form of most texts, which need no replacement. Quick to test. */
const plain = /^[ -~]*$/;

/**
 * A text of at most 256 characters. Lone surrogates, which cannot be encoded, and control
 * characters, which could forge lines where spans are shown as text, become U+FFFD.
 */
export function brief(text: string): string {
  const short = shortened(text, maxChars);
  return plain.test(short) ? short : short.replace(/[\p{Surrogate}\p{Cc}]/gu, '\uFFFD');
}

/**
 * {@link brief} for texts that are usually the same as the last one, such as the session of
 * successive calls.
 */
export function repeatedBrief(): (text: string) => string {
  let last = '';
  let shown = '';
  return (text) => {
    // A long text is not kept.
    if (text.length > maxChars) return brief(text);
    if (text !== last) {
      shown = brief(text);
      last = text;
    }
    return shown;
  };
}

/**
 * The descriptions of tools, each of at most 1 024 bytes and without characters that hide or
 * reorder text. Each is cleaned once, unless there are too many.
 */
export function describer(): (text: string) => string {
  const cleaned = new Map<string, string>();
  return (text) => {
    const known = cleaned.get(text);
    if (known !== undefined) return known;
    if (cleaned.size >= maxDescriptions) cleaned.clear();
    const clean = cleanText(text, maxDescriptionBytes);
    cleaned.set(text, clean);
    return clean;
  };
}

/** {@link brief} for people. Line breaks and tabs stay. */
export function briefMessage(text: string): string {
  return shortened(text, maxChars).replace(/(?![\n\t])[\p{Surrogate}\p{Cc}]/gu, '\uFFFD');
}

/** A value as JSON, of at most 65 536 characters. */
export function contentText(value: JsonValue | object): string {
  const json = wireText(value);
  if (json.length <= maxContentChars) return json;
  // A cut may leave a lone surrogate.
  return shortened(json, maxContentChars).replace(/\p{Surrogate}$/u, '\uFFFD');
}
