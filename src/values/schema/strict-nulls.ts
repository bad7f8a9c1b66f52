/**
 * Strict dialects make every optional property required and nullable. A null in such a place means
 * "not given", and is removed before the input is validated.
 */
import type { JsonObject, JsonValue } from '../json/index.ts';
import { type Place, SchemaPlaces } from './schema-places.ts';

/**
 * The input without nulls that mean "not given". A value that contains none is returned as the same
 * object.
 * @param dropped Gets the path of each null that was removed.
 */
export function withoutStrictNulls(
  input: JsonObject,
  root: JsonObject,
  dropped: (path: string) => void,
): JsonObject {
  const places = new SchemaPlaces(root);
  return strip(input, places.root(), '') as JsonObject;

  function strip(value: JsonValue, place: Place | undefined, path: string): JsonValue {
    if (typeof value !== 'object' || value === null || place === undefined) return value;
    const at = (name: string | number): string => (path === '' ? String(name) : `${path}.${name}`);
    if (Array.isArray(value)) {
      const items = value.map((item: JsonValue, index) =>
        typeof item === 'object' ? strip(item, places.item(place, index), at(index)) : item,
      );
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const kept = new Map<string, JsonValue>();
    let changed = false;
    for (const [name, given] of Object.entries(value as JsonObject)) {
      const member = typeof given === 'object' ? place.members.get(name) : undefined;
      if (member !== undefined && given === null && places.dropsNull(place, name, member)) {
        dropped(at(name));
        changed = true;
        continue;
      }
      const after = member === undefined ? given : strip(given, places.member(member), at(name));
      changed ||= after !== given;
      kept.set(name, after);
    }
    return changed ? Object.fromEntries(kept) : value;
  }
}
