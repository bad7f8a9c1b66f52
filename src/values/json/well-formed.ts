/**
 * Text that leaves the library is well-formed Unicode. A text that was cut inside an emoji ends
 * with half of a character, a lone surrogate. Strict parsers of JSON refuse a whole message because
 * of one.
 */
import { define, type JsonObject, type JsonValue } from './value.ts';

/**
 * The value with U+FFFD instead of each lone surrogate, in texts and in keys. Returns the value
 * itself if it has none. Keys that would become equal get further U+FFFD, so no member is lost.
 */
export function wellFormedJson<T extends JsonValue | object>(value: T): T;
export function wellFormedJson(value: JsonValue): JsonValue {
  return isWellFormed(value) ? value : replaced(value);
}

/** JSON text for others, without escapes of lone surrogates. */
export function wireText(value: JsonValue | object, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent);
  // Looking at the value is faster than looking for escapes in the text.
  return isWellFormed(value as JsonValue)
    ? text
    : JSON.stringify(replaced(JSON.parse(text) as JsonValue), undefined, indent);
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null || hasWhole(value);
}

function hasWhole(container: object): boolean {
  // Twice as fast as with a list of keys. Members of a polluted prototype do no harm here.
  if (!Array.isArray(container)) {
    for (const key in container)
      if (!key.isWellFormed() || !isWellFormed((container as JsonObject)[key] as JsonValue))
        return false;
    return true;
  }
  for (const item of container as readonly JsonValue[]) if (!isWellFormed(item)) return false;
  return true;
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  const keys = Object.keys(value);
  const taken = new Set(keys.filter((key) => key.isWellFormed()));
  const made: Record<string, JsonValue> = {};
  for (const key of keys) {
    let name = key.toWellFormed();
    if (name !== key) {
      while (taken.has(name)) name += '\ufffd';
      taken.add(name);
    }
    define(made, name, replaced((value as JsonObject)[key] as JsonValue));
  }
  return made;
}
