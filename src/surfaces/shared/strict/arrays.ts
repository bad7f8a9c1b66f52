/** Arrays in a strict mode: all items have one schema. */
import type { JsonObject, JsonValue } from '../../../core.ts';
import { canonicalJson, isJsonObject } from '../../../values/json/index.ts';
import { withConstraints } from './constraints.ts';
import { lose, refuse, type StrictConversion } from './conversion.ts';

const handled = ['items', 'prefixItems', 'unevaluatedItems'];

export function convertArray(
  conversion: StrictConversion,
  schema: JsonObject,
  words: JsonObject,
  path: string,
): JsonObject {
  const { prefixItems, items, maxItems } = schema;
  if (Array.isArray(items)) return refuse(conversion, path, '`items` lists the places of a tuple');
  const isTuple = Array.isArray(prefixItems);
  const taken = isTuple
    ? anyPlace(conversion, prefixItems, items, path)
    : conversion.convert(items, `${path}/items`);
  const bounded: JsonObject =
    isTuple && items === false && maxItems === undefined
      ? { ...schema, maxItems: prefixItems.length }
      : schema;
  const made = { ...words, type: 'array', items: taken };
  return withConstraints(conversion, bounded, made, 'array', path, handled);
}

/** A schema that accepts the item at any place of a tuple. */
function anyPlace(
  conversion: StrictConversion,
  prefixItems: readonly JsonValue[],
  items: JsonValue | undefined,
  path: string,
): JsonObject {
  lose(conversion, `${path}/prefixItems`, 'Each place takes what any of them takes.');
  const places = prefixItems.map((place, index) =>
    conversion.convert(place, `${path}/prefixItems/${index}`),
  );
  if (isJsonObject(items)) places.push(conversion.convert(items, `${path}/items`));
  const distinct = [...new Map(places.map((place) => [canonicalJson(place), place])).values()];
  return distinct.length === 1 ? (distinct[0] as JsonObject) : { anyOf: distinct };
}
